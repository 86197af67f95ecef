"""What the model remembers. Everything is copied cheaply, so that many orders of the same commands can be tried."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from tests.model.shapes import Record, Suspension
from tests.model.values import Refused, time_text


class Unknown:
    """A value only the service knows: its clock or its digest. Equal to any text of the right form."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern

    def __repr__(self) -> str:
        return f"<{self.pattern}>"


CLOCK_MS = Unknown(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
CLOCK_US = Unknown(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
DIGEST = Unknown(r"[0-9a-f]{64}")


@dataclass(eq=False)
class Session:
    session_id: str
    created_at: int
    """Microseconds since year 1."""
    ended_at: int | None = None
    purged: bool = False
    runs: list[Run] = field(default_factory=list)
    """In the order in which their starts committed."""
    log: list[Stored] = field(default_factory=list)
    """In commit order across the runs."""

    @property
    def status(self) -> str:
        return "active" if self.ended_at is None else "ended"

    def document(self) -> dict[str, Any]:
        return {
            "session_id": self.session_id,
            "status": self.status,
            "created_at": time_text(self.created_at, 6),
            "ended_at": None if self.ended_at is None else time_text(self.ended_at, 6),
        }


@dataclass(frozen=True)
class Stored:
    record: Record
    position: int

    def document(self, summary: bool = False) -> dict[str, Any]:
        record = self.record
        found: dict[str, Any] = {
            "event_key": record.event_key,
            "run_id": record.run_id,
            "agent_id": record.agent_id,
            "session_id": record.session_id,
            "turn_id": record.turn_id,
            "type": record.type,
            "payload": "" if summary else record.payload,
            "timestamp": time_text(record.timestamp, 3),
            "id": str(self.position),
            "stored_at": CLOCK_MS,
        }
        return found | {"payload_bytes": len(record.payload.encode())} if summary else found


@dataclass(eq=False)
class Run:
    run_id: str
    agent_id: str
    session_id: str
    parent_run_id: str
    started_at: int
    labels: dict[str, str]
    outcome: str = "proceed"
    status: str = "running"
    reason: str = ""
    moves: int = 0
    """How often the run itself changed: its `updated_at` moves then, and only then."""
    started: Stored | None = None
    canceled: Stored | None = None
    link: Stored | None = None
    """The link to this run; it lies in its parent's log."""
    suspension: Suspension | None = None
    records: list[Stored] = field(default_factory=list)
    keys: dict[str, Stored] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        return {
            "agent_id": self.agent_id,
            "run_id": self.run_id,
            "session_id": self.session_id,
            "parent_run_id": self.parent_run_id,
            "status": self.status,
            "start_outcome": self.outcome,
            "started_at": time_text(self.started_at, 3),
            "updated_at": CLOCK_MS,
            "labels": dict(self.labels),
            "cancellation_reason": self.reason,
            "record_count": len(self.records),
            "head_digest": DIGEST,
        }


class State:
    """Sessions, runs and sealed ids of one namespace."""

    def __init__(self) -> None:
        self.sessions: dict[str, Session] = {}
        self.runs: dict[str, Run] = {}
        self.sealed_runs: set[str] = set()

    def copy(self) -> State:
        twin = State()
        twin.sealed_runs = set(self.sealed_runs)
        runs = {
            run_id: replace(run, records=list(run.records), keys=dict(run.keys)) for run_id, run in self.runs.items()
        }
        twin.runs = runs
        twin.sessions = {
            session_id: replace(session, runs=[runs[run.run_id] for run in session.runs], log=list(session.log))
            for session_id, session in self.sessions.items()
        }
        return twin

    def run(self, run_id: str) -> Run:
        found = self.runs.get(run_id)
        if found is None:
            raise Refused("run_not_found", repr(run_id))
        return found

    def session(self, session_id: str) -> Session:
        found = self.sessions.get(session_id)
        if found is None:
            raise Refused("session_not_found", repr(session_id))
        if found.purged:
            raise Refused("session_purged", repr(session_id))
        return found

    def store(self, run: Run, record: Record) -> Stored:
        """Put a record at the end of its run's log, and of its session's."""
        stored = Stored(record, len(run.records) + 1)
        run.records.append(stored)
        run.keys[record.event_key] = stored
        if run.session_id:
            self.sessions[run.session_id].log.append(stored)
        return stored

    def appended(self, stored: Stored, inserted: bool) -> dict[str, Any]:
        """The AppendResult of a record."""
        session = self.sessions.get(stored.record.session_id)
        return {
            "id": str(stored.position),
            "inserted": inserted,
            "session_status": session.status if session else "",
        }

    def children(self, run: Run) -> Iterator[Run]:
        return (child for child in self.runs.values() if child.parent_run_id == run.run_id)


def conflict(stored: Stored, record: Record) -> Refused:
    return Refused(
        "event_conflict",
        run_id=record.run_id,
        event_key=record.event_key,
        differs=stored.record.differs(record),
    )
