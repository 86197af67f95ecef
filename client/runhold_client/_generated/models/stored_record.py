from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="StoredRecord")


@_attrs_define
class StoredRecord:
    """A record with its place in its run's log."""

    id: str
    """ The position in its run as decimal text: 1, 2, … without gaps. """
    event_key: str
    """ Names the record within its run. """
    run_id: str
    """ The run whose log it is in. """
    agent_id: str
    """ The agent of that run. """
    session_id: str
    """ The session of that run; empty for a one-shot run. """
    turn_id: str
    """ As sent; empty without. """
    type_: str
    """ What kind of fact it is. """
    payload: str
    """ One JSON value as text, byte for byte as sent; empty in summaries. """
    timestamp: datetime.datetime
    """ UTC, milliseconds, as sent. """
    stored_at: datetime.datetime
    """ UTC, milliseconds, by the service's clock. """
    payload_bytes: int | Unset = UNSET
    """ In summaries only: the size of the payload. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        event_key = self.event_key

        run_id = self.run_id

        agent_id = self.agent_id

        session_id = self.session_id

        turn_id = self.turn_id

        type_ = self.type_

        payload = self.payload

        timestamp = self.timestamp.isoformat()

        stored_at = self.stored_at.isoformat()

        payload_bytes = self.payload_bytes

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "event_key": event_key,
                "run_id": run_id,
                "agent_id": agent_id,
                "session_id": session_id,
                "turn_id": turn_id,
                "type": type_,
                "payload": payload,
                "timestamp": timestamp,
                "stored_at": stored_at,
            }
        )
        if payload_bytes is not UNSET:
            field_dict["payload_bytes"] = payload_bytes

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        event_key = d.pop("event_key")

        run_id = d.pop("run_id")

        agent_id = d.pop("agent_id")

        session_id = d.pop("session_id")

        turn_id = d.pop("turn_id")

        type_ = d.pop("type")

        payload = d.pop("payload")

        timestamp = datetime.datetime.fromisoformat(d.pop("timestamp"))

        stored_at = datetime.datetime.fromisoformat(d.pop("stored_at"))

        payload_bytes = d.pop("payload_bytes", UNSET)

        stored_record = cls(
            id=id,
            event_key=event_key,
            run_id=run_id,
            agent_id=agent_id,
            session_id=session_id,
            turn_id=turn_id,
            type_=type_,
            payload=payload,
            timestamp=timestamp,
            stored_at=stored_at,
            payload_bytes=payload_bytes,
        )

        stored_record.additional_properties = d
        return stored_record

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
