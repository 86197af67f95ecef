from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.run_record import RunRecord


T = TypeVar("T", bound="Cancellation")


@_attrs_define
class Cancellation:
    """Why a run should stop."""

    reason: str
    """ Written once; the record's payload says the same. """
    record: RunRecord
    """ One fact in a run's history, never changed after it is stored. """

    def to_dict(self) -> dict[str, Any]:
        reason = self.reason

        record = self.record.to_dict()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "reason": reason,
                "record": record,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.run_record import RunRecord

        d = dict(src_dict)
        reason = d.pop("reason")

        record = RunRecord.from_dict(d.pop("record"))

        cancellation = cls(
            reason=reason,
            record=record,
        )

        return cancellation
