"""Appending ordinary records, over a working set. The rules are in ``domain/appends.py``."""

from __future__ import annotations

from runhold.commands.model import AppendRunRecord
from runhold.commands.working_set import WorkingSet
from runhold.domain.appends import decide_append, require_run
from runhold.domain.values import AppendResult


def append_run_record(state: WorkingSet, command: AppendRunRecord) -> AppendResult:
    """Store one record, or answer an exact retry."""
    record = command.record
    run = require_run(state.run(command.run_id), command.run_id)
    repeated = decide_append(record, run, state.record(run.run_id, record.event_key))
    stored = state.append(record) if repeated is None else repeated
    return AppendResult(stored.id, repeated is None, state.session_status(run.session_id))
