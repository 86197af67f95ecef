"""Between rows and values: the columns in the order in which both databases read and write them.

A row is a plain tuple. Enumerations are text in a row, labels are JSON in ASCII, payloads are bytes.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import msgspec

from runhold.domain.errors import RunNotFound, RunSuspensionNotFound
from runhold.domain.values import (
    Run,
    RunRecord,
    RunStatus,
    RunSuspension,
    Session,
    SessionStatus,
    StartOutcome,
    StoredRecord,
)

Row = tuple[Any, ...]

SESSION = (
    "session_key",
    "namespace_key",
    "session_id",
    "status",
    "created_at",
    "ended_at",
    "record_count",
    "run_count",
)
"""A session as it is written, and read."""

SESSION_CHANGES = ("session_key", "status", "ended_at", "record_count", "run_count")

RUN = (
    "run_key",
    "namespace_key",
    "session_key",
    "session_ordinal",
    "started_at",
    "updated_at",
    "record_count",
    "link_position",
    "status",
    "start_outcome",
    "run_id",
    "agent_id",
    "parent_run_id",
    "predecessor_run_id",
    "head_digest",
    "cancellation_reason",
    "labels",
)
"""A run as it is written; read, it is followed by its session's id (None for a one-shot run)."""

RUN_CHANGES = ("run_key", "status", "updated_at", "record_count", "head_digest", "cancellation_reason")

RUN_SEAL = (
    "run_key",
    "session_ordinal",
    "started_at",
    "updated_at",
    "record_count",
    "link_position",
    "status",
    "start_outcome",
    "agent_id",
    "parent_run_id",
    "predecessor_run_id",
    "head_digest",
    "cancellation_reason",
    "labels",
)
"""What the seal of a purged one-shot run leaves blank."""

RUN_LABEL = ("namespace_key", "label_hash", "started_at", "run_id", "run_key")

RECORD = (
    "run_key",
    "position",
    "session_key",
    "session_position",
    "timestamp",
    "stored_at",
    "key_hash",
    "digest",
    "event_key",
    "turn_id",
    "type",
    "payload",
)
"""A record as it is written."""

RECORD_READ = (
    "run_key",
    "position",
    "session_position",
    "timestamp",
    "stored_at",
    "digest",
    "event_key",
    "turn_id",
    "type",
    "payload",
)
"""A record as it is read under its run's lock."""

SUSPENSION = ("run_key", "suspension_id", "data")

RUN_STATUS = {status.value: status for status in RunStatus}
SESSION_STATUS = {status.value: status for status in SessionStatus}
START_OUTCOME = {outcome.value: outcome for outcome in StartOutcome}

_decode_labels = msgspec.json.Decoder(dict[str, str]).decode


def columns(names: tuple[str, ...], prefix: str = "") -> str:
    """Write columns as SQL."""
    return ", ".join(prefix + name for name in names)


def session_value(row: Row) -> Session:
    """Build a session from a row of ``SESSION``."""
    _, _, session_id, status, created_at, ended_at, record_count, run_count = row
    return Session(session_id, SESSION_STATUS[status], created_at, ended_at, record_count, run_count)


def session_row(session_key: int, namespace_key: int, session: Session) -> Row:
    """Build a row of ``SESSION``."""
    return (
        session_key,
        namespace_key,
        session.session_id,
        session.status.value,
        session.created_at,
        session.ended_at,
        session.record_count,
        session.run_count,
    )


def session_changes(session_key: int, session: Session) -> Row:
    """Build a row of ``SESSION_CHANGES``."""
    return (session_key, session.status.value, session.ended_at, session.record_count, session.run_count)


def run_value(row: Row) -> Run:
    """Build a run from a row of ``RUN`` and its session's id."""
    return Run(
        agent_id=row[11],
        run_id=row[10],
        session_id=row[17] or "",
        parent_run_id=row[12],
        predecessor_run_id=row[13],
        status=RUN_STATUS[row[8]],
        start_outcome=START_OUTCOME[row[9]],
        started_at=row[4],
        updated_at=row[5],
        labels=labels_value(row[16]),
        cancellation_reason=row[15],
        record_count=row[6],
        head_digest=row[14],
        link_position=row[7],
        session_ordinal=row[3],
    )


def found_run(row: Row | None, run_id: str) -> Run:
    """Build the run that a row holds. Raises: RunNotFound, also for the seal of a purged one."""
    if row is not None:
        run = run_value(row)
        if run.status is not RunStatus.PURGED:
            return run
    raise RunNotFound(f"there is no run {run_id!r}")


def found_suspension(row: Row | None, run_id: str) -> RunSuspension:
    """Build the checkpoint that a row of a run holds. Raises: RunNotFound, RunSuspensionNotFound."""
    if row is None:
        raise RunNotFound(f"there is no run {run_id!r}")
    suspension_id, data = row
    if suspension_id is None:
        raise RunSuspensionNotFound(f"run {run_id!r} holds no checkpoint")
    return RunSuspension(suspension_id, data)


def run_row(run_key: int, namespace_key: int, session_key: int | None, run: Run) -> Row:
    """Build a row of ``RUN``."""
    return (
        run_key,
        namespace_key,
        session_key,
        run.session_ordinal,
        run.started_at,
        run.updated_at,
        run.record_count,
        run.link_position,
        run.status.value,
        run.start_outcome.value,
        run.run_id,
        run.agent_id,
        run.parent_run_id,
        run.predecessor_run_id,
        run.head_digest,
        run.cancellation_reason,
        labels_text(run.labels),
    )


def run_changes(run_key: int, run: Run) -> Row:
    """Build a row of ``RUN_CHANGES``."""
    return (run_key, run.status.value, run.updated_at, run.record_count, run.head_digest, run.cancellation_reason)


def run_seal(run_key: int, run: Run) -> Row:
    """Build a row of ``RUN_SEAL``."""
    full = dict(zip(RUN, run_row(run_key, 0, None, run), strict=True))
    return tuple(full[name] for name in RUN_SEAL)


def run_label_rows(run_key: int, namespace_key: int, run: Run) -> list[Row]:
    """Build the rows of ``RUN_LABEL``."""
    return [
        (namespace_key, label_hash(name, value), run.started_at, run.run_id, run_key)
        for name, value in sorted(run.labels.items())
    ]


def record_value(row: Row, run: Run) -> StoredRecord:
    """Build a record from a row of ``RECORD_READ`` and its run."""
    _, position, session_position, timestamp, stored_at, digest, event_key, turn_id, kind, payload = row
    return StoredRecord(
        RunRecord(event_key, run.run_id, run.agent_id, run.session_id, turn_id, kind, payload.decode(), timestamp),
        position,
        session_position or 0,
        stored_at,
        digest,
    )


def record_row(run_key: int, session_key: int | None, hashed: bytes, stored: StoredRecord) -> Row:
    """Build a row of ``RECORD``."""
    record = stored.record
    return (
        run_key,
        stored.position,
        session_key,
        None if session_key is None else stored.session_position,
        record.timestamp,
        stored.stored_at,
        hashed,
        stored.digest,
        record.event_key,
        record.turn_id,
        record.type,
        record.payload.encode(),
    )


def key_hash(event_key: str) -> bytes:
    """Hash an event key: 16 bytes, by which a record is found in its run."""
    return hashlib.sha256(event_key.encode()).digest()[:16]


def label_hash(name: str, value: str) -> bytes:
    """Hash a label: 16 bytes over name and value, each with its length."""
    named, valued = name.encode(), value.encode()
    return hashlib.sha256(b"%d:%b%d:%b" % (len(named), named, len(valued), valued)).digest()[:16]


def labels_text(labels: dict[str, str]) -> str:
    """Write labels as JSON in ASCII with sorted names: no character of theirs reaches the database as itself."""
    return json.dumps(labels, sort_keys=True, separators=(",", ":")) if labels else "{}"


def labels_value(text: str) -> dict[str, str]:
    """Read labels."""
    return {} if text == "{}" else _decode_labels(text)
