"""From results to the bytes of answers: the contract's shapes, absent text as ``""``, times with fixed decimals.

The results of writing are bytes put together by hand; strings of pages are escaped by a C encoder.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Any

import msgspec

from runhold.domain.times import format_run_time, format_session_time
from runhold.domain.values import (
    AppendResult,
    ChildStartResult,
    CommandResult,
    OneShotChildStartResult,
    OneShotStartResult,
    Purge,
    RepairResult,
    RootStartResult,
    Run,
    RunSuspension,
    Session,
    StoredRecord,
)

encode_json = msgspec.json.Encoder().encode
"""Writes plain values as JSON in UTF-8."""


def encode_result(result: CommandResult) -> bytes:
    """Write what a command answers; a purge answers nothing."""
    match result:
        case AppendResult():
            return _append_result(result)
        case RootStartResult(outcome, started, canceled):
            return b'{"outcome":"%s","started":%s,"canceled":%s}' % (
                outcome.encode(),
                _append_result(started),
                _append_result_or_null(canceled),
            )
        case ChildStartResult(outcome, parent_record, started, canceled):
            return b'{"outcome":"%s","parent_record":%s,"started":%s,"canceled":%s}' % (
                outcome.encode(),
                _append_result(parent_record),
                _append_result(started),
                _append_result_or_null(canceled),
            )
        case OneShotStartResult(record):
            return b'{"record":%s}' % _append_result(record)
        case OneShotChildStartResult(parent_record, started):
            return b'{"parent_record":%s,"started":%s}' % (_append_result(parent_record), _append_result(started))
        case RepairResult(outcome, status, record):
            return b'{"outcome":"%s","status":"%s","record":%s}' % (
                outcome.encode(),
                status.encode(),
                _append_result_or_null(record),
            )
        case Session():
            return encode_session(result)
        case Purge():
            return b""


def _append_result(result: AppendResult) -> bytes:
    return b'{"id":"%s","inserted":%s,"session_status":"%s"}' % (
        result.id.encode(),
        b"true" if result.inserted else b"false",
        result.session_status.encode(),
    )


def _append_result_or_null(result: AppendResult | None) -> bytes:
    return b"null" if result is None else _append_result(result)


def encode_session(session: Session) -> bytes:
    """Write a session."""
    return encode_json(_session(session))


def encode_session_status(session: Session) -> bytes:
    """Write whether a session is active."""
    return encode_json({"status": session.status.value})


def encode_sessions(sessions: Iterable[Session], next_cursor: str) -> bytes:
    """Write a page of sessions."""
    return encode_json({"sessions": [_session(session) for session in sessions], "next_cursor": next_cursor})


def encode_run(run: Run) -> bytes:
    """Write a run's state."""
    return encode_json(_run(run))


def encode_runs(runs: Iterable[Run], next_cursor: str) -> bytes:
    """Write a page of runs."""
    return encode_json({"runs": [_run(run) for run in runs], "next_cursor": next_cursor})


def encode_suspension(suspension: RunSuspension) -> bytes:
    """Write a checkpoint."""
    return encode_json({"id": suspension.id, "data": base64.b64encode(suspension.data).decode()})


def encode_records(
    records: Iterable[StoredRecord], next_cursor: str, end_cursor: str, payload_bytes: Iterable[int] | None = None
) -> bytes:
    """Write a page of records.

    Args:
        records: in the page's order.
        next_cursor: ``""`` on the last page.
        end_cursor: where the page ended.
        payload_bytes: of a summary, the size of each payload; its records come without them.
    """
    if payload_bytes is None:
        shown: list[dict[str, Any]] = [_record(record) for record in records]
    else:
        shown = [
            {**_record(record), "payload": "", "payload_bytes": size}
            for record, size in zip(records, payload_bytes, strict=True)
        ]
    return encode_json({"records": shown, "next_cursor": next_cursor, "end_cursor": end_cursor})


def _session(session: Session) -> dict[str, Any]:
    return {
        "session_id": session.session_id,
        "status": session.status.value,
        "created_at": format_session_time(session.created_at),
        "ended_at": None if session.ended_at is None else format_session_time(session.ended_at),
    }


def _run(run: Run) -> dict[str, Any]:
    return {
        "agent_id": run.agent_id,
        "run_id": run.run_id,
        "session_id": run.session_id,
        "parent_run_id": run.parent_run_id,
        "status": run.status.value,
        "start_outcome": run.start_outcome.value,
        "started_at": format_run_time(run.started_at),
        "updated_at": format_run_time(run.updated_at),
        "labels": run.labels,
        "cancellation_reason": run.cancellation_reason,
        "record_count": run.record_count,
        "head_digest": run.head_digest.hex(),
    }


def _record(stored: StoredRecord) -> dict[str, Any]:
    record = stored.record
    return {
        "id": str(stored.position),
        "event_key": record.event_key,
        "run_id": record.run_id,
        "agent_id": record.agent_id,
        "session_id": record.session_id,
        "turn_id": record.turn_id,
        "type": record.type,
        "payload": record.payload,
        "timestamp": format_run_time(record.timestamp),
        "stored_at": format_run_time(stored.stored_at),
    }
