from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.command_item_operation import (
    CommandItemOperation,
    check_command_item_operation,
)
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.command_item_body import CommandItemBody


T = TypeVar("T", bound="CommandItem")


@_attrs_define
class CommandItem:
    """One command of a request with many."""

    operation: CommandItemOperation
    """ The operation's id. """
    body: CommandItemBody
    """ The single call's body. """
    run_id: None | str | Unset = UNSET
    """ The run, exactly where the single call has it in its path. """

    def to_dict(self) -> dict[str, Any]:
        operation: str = self.operation

        body = self.body.to_dict()

        run_id: None | str | Unset
        if isinstance(self.run_id, Unset):
            run_id = UNSET
        else:
            run_id = self.run_id

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "operation": operation,
                "body": body,
            }
        )
        if run_id is not UNSET:
            field_dict["run_id"] = run_id

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.command_item_body import CommandItemBody

        d = dict(src_dict)
        operation = check_command_item_operation(d.pop("operation"))

        body = CommandItemBody.from_dict(d.pop("body"))

        def _parse_run_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        run_id = _parse_run_id(d.pop("run_id", UNSET))

        command_item = cls(
            operation=operation,
            body=body,
            run_id=run_id,
        )

        return command_item
