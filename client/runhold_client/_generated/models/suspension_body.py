from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.run_record import RunRecord
    from ..models.run_suspension import RunSuspension


T = TypeVar("T", bound="SuspensionBody")


@_attrs_define
class SuspensionBody:
    """A checkpoint to store."""

    suspension: RunSuspension
    """ The private bytes needed to continue a suspended run. """
    record: RunRecord
    """ One fact in a run's history, never changed after it is stored. """

    def to_dict(self) -> dict[str, Any]:
        suspension = self.suspension.to_dict()

        record = self.record.to_dict()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "suspension": suspension,
                "record": record,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.run_record import RunRecord
        from ..models.run_suspension import RunSuspension

        d = dict(src_dict)
        suspension = RunSuspension.from_dict(d.pop("suspension"))

        record = RunRecord.from_dict(d.pop("record"))

        suspension_body = cls(
            suspension=suspension,
            record=record,
        )

        return suspension_body
