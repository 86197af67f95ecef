"""What makes a record whole, whose it is, and when two are the same. Source: the storage contract, *Record shape*."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from runhold.domain.errors import EventConflict, RunRecordOwnerMismatch, invalid_field
from runhold.domain.payloads import PayloadError
from runhold.domain.values import NO_TIME, RunRecord, StoredRecord

Payload = TypeVar("Payload")

_FIELDS = ("event_key", "run_id", "agent_id", "session_id", "turn_id", "type", "payload", "timestamp")


def check_shape(record: RunRecord, pointer: str) -> None:
    """Check that a record is whole: ``pointer`` is where it stands in the request body.

    Raises:
        InvalidCommand: a field that every record has is missing.
    """
    if record.run_id and record.agent_id and record.event_key and record.type and record.payload:
        if record.timestamp != NO_TIME:
            return
        raise invalid_field(f"{pointer}/timestamp", "must be present")
    for name in ("run_id", "agent_id", "event_key", "type", "payload"):
        if not getattr(record, name):
            raise invalid_field(f"{pointer}/{name}", "must be present")


def typed_payload(record: RunRecord, kind: str, decode: Callable[[str], Payload], pointer: str) -> Payload:
    """Check that a record is of type ``kind`` and decode its payload strictly.

    Raises:
        InvalidCommand: another type, or a payload that does not fit it.
    """
    if record.type != kind:
        raise invalid_field(f"{pointer}/type", f"must be {kind}")
    try:
        return decode(record.payload)
    except PayloadError as error:
        raise invalid_field(f"{pointer}/payload", str(error)) from None


def check_owner(record: RunRecord, run_id: str, agent_id: str, session_id: str) -> None:
    """Check whose record it is.

    Raises:
        RunRecordOwnerMismatch: it names another run, agent or session.
    """
    if record.run_id != run_id or record.agent_id != agent_id or record.session_id != session_id:
        raise RunRecordOwnerMismatch(
            f"the record under {record.event_key!r} names another run, agent or session than its run",
            run_id=run_id,
            event_key=record.event_key,
        )


def same_owner(one: RunRecord, other: RunRecord) -> bool:
    """Tell whether two records name the same run, agent and session."""
    return one.run_id == other.run_id and one.agent_id == other.agent_id and one.session_id == other.session_id


def check_same(stored: StoredRecord, record: RunRecord) -> None:
    """Check that a record is an exact retry of the one under its key.

    Raises:
        EventConflict: they differ.
    """
    if stored.record != record:
        raise event_conflict(stored, record)


def event_conflict(stored: StoredRecord, record: RunRecord) -> EventConflict:
    """Build the refusal of a record whose key is taken; ``differs`` names the fields that differ."""
    differs = [name for name in _FIELDS if getattr(stored.record, name) != getattr(record, name)]
    return EventConflict(
        f"event key {record.event_key!r} of run {record.run_id!r} holds another record",
        run_id=record.run_id,
        event_key=record.event_key,
        differs=differs,
    )
