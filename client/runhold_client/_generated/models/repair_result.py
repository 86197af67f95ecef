from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.repair_result_outcome import (
    RepairResultOutcome,
    check_repair_result_outcome,
)
from ..models.repair_result_status import RepairResultStatus, check_repair_result_status

if TYPE_CHECKING:
    from ..models.append_result import AppendResult


T = TypeVar("T", bound="RepairResult")


@_attrs_define
class RepairResult:
    """What a repair found or did."""

    outcome: RepairResultOutcome
    """ Whether it stored the end, found it stored, or found another one. """
    status: RepairResultStatus
    """ The run's stored status after the call. """
    record: AppendResult | None
    """ Null when the run had ended differently. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.append_result import AppendResult

        outcome: str = self.outcome

        status: str = self.status

        record: dict[str, Any] | None
        if isinstance(self.record, AppendResult):
            record = self.record.to_dict()
        else:
            record = self.record

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "outcome": outcome,
                "status": status,
                "record": record,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.append_result import AppendResult

        d = dict(src_dict)
        outcome = check_repair_result_outcome(d.pop("outcome"))

        status = check_repair_result_status(d.pop("status"))

        def _parse_record(data: object) -> AppendResult | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                record_type_0 = AppendResult.from_dict(data)

                return record_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(AppendResult | None, data)

        record = _parse_record(d.pop("record"))

        repair_result = cls(
            outcome=outcome,
            status=status,
            record=record,
        )

        repair_result.additional_properties = d
        return repair_result

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
