from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.run_start_labels_type_0 import RunStartLabelsType0


T = TypeVar("T", bound="RunStart")


@_attrs_define
class RunStart:
    """What a worker knows of a run when it starts it."""

    agent_id: str
    """ The agent that the run executes. """
    run_id: str
    """ Names the run in its namespace. """
    started_at: datetime.datetime
    """ RFC 3339, whole milliseconds. """
    session_id: None | str | Unset = ""
    """ The session it belongs to; empty for a one-shot run. """
    parent_run_id: None | str | Unset = ""
    """ The run that started it as a child. """
    predecessor_run_id: None | str | Unset = ""
    """ The suspended run that it continues. """
    labels: None | RunStartLabelsType0 | Unset = UNSET
    """ Free names and values to find the run by; up to 64 KiB together. They never change. """

    def to_dict(self) -> dict[str, Any]:
        from ..models.run_start_labels_type_0 import RunStartLabelsType0

        agent_id = self.agent_id

        run_id = self.run_id

        started_at = self.started_at.isoformat()

        session_id: None | str | Unset
        if isinstance(self.session_id, Unset):
            session_id = UNSET
        else:
            session_id = self.session_id

        parent_run_id: None | str | Unset
        if isinstance(self.parent_run_id, Unset):
            parent_run_id = UNSET
        else:
            parent_run_id = self.parent_run_id

        predecessor_run_id: None | str | Unset
        if isinstance(self.predecessor_run_id, Unset):
            predecessor_run_id = UNSET
        else:
            predecessor_run_id = self.predecessor_run_id

        labels: dict[str, Any] | None | Unset
        if isinstance(self.labels, Unset):
            labels = UNSET
        elif isinstance(self.labels, RunStartLabelsType0):
            labels = self.labels.to_dict()
        else:
            labels = self.labels

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "agent_id": agent_id,
                "run_id": run_id,
                "started_at": started_at,
            }
        )
        if session_id is not UNSET:
            field_dict["session_id"] = session_id
        if parent_run_id is not UNSET:
            field_dict["parent_run_id"] = parent_run_id
        if predecessor_run_id is not UNSET:
            field_dict["predecessor_run_id"] = predecessor_run_id
        if labels is not UNSET:
            field_dict["labels"] = labels

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.run_start_labels_type_0 import RunStartLabelsType0

        d = dict(src_dict)
        agent_id = d.pop("agent_id")

        run_id = d.pop("run_id")

        started_at = datetime.datetime.fromisoformat(d.pop("started_at"))

        def _parse_session_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        session_id = _parse_session_id(d.pop("session_id", UNSET))

        def _parse_parent_run_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        parent_run_id = _parse_parent_run_id(d.pop("parent_run_id", UNSET))

        def _parse_predecessor_run_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        predecessor_run_id = _parse_predecessor_run_id(d.pop("predecessor_run_id", UNSET))

        def _parse_labels(data: object) -> None | RunStartLabelsType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                labels_type_0 = RunStartLabelsType0.from_dict(data)

                return labels_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | RunStartLabelsType0 | Unset, data)

        labels = _parse_labels(d.pop("labels", UNSET))

        run_start = cls(
            agent_id=agent_id,
            run_id=run_id,
            started_at=started_at,
            session_id=session_id,
            parent_run_id=parent_run_id,
            predecessor_run_id=predecessor_run_id,
            labels=labels,
        )

        return run_start
