"""Starting runs, over a working set. The rules are in ``domain/starts.py``."""

from __future__ import annotations

from runhold.commands.model import StartChildRun, StartOneShotChildRun, StartOneShotRun, StartRootRun
from runhold.commands.working_set import WorkingSet
from runhold.domain.payloads import SESSION_ENDED
from runhold.domain.starts import (
    check_continuation,
    check_not_sealed,
    check_repeat,
    decide_child_parent,
    decide_one_shot_parent,
    decide_outcome,
)
from runhold.domain.values import (
    AppendResult,
    ChildStartResult,
    OneShotChildStartResult,
    OneShotStartResult,
    RootStartResult,
    Run,
    RunRecord,
    RunStart,
    RunStatus,
    StartOutcome,
    StoredRecord,
)


def start_root_run(state: WorkingSet, command: StartRootRun) -> RootStartResult:
    """Start a run of a session, or answer an exact retry of its start."""
    start = command.run
    session, run = state.session(start.session_id), state.run(start.run_id)
    check_not_sealed(session, run)
    if start.predecessor_run_id:
        check_continuation(start, state.run(start.predecessor_run_id))
    if run is not None:
        started, canceled = _repeat(state, run, start, command.started, command.canceled)
        return RootStartResult(run.start_outcome, started, canceled)
    outcome = decide_outcome(session, start)
    _create(state, start, outcome)
    started = _store(state, command.started)
    canceled = _store(state, command.canceled) if outcome is StartOutcome.STOP else None
    return RootStartResult(outcome, started, canceled)


def start_child_run(state: WorkingSet, command: StartChildRun) -> ChildStartResult:
    """Start a run under a running parent, or answer an exact retry of its start."""
    start, link = command.run, command.parent_linked
    session, run = state.session(start.session_id), state.run(start.run_id)
    check_not_sealed(session, run)
    if start.predecessor_run_id:
        check_continuation(start, state.run(start.predecessor_run_id))
    if run is not None:
        stored_link = _stored_link(state, run)
        started, canceled = _repeat(state, run, start, command.started, command.canceled, (stored_link, link))
        return ChildStartResult(run.start_outcome, _repeated(state, stored_link), started, canceled)
    decide_child_parent(
        start, link, state.run(start.parent_run_id), state.record(start.parent_run_id, link.event_key), session
    )
    outcome = decide_outcome(session, start)
    # The link comes first, in the session's order too: nobody sees a child before its parent tells of it.
    parent_record = _store(state, link)
    _create(state, start, outcome, int(parent_record.id))
    started = _store(state, command.started)
    canceled = _store(state, command.canceled) if outcome is StartOutcome.STOP else None
    return ChildStartResult(outcome, parent_record, started, canceled)


def start_one_shot_run(state: WorkingSet, command: StartOneShotRun) -> OneShotStartResult:
    """Start a run that belongs to no session, or answer an exact retry of its start."""
    start, run = command.run, state.run(command.run.run_id)
    check_not_sealed(None, run)
    if run is not None:
        started, _ = _repeat(state, run, start, command.started, None)
        return OneShotStartResult(started)
    _create(state, start, StartOutcome.PROCEED)
    return OneShotStartResult(_store(state, command.started))


def start_one_shot_child_run(state: WorkingSet, command: StartOneShotChildRun) -> OneShotChildStartResult:
    """Start a run under a running one-shot run, or answer an exact retry of its start."""
    start, link = command.run, command.parent_linked
    run = state.run(start.run_id)
    check_not_sealed(None, run)
    if run is not None:
        stored_link = _stored_link(state, run)
        started, _ = _repeat(state, run, start, command.started, None, (stored_link, link))
        return OneShotChildStartResult(_repeated(state, stored_link), started)
    decide_one_shot_parent(
        start, link, state.run(start.parent_run_id), state.record(start.parent_run_id, link.event_key)
    )
    parent_record = _store(state, link)
    _create(state, start, StartOutcome.PROCEED, int(parent_record.id))
    return OneShotChildStartResult(parent_record, _store(state, command.started))


def _create(state: WorkingSet, start: RunStart, outcome: StartOutcome, link_position: int = 0) -> None:
    stopped = outcome is StartOutcome.STOP
    state.add_run(
        Run(
            agent_id=start.agent_id,
            run_id=start.run_id,
            session_id=start.session_id,
            parent_run_id=start.parent_run_id,
            predecessor_run_id=start.predecessor_run_id,
            status=RunStatus.CANCELED if stopped else RunStatus.RUNNING,
            start_outcome=outcome,
            started_at=start.started_at,
            updated_at=state.now,
            labels=start.labels,
            cancellation_reason=SESSION_ENDED if stopped else "",
            record_count=0,
            head_digest=b"",
            link_position=link_position,
        )
    )


def _store(state: WorkingSet, record: RunRecord) -> AppendResult:
    stored = state.append(record)
    return AppendResult(stored.id, True, state.session_status(record.session_id))


def _stored_link(state: WorkingSet, run: Run) -> StoredRecord | None:
    return state.record_at(run.parent_run_id, run.link_position) if run.link_position else None


def _repeat(
    state: WorkingSet,
    run: Run,
    start: RunStart,
    started: RunRecord,
    canceled: RunRecord | None,
    link: tuple[StoredRecord | None, RunRecord] | None = None,
) -> tuple[AppendResult, AppendResult | None]:
    """Check the retry of a start and find what the first call answered."""
    stored_started = state.record_at(run.run_id, 1)
    pairs = [(stored_started, started)] if link is None else [link, (stored_started, started)]
    stored_canceled = None
    if canceled is not None and run.start_outcome is StartOutcome.STOP:
        stored_canceled = state.record_at(run.run_id, 2)
        pairs.append((stored_canceled, canceled))
    check_repeat(run, start, pairs)
    return (
        _repeated(state, stored_started),
        None if stored_canceled is None else _repeated(state, stored_canceled),
    )


def _repeated(state: WorkingSet, stored: StoredRecord | None) -> AppendResult:
    if stored is None:
        raise LookupError("a start record that the run must hold was not loaded")
    return AppendResult(stored.id, False, state.session_status(stored.record.session_id))
