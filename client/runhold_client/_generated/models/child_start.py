from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.run_record import RunRecord
    from ..models.run_start import RunStart


T = TypeVar("T", bound="ChildStart")


@_attrs_define
class ChildStart:
    """A child run to start."""

    run: RunStart
    """ What a worker knows of a run when it starts it. """
    parent_linked: RunRecord
    """ One fact in a run's history, never changed after it is stored. """
    started: RunRecord
    """ One fact in a run's history, never changed after it is stored. """
    canceled: RunRecord
    """ One fact in a run's history, never changed after it is stored. """

    def to_dict(self) -> dict[str, Any]:
        run = self.run.to_dict()

        parent_linked = self.parent_linked.to_dict()

        started = self.started.to_dict()

        canceled = self.canceled.to_dict()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "run": run,
                "parent_linked": parent_linked,
                "started": started,
                "canceled": canceled,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.run_record import RunRecord
        from ..models.run_start import RunStart

        d = dict(src_dict)
        run = RunStart.from_dict(d.pop("run"))

        parent_linked = RunRecord.from_dict(d.pop("parent_linked"))

        started = RunRecord.from_dict(d.pop("started"))

        canceled = RunRecord.from_dict(d.pop("canceled"))

        child_start = cls(
            run=run,
            parent_linked=parent_linked,
            started=started,
            canceled=canceled,
        )

        return child_start
