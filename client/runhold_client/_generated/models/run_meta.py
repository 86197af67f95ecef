from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.run_meta_start_outcome import (
    RunMetaStartOutcome,
    check_run_meta_start_outcome,
)
from ..models.run_meta_status import RunMetaStatus, check_run_meta_status

if TYPE_CHECKING:
    from ..models.run_meta_labels import RunMetaLabels


T = TypeVar("T", bound="RunMeta")


@_attrs_define
class RunMeta:
    """A run's state."""

    agent_id: str
    """ The agent that the run executes. """
    run_id: str
    """ Names the run in its namespace. """
    session_id: str
    """ The session it belongs to; empty for a one-shot run. """
    parent_run_id: str
    """ The run that started it as a child; empty without. """
    status: RunMetaStatus
    """ Where it stands; every status but running is terminal. """
    start_outcome: RunMetaStartOutcome
    """ What its start told the worker. """
    started_at: datetime.datetime
    """ UTC, milliseconds. """
    updated_at: datetime.datetime
    """ UTC, milliseconds, by the service's clock: start, first cancellation, suspension, end. """
    labels: RunMetaLabels
    """ As given at the start. """
    cancellation_reason: str
    """ The reason recorded for it; empty without. """
    record_count: int
    """ How many records it holds: the id of the newest. """
    head_digest: str
    """ Digest of its newest record, 64 hexadecimal digits in lower case: it covers all records before it. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        agent_id = self.agent_id

        run_id = self.run_id

        session_id = self.session_id

        parent_run_id = self.parent_run_id

        status: str = self.status

        start_outcome: str = self.start_outcome

        started_at = self.started_at.isoformat()

        updated_at = self.updated_at.isoformat()

        labels = self.labels.to_dict()

        cancellation_reason = self.cancellation_reason

        record_count = self.record_count

        head_digest = self.head_digest

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "agent_id": agent_id,
                "run_id": run_id,
                "session_id": session_id,
                "parent_run_id": parent_run_id,
                "status": status,
                "start_outcome": start_outcome,
                "started_at": started_at,
                "updated_at": updated_at,
                "labels": labels,
                "cancellation_reason": cancellation_reason,
                "record_count": record_count,
                "head_digest": head_digest,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.run_meta_labels import RunMetaLabels

        d = dict(src_dict)
        agent_id = d.pop("agent_id")

        run_id = d.pop("run_id")

        session_id = d.pop("session_id")

        parent_run_id = d.pop("parent_run_id")

        status = check_run_meta_status(d.pop("status"))

        start_outcome = check_run_meta_start_outcome(d.pop("start_outcome"))

        started_at = datetime.datetime.fromisoformat(d.pop("started_at"))

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        labels = RunMetaLabels.from_dict(d.pop("labels"))

        cancellation_reason = d.pop("cancellation_reason")

        record_count = d.pop("record_count")

        head_digest = d.pop("head_digest")

        run_meta = cls(
            agent_id=agent_id,
            run_id=run_id,
            session_id=session_id,
            parent_run_id=parent_run_id,
            status=status,
            start_outcome=start_outcome,
            started_at=started_at,
            updated_at=updated_at,
            labels=labels,
            cancellation_reason=cancellation_reason,
            record_count=record_count,
            head_digest=head_digest,
        )

        run_meta.additional_properties = d
        return run_meta

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
