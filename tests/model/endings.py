"""Append, cancellation, suspension, terminal, and the two repairs, with the contract's order of checks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.model import payloads
from tests.model.shapes import Body, Record
from tests.model.starts import must, record_shape
from tests.model.state import Run, State, conflict

SAID = {"completed": "success", "failed": "failed", "canceled": "canceled"}


def _owned(record: Record, run: Run) -> None:
    same = (record.run_id, record.agent_id, record.session_id) == (run.run_id, run.agent_id, run.session_id)
    must(same, "another owner", "run_record_owner_mismatch")


def append(state: State, run_id: str, body: Body) -> dict[str, Any]:
    record = _record(body)
    record_shape(record)
    must(record.run_id == run_id, "another run in the path")
    must(record.type not in payloads.LIFECYCLE, "a lifecycle type")
    run = state.run(run_id)
    _owned(record, run)
    if taken := run.keys.get(record.event_key):
        if taken.record != record:
            raise conflict(taken, record)
        return state.appended(taken, inserted=False)
    must(run.status == "running", "the run has stopped", "run_not_active")
    return state.appended(state.store(run, record), inserted=True)


def cancel(state: State, run_id: str, body: Body) -> dict[str, Any]:
    run, record = state.run(run_id), _record(body)
    must(bool(body.reason), "no reason")
    record_shape(record)
    _owned(record, run)
    must(record.type == "runtime.cancellation_intent", "not an intent")
    must(payloads.intent(record.payload) == body.reason, "another reason in the record")
    must(run.reason in ("", body.reason), "another reason before", "run_cancellation_conflict")
    if taken := run.keys.get(record.event_key):
        if taken.record != record:
            raise conflict(taken, record)
        return state.appended(taken, inserted=False)
    must(bool(run.reason) or run.status == "running", "the run has stopped", "run_not_active")
    must(not run.reason, "recorded under another key", "run_cancellation_conflict")
    run.reason = body.reason
    run.moves += 1
    return state.appended(state.store(run, record), inserted=True)


def suspend(state: State, run_id: str, body: Body) -> dict[str, Any]:
    run, record = _suspension_command(state, run_id, body)
    must(run.status in ("running", "suspended"), "the run has ended", "run_terminal_conflict")
    if run.status == "suspended":
        must(run.suspension == body.suspension, "another checkpoint", "run_suspension_conflict")
    return _store_end(state, run, record, "run_suspension_conflict", lambda: _suspended(run, body))


def end(state: State, run_id: str, body: Body) -> dict[str, Any]:
    run, record = _terminal_command(state, run_id, body)
    must(run.status in ("running", body.status), "the run has another end", "run_terminal_conflict")
    return _store_end(state, run, record, "run_terminal_conflict", lambda: _ended(run, body))


def repair_suspension(state: State, run_id: str, body: Body) -> dict[str, Any]:
    run, record = _suspension_command(state, run_id, body)
    same_checkpoint = run.status == "suspended" and run.suspension == body.suspension
    return _repair(state, run, record, same_checkpoint, lambda: _suspended(run, body))


def repair_terminal(state: State, run_id: str, body: Body) -> dict[str, Any]:
    run, record = _terminal_command(state, run_id, body)
    return _repair(state, run, record, run.status == body.status, lambda: _ended(run, body))


def _record(body: Body) -> Record:
    assert body.record
    return body.record


def _suspension_command(state: State, run_id: str, body: Body) -> tuple[Run, Record]:
    run, record = state.run(run_id), _record(body)
    assert body.suspension
    must(bool(body.suspension.id and body.suspension.data), "no checkpoint")
    record_shape(record)
    must(record.type == "run_suspended", "not a suspension")
    named = payloads.suspended(record.payload)
    _owned(record, run)
    must(named == body.suspension.id, "another checkpoint named")
    return run, record


def _terminal_command(state: State, run_id: str, body: Body) -> tuple[Run, Record]:
    run, record = state.run(run_id), _record(body)
    record_shape(record)
    must(record.type == "run_completed", "not a completion")
    said = payloads.completed(record.payload)
    _owned(record, run)
    must((said.status, said.phase) == (SAID[body.status], body.status), "another end in the record")
    must(said.labels == run.labels, "other labels")
    must(body.status != "canceled" or said.reason == (run.reason or "engine_canceled"), "another reason")
    return run, record


def _suspended(run: Run, body: Body) -> None:
    run.status, run.suspension = "suspended", body.suspension
    run.moves += 1


def _ended(run: Run, body: Body) -> None:
    run.status = body.status
    run.moves += 1


def _store_end(state: State, run: Run, record: Record, otherwise: str, stop: Callable[[], None]) -> dict[str, Any]:
    if taken := run.keys.get(record.event_key):
        if taken.record != record:
            raise conflict(taken, record)
        return state.appended(taken, inserted=False)
    must(run.status == "running", "ended under another key", otherwise)
    stop()
    return state.appended(state.store(run, record), inserted=True)


def _repair(state: State, run: Run, record: Record, same_end: bool, stop: Callable[[], None]) -> dict[str, Any]:
    taken = run.keys.get(record.event_key)
    if run.status != "running":
        if same_end and taken and taken.record == record:
            return {"outcome": "already_stored", "status": run.status, "record": state.appended(taken, inserted=False)}
        return {"outcome": "different_terminal", "status": run.status, "record": None}
    if taken:
        raise conflict(taken, record)
    stop()
    return {"outcome": "stored", "status": run.status, "record": state.appended(state.store(run, record), True)}
