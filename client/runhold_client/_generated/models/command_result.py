from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.command_result_body import CommandResultBody
    from ..models.problem import Problem


T = TypeVar("T", bound="CommandResult")


@_attrs_define
class CommandResult:
    """What became of one command: its answer, or its problem."""

    status: int
    """ The status that the single call would answer with. """
    body: CommandResultBody | Unset = UNSET
    """ The single call's answer, on success. """
    problem: Problem | Unset = UNSET
    """ Why a request was not carried out (RFC 9457). """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        status = self.status

        body: dict[str, Any] | Unset = UNSET
        if not isinstance(self.body, Unset):
            body = self.body.to_dict()

        problem: dict[str, Any] | Unset = UNSET
        if not isinstance(self.problem, Unset):
            problem = self.problem.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "status": status,
            }
        )
        if body is not UNSET:
            field_dict["body"] = body
        if problem is not UNSET:
            field_dict["problem"] = problem

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.command_result_body import CommandResultBody
        from ..models.problem import Problem

        d = dict(src_dict)
        status = d.pop("status")

        _body = d.pop("body", UNSET)
        body: CommandResultBody | Unset
        if isinstance(_body, Unset):
            body = UNSET
        else:
            body = CommandResultBody.from_dict(_body)

        _problem = d.pop("problem", UNSET)
        problem: Problem | Unset
        if isinstance(_problem, Unset):
            problem = UNSET
        else:
            problem = Problem.from_dict(_problem)

        command_result = cls(
            status=status,
            body=body,
            problem=problem,
        )

        command_result.additional_properties = d
        return command_result

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
