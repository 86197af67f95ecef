from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="RunRecord")


@_attrs_define
class RunRecord:
    """One fact in a run's history, never changed after it is stored."""

    event_key: str
    """ Names the record within its run; an exact retry sends the same key. """
    run_id: str
    """ The run whose log it is for. """
    agent_id: str
    """ The agent of that run. """
    type_: str
    """ What kind of fact it is. The five lifecycle types are stored by their own operations only. """
    payload: str
    """ One JSON value as text, at most 500 levels deep, kept byte for byte. """
    timestamp: datetime.datetime
    """ RFC 3339, whole milliseconds. """
    session_id: None | str | Unset = ""
    """ The session of that run; empty for a one-shot run. """
    turn_id: None | str | Unset = ""
    """ Groups the records of one turn, if the worker likes. """

    def to_dict(self) -> dict[str, Any]:
        event_key = self.event_key

        run_id = self.run_id

        agent_id = self.agent_id

        type_ = self.type_

        payload = self.payload

        timestamp = self.timestamp.isoformat()

        session_id: None | str | Unset
        if isinstance(self.session_id, Unset):
            session_id = UNSET
        else:
            session_id = self.session_id

        turn_id: None | str | Unset
        if isinstance(self.turn_id, Unset):
            turn_id = UNSET
        else:
            turn_id = self.turn_id

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "event_key": event_key,
                "run_id": run_id,
                "agent_id": agent_id,
                "type": type_,
                "payload": payload,
                "timestamp": timestamp,
            }
        )
        if session_id is not UNSET:
            field_dict["session_id"] = session_id
        if turn_id is not UNSET:
            field_dict["turn_id"] = turn_id

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        event_key = d.pop("event_key")

        run_id = d.pop("run_id")

        agent_id = d.pop("agent_id")

        type_ = d.pop("type")

        payload = d.pop("payload")

        timestamp = datetime.datetime.fromisoformat(d.pop("timestamp"))

        def _parse_session_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        session_id = _parse_session_id(d.pop("session_id", UNSET))

        def _parse_turn_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        turn_id = _parse_turn_id(d.pop("turn_id", UNSET))

        run_record = cls(
            event_key=event_key,
            run_id=run_id,
            agent_id=agent_id,
            type_=type_,
            payload=payload,
            timestamp=timestamp,
            session_id=session_id,
            turn_id=turn_id,
        )

        return run_record
