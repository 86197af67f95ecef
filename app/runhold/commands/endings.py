"""Cancelling, suspending, ending and repairing runs, over a working set. The rules are in ``domain/endings.py``."""

from __future__ import annotations

from msgspec.structs import replace

from runhold.commands.model import (
    RecordRunCancellation,
    RecordRunSuspension,
    RecordRunTerminal,
    RepairRunSuspension,
    RepairRunTerminal,
)
from runhold.commands.working_set import WorkingSet
from runhold.domain.appends import require_run
from runhold.domain.endings import (
    decide_cancellation,
    decide_suspension,
    decide_terminal,
    validate_cancellation,
    validate_suspension,
    validate_terminal,
)
from runhold.domain.errors import Conflict
from runhold.domain.values import (
    AppendResult,
    RepairOutcome,
    RepairResult,
    Run,
    RunRecord,
    RunStatus,
    StoredRecord,
)


def record_run_cancellation(state: WorkingSet, command: RecordRunCancellation) -> AppendResult:
    """Store, once, why the run should stop; the run goes on."""
    run = require_run(state.run(command.run_id), command.run_id)
    validate_cancellation(run, command.reason, command.record)
    repeated = decide_cancellation(
        run, command.reason, command.record, state.record(run.run_id, command.record.event_key)
    )
    changed = replace(run, cancellation_reason=command.reason, updated_at=state.now)
    return _store(state, changed, command.record, repeated)


def record_run_suspension(state: WorkingSet, command: RecordRunSuspension | RepairRunSuspension) -> AppendResult:
    """Store the checkpoint and its record, and suspend the run."""
    run = require_run(state.run(command.run_id), command.run_id)
    validate_suspension(run, command.suspension, command.record)
    repeated = decide_suspension(
        run,
        command.suspension,
        command.record,
        state.suspension(run.run_id),
        state.record(run.run_id, command.record.event_key),
    )
    changed = replace(run, status=RunStatus.SUSPENDED, updated_at=state.now)
    result = _store(state, changed, command.record, repeated)
    if repeated is None:
        state.suspend(run.run_id, command.suspension)
    return result


def record_run_terminal(state: WorkingSet, command: RecordRunTerminal | RepairRunTerminal) -> AppendResult:
    """End the run."""
    run = require_run(state.run(command.run_id), command.run_id)
    validate_terminal(run, command.status, command.record)
    repeated = decide_terminal(run, command.status, command.record, state.record(run.run_id, command.record.event_key))
    changed = replace(run, status=command.status, updated_at=state.now)
    return _store(state, changed, command.record, repeated)


def repair_run_suspension(state: WorkingSet, command: RepairRunSuspension) -> RepairResult:
    """Suspend the run if it is still running; tell what was found otherwise."""
    run = require_run(state.run(command.run_id), command.run_id)
    if run.status.is_terminal:
        validate_suspension(run, command.suspension, command.record)
        stored = state.record(run.run_id, command.record.event_key)
        try:
            decide_suspension(run, command.suspension, command.record, state.suspension(run.run_id), stored)
        except Conflict:
            return RepairResult(RepairOutcome.DIFFERENT_TERMINAL, run.status, None)
    return _repaired(RunStatus.SUSPENDED, record_run_suspension(state, command))


def repair_run_terminal(state: WorkingSet, command: RepairRunTerminal) -> RepairResult:
    """End the run if it is still running; tell what was found otherwise."""
    run = require_run(state.run(command.run_id), command.run_id)
    if run.status.is_terminal:
        validate_terminal(run, command.status, command.record)
        stored = state.record(run.run_id, command.record.event_key)
        try:
            decide_terminal(run, command.status, command.record, stored)
        except Conflict:
            return RepairResult(RepairOutcome.DIFFERENT_TERMINAL, run.status, None)
    return _repaired(command.status, record_run_terminal(state, command))


def _store(state: WorkingSet, changed: Run, record: RunRecord, repeated: StoredRecord | None) -> AppendResult:
    if repeated is None:
        state.change_run(changed)
    stored = state.append(record) if repeated is None else repeated
    return AppendResult(stored.id, repeated is None, state.session_status(changed.session_id))


def _repaired(status: RunStatus, record: AppendResult) -> RepairResult:
    return RepairResult(RepairOutcome.STORED if record.inserted else RepairOutcome.ALREADY_STORED, status, record)
