from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.append_result import AppendResult


T = TypeVar("T", bound="OneShotChildStartResult")


@_attrs_define
class OneShotChildStartResult:
    """What a one-shot child start did."""

    parent_record: AppendResult
    """ What became of one record. """
    started: AppendResult
    """ What became of one record. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        parent_record = self.parent_record.to_dict()

        started = self.started.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "parent_record": parent_record,
                "started": started,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.append_result import AppendResult

        d = dict(src_dict)
        parent_record = AppendResult.from_dict(d.pop("parent_record"))

        started = AppendResult.from_dict(d.pop("started"))

        one_shot_child_start_result = cls(
            parent_record=parent_record,
            started=started,
        )

        one_shot_child_start_result.additional_properties = d
        return one_shot_child_start_result

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
