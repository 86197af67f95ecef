"""From the values of ``types`` to the JSON of requests: pure functions, no HTTP; the way back is ``answers``.

One pass over plain dicts, because the async store sends thousands of commands a second.
"""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime
from typing import Any

from runhold_client.errors import InvalidCommand
from runhold_client.types import NO_TIME, RunRecord, RunStart, RunSuspension

Json = dict[str, Any]

# Text is sent as UTF-8, not as \u escapes: the body limit counts bytes as sent, and escapes would double most scripts.
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), check_circular=False)


def encode_json(value: Json | str) -> bytes:
    """Write a request body, or one text of it, as UTF-8.

    Raises: InvalidCommand when a text holds a lone surrogate, which has no UTF-8.
    """
    try:
        return _ENCODER.encode(value).encode()
    except UnicodeEncodeError:
        raise InvalidCommand("a text holds a lone surrogate") from None


# ---------------------------------------------------------------------------------------------------------------- times


def encode_time(value: datetime, name: str) -> str:
    """Write a run's or a record's time: UTC, ``Z``, exactly milliseconds.

    Raises: InvalidCommand when the time has no zone, or is finer than a millisecond: cutting it here would make two
    different records look like an exact retry.
    """
    return whole_milliseconds(value, name).isoformat(timespec="milliseconds")[:-6] + "Z"


def whole_milliseconds(value: datetime, name: str) -> datetime:
    """A run's or a record's time in UTC. Raises: InvalidCommand as ``encode_time``."""
    if value.microsecond % 1000:
        raise InvalidCommand(f"{name} is finer than a millisecond")
    return _utc(value, name)


def encode_session_time(value: datetime, name: str) -> str:
    """Write a session's time: UTC, ``Z``, exactly microseconds. Raises: InvalidCommand when it has no zone."""
    return _utc(value, name).isoformat(timespec="microseconds")[:-6] + "Z"


def is_missing(value: datetime) -> bool:
    """Whether a time is ``NO_TIME``, at whatever offset it is written."""
    return value.utcoffset() is not None and value == NO_TIME


def _utc(value: datetime, name: str) -> datetime:
    if value.tzinfo is UTC:
        return value
    if value.utcoffset() is None:
        raise InvalidCommand(f"{name} has no time zone")
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise InvalidCommand(f"{name} lies outside the years 1 to 9999 in UTC") from None


def _put_time(into: Json, name: str, value: datetime) -> None:
    if not is_missing(value):
        into[name] = encode_time(value, name)


# ------------------------------------------------------------------------------------------------------------- requests


def encode_run_start(run: RunStart) -> Json:
    """Write what a worker knows of a run; ``NO_TIME`` is sent as missing."""
    into: Json = {
        "agent_id": run.agent_id,
        "run_id": run.run_id,
        "session_id": run.session_id,
        "parent_run_id": run.parent_run_id,
        "predecessor_run_id": run.predecessor_run_id,
        "labels": dict(run.labels),
    }
    _put_time(into, "started_at", run.started_at)
    return into


def encode_run_record(record: RunRecord) -> Json:
    """Write a record; ``NO_TIME`` is sent as missing."""
    into: Json = {
        "event_key": record.event_key,
        "run_id": record.run_id,
        "agent_id": record.agent_id,
        "session_id": record.session_id,
        "turn_id": record.turn_id,
        "type": record.type,
        "payload": record.payload,
    }
    _put_time(into, "timestamp", record.timestamp)
    return into


def encode_run_suspension(suspension: RunSuspension) -> Json:
    """Write a checkpoint, its bytes as standard base64."""
    return {"id": suspension.id, "data": base64.b64encode(suspension.data).decode("ascii")}
