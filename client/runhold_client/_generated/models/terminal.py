from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

from ..models.terminal_status import TerminalStatus, check_terminal_status

if TYPE_CHECKING:
    from ..models.run_record import RunRecord


T = TypeVar("T", bound="Terminal")


@_attrs_define
class Terminal:
    """The end of a run."""

    status: TerminalStatus
    """ How it ended. """
    record: RunRecord
    """ One fact in a run's history, never changed after it is stored. """

    def to_dict(self) -> dict[str, Any]:
        status: str = self.status

        record = self.record.to_dict()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "status": status,
                "record": record,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.run_record import RunRecord

        d = dict(src_dict)
        status = check_terminal_status(d.pop("status"))

        record = RunRecord.from_dict(d.pop("record"))

        terminal = cls(
            status=status,
            record=record,
        )

        return terminal
