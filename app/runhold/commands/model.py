"""Every command as a value, and what each must find under its locks.

``needs`` names the rows by the identities that the command itself claims. That is enough: a record whose claimed
session is not its run's is refused as a wrong owner, and a run's rows change only under the lock of its session.
"""

from __future__ import annotations

from runhold.domain.values import (
    Microseconds,
    RunRecord,
    RunStart,
    RunStatus,
    RunSuspension,
    Value,
)


class StartRootRun(Value, frozen=True):
    """Start a run of a session."""

    run: RunStart
    started: RunRecord
    canceled: RunRecord


class StartChildRun(Value, frozen=True):
    """Start a run under a running parent of the same session."""

    run: RunStart
    parent_linked: RunRecord
    started: RunRecord
    canceled: RunRecord


class StartOneShotRun(Value, frozen=True):
    """Start a run that belongs to no session."""

    run: RunStart
    started: RunRecord


class StartOneShotChildRun(Value, frozen=True):
    """Start a run under a running one-shot run."""

    run: RunStart
    parent_linked: RunRecord
    started: RunRecord


class AppendRunRecord(Value, frozen=True):
    """Store one ordinary record on a running run."""

    run_id: str
    record: RunRecord


class RecordRunCancellation(Value, frozen=True):
    """Store, once, why the run should stop."""

    run_id: str
    reason: str
    record: RunRecord


class RecordRunSuspension(Value, frozen=True):
    """Store a checkpoint and suspend the run."""

    run_id: str
    suspension: RunSuspension
    record: RunRecord


class RecordRunTerminal(Value, frozen=True):
    """End the run."""

    run_id: str
    status: RunStatus
    record: RunRecord


class RepairRunSuspension(Value, frozen=True):
    """Suspend the run if it is still running; tell what was found otherwise."""

    run_id: str
    suspension: RunSuspension
    record: RunRecord


class RepairRunTerminal(Value, frozen=True):
    """End the run if it is still running; tell what was found otherwise."""

    run_id: str
    status: RunStatus
    record: RunRecord


class CreateSession(Value, frozen=True):
    """Create a session, or find the active one of that id."""

    session_id: str
    created_at: Microseconds | None


class EndSession(Value, frozen=True):
    """End a session; the first end time stays."""

    session_id: str
    ended_at: Microseconds | None


class PurgeSession(Value, frozen=True):
    """Delete an ended session's runs and seal its id."""

    session_id: str


class PurgeOneShotRun(Value, frozen=True):
    """Delete a one-shot run with its tree and seal the run ids."""

    run_id: str


Start = StartRootRun | StartChildRun | StartOneShotRun | StartOneShotChildRun
OnRun = (
    AppendRunRecord
    | RecordRunCancellation
    | RecordRunSuspension
    | RecordRunTerminal
    | RepairRunSuspension
    | RepairRunTerminal
)
Command = Start | OnRun | CreateSession | EndSession | PurgeSession | PurgeOneShotRun


class Needs(Value, frozen=True):
    """The rows that one command must find: locked, or read under the lock of its session."""

    sessions: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    """Run ids; those of one-shot runs are locked, a session's runs are covered by their session's lock."""
    records: tuple[tuple[str, str], ...] = ()
    """(run id, event key) pairs to look up."""
    starts: str = ""
    """The run whose start records (and link on the parent) are wanted when it exists already: a retry of its start."""
    suspension: str = ""
    """The run whose checkpoint is wanted."""
    session_purge: str = ""
    """The session about to be purged: whether any of its runs is running is wanted."""
    tree_purge: str = ""
    """The one-shot run about to be purged: its whole tree is wanted, locked."""


def needs(command: Command) -> Needs:
    """Name what ``command`` must find before it can be decided."""
    match command:
        case AppendRunRecord(run_id, record):
            return Needs(_session(record), (run_id,), ((run_id, record.event_key),))
        case StartRootRun(run, _, _):
            runs = tuple(r for r in (run.run_id, run.predecessor_run_id) if r)
            return Needs((run.session_id,), runs, starts=run.run_id)
        case StartChildRun(run, parent_linked, _, _):
            runs = tuple(r for r in (run.run_id, run.parent_run_id, run.predecessor_run_id) if r)
            return Needs((run.session_id,), runs, ((run.parent_run_id, parent_linked.event_key),), starts=run.run_id)
        case StartOneShotRun(run, _):
            return Needs((), (run.run_id,), starts=run.run_id)
        case StartOneShotChildRun(run, parent_linked, _):
            return Needs(
                (),
                (run.run_id, run.parent_run_id),
                ((run.parent_run_id, parent_linked.event_key),),
                starts=run.run_id,
            )
        case RecordRunSuspension(run_id, _, record) | RepairRunSuspension(run_id, _, record):
            return Needs(_session(record), (run_id,), ((run_id, record.event_key),), suspension=run_id)
        case (
            RecordRunCancellation(run_id, _, record)
            | RecordRunTerminal(run_id, _, record)
            | RepairRunTerminal(run_id, _, record)
        ):
            return Needs(_session(record), (run_id,), ((run_id, record.event_key),))
        case CreateSession(session_id, _) | EndSession(session_id, _):
            return Needs((session_id,))
        case PurgeSession(session_id):
            return Needs((session_id,), session_purge=session_id)
        case PurgeOneShotRun(run_id):
            return Needs((), (run_id,), tree_purge=run_id)


def size(command: Command) -> int:
    """Bytes of text and checkpoint that ``command`` would store, roughly: what bounds a batch."""
    match command:
        case AppendRunRecord(_, record) | RecordRunCancellation(_, _, record):
            return len(record.payload)
        case RecordRunTerminal(_, _, record) | RepairRunTerminal(_, _, record):
            return len(record.payload)
        case RecordRunSuspension(_, suspension, record) | RepairRunSuspension(_, suspension, record):
            return len(suspension.data) + len(record.payload)
        case StartRootRun(_, started, canceled):
            return len(started.payload) + len(canceled.payload)
        case StartChildRun(_, parent_linked, started, canceled):
            return len(parent_linked.payload) + len(started.payload) + len(canceled.payload)
        case StartOneShotRun(_, started):
            return len(started.payload)
        case StartOneShotChildRun(_, parent_linked, started):
            return len(parent_linked.payload) + len(started.payload)
        case _:
            return 0


def _session(record: RunRecord) -> tuple[str, ...]:
    return (record.session_id,) if record.session_id else ()
