"""The contract's values, frozen and compared by content. Times are integers, so that a time zone cannot move them.

Absent text is ``""``, absent labels are ``{}``, an absent time is ``NO_TIME``. Source: the storage contract, *Values*.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

Milliseconds = int
"""Milliseconds since 1970-01-01T00:00:00Z, negative before it: the times of runs and records."""
Microseconds = int
"""Microseconds since 1970-01-01T00:00:00Z: the times of sessions."""

NO_TIME: Milliseconds = -62_135_596_800_000
"""``0001-01-01T00:00:00Z`` in milliseconds: the instant that counts as missing."""
NO_SESSION_TIME: Microseconds = NO_TIME * 1000


class Value(msgspec.Struct, frozen=True):
    """The frozen base of every value."""


class SessionStatus(StrEnum):
    """Where a session stands. ``purged`` never leaves the service: it is the seal on a purged id."""

    ACTIVE = "active"
    ENDED = "ended"
    PURGED = "purged"


class RunStatus(StrEnum):
    """Where a run stands. ``purged`` never leaves the service: it is the seal on a purged one-shot id."""

    RUNNING = "running"
    SUSPENDED = "suspended"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELED = "canceled"
    PURGED = "purged"

    @property
    def is_terminal(self) -> bool:
        """Whether the run has stopped."""
        return self is not RunStatus.RUNNING


class StartOutcome(StrEnum):
    """What a start tells its worker."""

    PROCEED = "proceed"
    STOP = "stop"


class RepairOutcome(StrEnum):
    """What a repair found."""

    STORED = "stored"
    ALREADY_STORED = "already_stored"
    DIFFERENT_TERMINAL = "different_terminal"


class Session(Value, frozen=True):
    """A conversation or a long piece of work; groups runs."""

    session_id: str
    status: SessionStatus
    created_at: Microseconds
    ended_at: Microseconds | None
    record_count: int = 0
    """How many records its runs hold: the position of the newest in the session's own order."""
    run_count: int = 0
    """How many runs were started in it: the newest run's place in the order of starts."""


class RunStart(Value, frozen=True):
    """What a worker knows of a run when it starts it."""

    agent_id: str
    run_id: str
    session_id: str
    parent_run_id: str
    predecessor_run_id: str
    started_at: Milliseconds
    labels: dict[str, str]


class Run(Value, frozen=True):
    """A run's state."""

    agent_id: str
    run_id: str
    session_id: str
    parent_run_id: str
    predecessor_run_id: str
    status: RunStatus
    start_outcome: StartOutcome
    started_at: Milliseconds
    updated_at: Milliseconds
    labels: dict[str, str]
    cancellation_reason: str
    record_count: int
    """How many records it holds: the id of the newest."""
    head_digest: bytes
    """Digest of the newest record, 32 bytes."""
    link_position: int = 0
    """Position, on the parent's log, of the record that linked this run; 0 without a parent."""
    session_ordinal: int = 0
    """Place in the session's order of starts, from 1; 0 for a one-shot run."""


class RunRecord(Value, frozen=True):
    """One fact in a run's history, never changed after it is stored."""

    event_key: str
    run_id: str
    agent_id: str
    session_id: str
    turn_id: str
    type: str
    payload: str
    timestamp: Milliseconds


class StoredRecord(Value, frozen=True):
    """A record with its place in its run's log and in its session's."""

    record: RunRecord
    position: int
    """From 1, without gaps; the record's id is its decimal text."""
    session_position: int
    """From 1 in the session's order; 0 for a one-shot run."""
    stored_at: Milliseconds
    digest: bytes

    @property
    def id(self) -> str:
        """The record's id: its position as decimal text."""
        return str(self.position)


class RunSuspension(Value, frozen=True):
    """The private bytes needed to continue a suspended run."""

    id: str
    data: bytes

    def __repr__(self) -> str:
        """Name the checkpoint without its bytes, which must never reach a log."""
        return f"RunSuspension(id={self.id!r}, data=<{len(self.data)} bytes>)"


class AppendResult(Value, frozen=True):
    """What became of one record."""

    id: str
    inserted: bool
    session_status: str
    """The session's status as the same transaction saw it; ``""`` for a one-shot run."""


class RootStartResult(Value, frozen=True):
    """What a root start did."""

    outcome: StartOutcome
    started: AppendResult
    canceled: AppendResult | None


class ChildStartResult(Value, frozen=True):
    """What a child start did."""

    outcome: StartOutcome
    parent_record: AppendResult
    started: AppendResult
    canceled: AppendResult | None


class OneShotStartResult(Value, frozen=True):
    """What a one-shot start did."""

    record: AppendResult


class OneShotChildStartResult(Value, frozen=True):
    """What a one-shot child start did."""

    parent_record: AppendResult
    started: AppendResult


class RepairResult(Value, frozen=True):
    """What a repair found or did."""

    outcome: RepairOutcome
    status: RunStatus
    record: AppendResult | None


class Purge(Value, frozen=True):
    """A purge that was carried out, or had been before."""


CommandResult = (
    AppendResult
    | RootStartResult
    | ChildStartResult
    | OneShotStartResult
    | OneShotChildStartResult
    | RepairResult
    | Session
    | Purge
)
"""What a command may answer."""
