from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.append_result_session_status import (
    AppendResultSessionStatus,
    check_append_result_session_status,
)

T = TypeVar("T", bound="AppendResult")


@_attrs_define
class AppendResult:
    """What became of one record."""

    id: str
    """ The record's position in its run, the same in every exact retry. """
    inserted: bool
    """ False when an earlier call stored it. """
    session_status: AppendResultSessionStatus
    """ The session's status now, seen by the same transaction; empty for a one-shot run. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        inserted = self.inserted

        session_status: str = self.session_status

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "inserted": inserted,
                "session_status": session_status,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        inserted = d.pop("inserted")

        session_status = check_append_result_session_status(d.pop("session_status"))

        append_result = cls(
            id=id,
            inserted=inserted,
            session_status=session_status,
        )

        append_result.additional_properties = d
        return append_result

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
