"""The values that a store takes and returns: frozen, typed, equal by content.

Text that is absent is ``""``, labels that are absent are ``{}``, and a time that is absent is ``NO_TIME``.
Source: the storage contract, *Values*; docs/contract.md restates it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum

NO_TIME = datetime.min.replace(tzinfo=UTC)
"""``0001-01-01T00:00:00Z``: the instant that counts as a missing time."""


class SessionStatus(StrEnum):
    """Whether a session accepts new runs."""

    ACTIVE = "active"
    ENDED = "ended"


class RunStatus(StrEnum):
    """Where a run stands; every status but ``running`` is terminal."""

    RUNNING = "running"
    SUSPENDED = "suspended"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELED = "canceled"

    @property
    def is_terminal(self) -> bool:
        """Whether the run has stopped and takes no new records."""
        return self is not RunStatus.RUNNING


class TerminalStatus(StrEnum):
    """The three ways in which a run may end through ``record_run_terminal``."""

    COMPLETED = "completed"
    FAILED = "failed"
    CANCELED = "canceled"


class StartOutcome(StrEnum):
    """What a start told its worker: go on, or stop because the session had ended."""

    PROCEED = "proceed"
    STOP = "stop"


class RepairOutcome(StrEnum):
    """What a repair found: nothing (it stored), itself, or another ending."""

    STORED = "stored"
    ALREADY_STORED = "already_stored"
    DIFFERENT_TERMINAL = "different_terminal"


@dataclass(frozen=True, slots=True)
class Session:
    """A conversation or a long piece of work; groups runs."""

    session_id: str
    status: SessionStatus
    created_at: datetime
    """UTC, microseconds."""
    ended_at: datetime | None
    """UTC, microseconds; ``None`` while active. It may precede ``created_at``."""


@dataclass(frozen=True, slots=True)
class RunStart:
    """What a worker knows of a run when it starts it."""

    agent_id: str
    run_id: str
    started_at: datetime
    """Aware; whole milliseconds."""
    session_id: str = ""
    """Empty for a one-shot run."""
    parent_run_id: str = ""
    predecessor_run_id: str = ""
    """The suspended run that this one continues."""
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunMeta:
    """A run's state as the service holds it."""

    agent_id: str
    run_id: str
    session_id: str
    parent_run_id: str
    status: RunStatus
    start_outcome: StartOutcome
    started_at: datetime
    """UTC, milliseconds."""
    updated_at: datetime
    """UTC, milliseconds, by the service's clock."""
    labels: Mapping[str, str]
    cancellation_reason: str
    """The reason recorded for the run, or ``""``."""
    record_count: int
    head_digest: str
    """Lower-case hex of the digest of the run's last record."""


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One fact in a run's history, never changed after it is stored."""

    event_key: str
    """Names the record within its run; a retry sends the same key."""
    run_id: str
    agent_id: str
    type: str
    payload: str
    """One JSON value as text, kept byte for byte."""
    timestamp: datetime
    """Aware; whole milliseconds."""
    session_id: str = ""
    turn_id: str = ""


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """A record with its place in the run's log."""

    id: str
    """The decimal position in its run: ``"1"``, ``"2"``, … without gaps."""
    record: RunRecord
    stored_at: datetime
    """UTC, milliseconds, by the service's clock; never compared."""
    payload_bytes: int | None = None
    """Size of the payload, given in summary views only, where ``record.payload`` is ``""``."""


@dataclass(frozen=True, slots=True)
class RunSuspension:
    """The private bytes needed to continue a suspended run."""

    id: str
    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class AppendResult:
    """What became of one record."""

    id: str
    """The record's position in its run, the same in every exact retry."""
    inserted: bool
    """False when the record was stored by an earlier call."""
    session_status: str
    """The session's current status, ``""`` for a one-shot run."""


@dataclass(frozen=True, slots=True)
class RootStartResult:
    """What a root start did."""

    outcome: StartOutcome
    started: AppendResult
    canceled: AppendResult | None
    """Set when the outcome is ``stop``."""


@dataclass(frozen=True, slots=True)
class ChildStartResult:
    """What a child start did; ``parent_record`` is the link on the parent's log."""

    outcome: StartOutcome
    parent_record: AppendResult
    started: AppendResult
    canceled: AppendResult | None


@dataclass(frozen=True, slots=True)
class OneShotStartResult:
    """What a one-shot start did."""

    record: AppendResult


@dataclass(frozen=True, slots=True)
class OneShotChildStartResult:
    """What a one-shot child start did."""

    parent_record: AppendResult
    started: AppendResult


@dataclass(frozen=True, slots=True)
class RepairResult:
    """What a repair found or did."""

    outcome: RepairOutcome
    status: RunStatus
    """The run's stored status after the call."""
    record: AppendResult | None
    """``None`` when the run had ended differently."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page of records, in order."""

    records: tuple[StoredRecord, ...]
    next_cursor: str
    """Empty on the last page."""
    end_cursor: str
    """Where the page ended, so that a poller can go on later."""


@dataclass(frozen=True, slots=True)
class SessionPage:
    """A page of sessions by (created_at, id)."""

    sessions: tuple[Session, ...]
    next_cursor: str


@dataclass(frozen=True, slots=True)
class RunPage:
    """A page of runs."""

    runs: tuple[RunMeta, ...]
    next_cursor: str
