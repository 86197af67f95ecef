from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.run_record import RunRecord
    from ..models.run_start import RunStart


T = TypeVar("T", bound="OneShotChildStart")


@_attrs_define
class OneShotChildStart:
    """A child of a one-shot run to start."""

    run: RunStart
    """ What a worker knows of a run when it starts it. """
    parent_linked: RunRecord
    """ One fact in a run's history, never changed after it is stored. """
    started: RunRecord
    """ One fact in a run's history, never changed after it is stored. """

    def to_dict(self) -> dict[str, Any]:
        run = self.run.to_dict()

        parent_linked = self.parent_linked.to_dict()

        started = self.started.to_dict()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "run": run,
                "parent_linked": parent_linked,
                "started": started,
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

        one_shot_child_start = cls(
            run=run,
            parent_linked=parent_linked,
            started=started,
        )

        return one_shot_child_start
