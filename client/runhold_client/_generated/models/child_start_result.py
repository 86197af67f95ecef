from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.child_start_result_outcome import (
    ChildStartResultOutcome,
    check_child_start_result_outcome,
)

if TYPE_CHECKING:
    from ..models.append_result import AppendResult


T = TypeVar("T", bound="ChildStartResult")


@_attrs_define
class ChildStartResult:
    """What a child start did."""

    outcome: ChildStartResultOutcome
    """ Whether the worker goes on, or stops because the session has ended. """
    parent_record: AppendResult
    """ What became of one record. """
    started: AppendResult
    """ What became of one record. """
    canceled: AppendResult | None
    """ Of the `run_completed` record, when the outcome is stop; else null. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.append_result import AppendResult

        outcome: str = self.outcome

        parent_record = self.parent_record.to_dict()

        started = self.started.to_dict()

        canceled: dict[str, Any] | None
        if isinstance(self.canceled, AppendResult):
            canceled = self.canceled.to_dict()
        else:
            canceled = self.canceled

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "outcome": outcome,
                "parent_record": parent_record,
                "started": started,
                "canceled": canceled,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.append_result import AppendResult

        d = dict(src_dict)
        outcome = check_child_start_result_outcome(d.pop("outcome"))

        parent_record = AppendResult.from_dict(d.pop("parent_record"))

        started = AppendResult.from_dict(d.pop("started"))

        def _parse_canceled(data: object) -> AppendResult | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                canceled_type_0 = AppendResult.from_dict(data)

                return canceled_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(AppendResult | None, data)

        canceled = _parse_canceled(d.pop("canceled"))

        child_start_result = cls(
            outcome=outcome,
            parent_record=parent_record,
            started=started,
            canceled=canceled,
        )

        child_start_result.additional_properties = d
        return child_start_result

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
