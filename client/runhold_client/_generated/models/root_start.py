from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.run_record import RunRecord
    from ..models.run_start import RunStart


T = TypeVar("T", bound="RootStart")


@_attrs_define
class RootStart:
    """A root run to start."""

    run: RunStart
    """ What a worker knows of a run when it starts it. """
    started: RunRecord
    """ One fact in a run's history, never changed after it is stored. """
    canceled: RunRecord
    """ One fact in a run's history, never changed after it is stored. """

    def to_dict(self) -> dict[str, Any]:
        run = self.run.to_dict()

        started = self.started.to_dict()

        canceled = self.canceled.to_dict()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "run": run,
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

        started = RunRecord.from_dict(d.pop("started"))

        canceled = RunRecord.from_dict(d.pop("canceled"))

        root_start = cls(
            run=run,
            started=started,
            canceled=canceled,
        )

        return root_start
