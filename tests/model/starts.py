"""The four starts: what is judged before any state is read, then against the state, in the contract's order."""

from __future__ import annotations

from typing import Any

from tests.model import payloads
from tests.model.shapes import Body, Record, Start
from tests.model.state import Run, State, conflict
from tests.model.values import Refused, invalid


def record_shape(record: Record) -> None:
    for name in ("run_id", "agent_id", "event_key", "type", "payload", "timestamp"):
        if not getattr(record, name):
            raise invalid(f"a record without {name}")


def must(holds: bool, why: str, code: str = "invalid_command") -> None:
    if not holds:
        raise Refused(code, why)


# --- before any state ---------------------------------------------------------------------------------------------


def validate_root(body: Body) -> None:
    run = _run(body)
    must(bool(run.run_id and run.agent_id and run.session_id), "run, agent and session")
    must(not run.parent_run_id, "a root run has no parent")
    must(not run.predecessor_run_id or run.predecessor_run_id != run.run_id, "its own predecessor")
    must(bool(run.started_at), "started_at")
    _validate_started(run, body.started)
    _validate_canceled(run, body)


def validate_child(body: Body) -> None:
    run = _run(body)
    must(bool(run.run_id), "run", "child_run_id_required")
    must(bool(run.agent_id), "agent", "child_agent_id_required")
    must(bool(run.session_id), "session", "child_session_id_required")
    must(bool(run.parent_run_id), "parent", "parent_run_id_required")
    must(not run.predecessor_run_id or run.predecessor_run_id != run.run_id, "its own predecessor")
    must(bool(run.started_at), "started_at")
    _validate_link(run, body.parent_linked)
    _validate_started(run, body.started)
    _validate_canceled(run, body)


def validate_one_shot(body: Body) -> None:
    run = _run(body)
    must(bool(run.run_id and run.agent_id), "run and agent")
    must(not (run.session_id or run.parent_run_id or run.predecessor_run_id), "no session, parent or predecessor")
    must(bool(run.started_at), "started_at")
    _validate_started(run, body.started)


def validate_one_shot_child(body: Body) -> None:
    run = _run(body)
    must(bool(run.run_id and run.agent_id), "run and agent")
    must(not run.session_id, "no session")
    must(bool(run.parent_run_id), "parent", "parent_run_id_required")
    must(not run.predecessor_run_id, "no predecessor")
    must(bool(run.started_at), "started_at")
    _validate_link(run, body.parent_linked)
    _validate_started(run, body.started)
    assert body.parent_linked and body.started
    must(body.parent_linked.event_key != body.started.event_key, "the link's key is the start's")


def _run(body: Body) -> Start:
    assert body.run
    return body.run


def _validate_link(run: Start, link: Record | None) -> None:
    assert link
    record_shape(link)
    must(link.type == "child_run_linked", "not a link")
    said = payloads.linked(link.payload)
    must(link.run_id == run.parent_run_id and link.session_id == run.session_id, "the link is not the parent's")
    must(said.child_run_id == run.run_id and said.child_agent_id == run.agent_id, "the link names another child")
    must(bool(said.tool_name and said.tool_call_id), "the link names no tool call")


def _validate_started(run: Start, record: Record | None) -> None:
    assert record
    record_shape(record)
    must(record.type == "run_started", "not a start")
    said = payloads.started(record.payload)
    _owner(record, run)
    must(record.timestamp == run.started_at, "another time")
    must(said.parent_run_id == run.parent_run_id, "another parent")
    must(said.predecessor_run_id == run.predecessor_run_id, "another predecessor")
    must(said.labels == run.labels, "other labels")


def _validate_canceled(run: Start, body: Body) -> None:
    record = body.canceled
    assert record and body.started
    record_shape(record)
    must(record.type == "run_completed", "not a completion")
    said = payloads.completed(record.payload)
    _owner(record, run)
    must(record.timestamp == run.started_at, "another time")
    must((said.status, said.phase, said.reason) == ("canceled", "canceled", "session_ended"), "another end")
    must(said.labels == run.labels, "other labels")
    must(record.event_key != body.started.event_key, "the key of the start")


def _owner(record: Record, owner: Start | Run) -> None:
    same = all(getattr(record, name) == getattr(owner, name) for name in ("run_id", "agent_id", "session_id"))
    must(same, "another owner", "run_record_owner_mismatch")


# --- against the state --------------------------------------------------------------------------------------------


def start_in_session(state: State, body: Body) -> dict[str, Any]:
    """start_root_run and start_child_run, from step 2 on."""
    start, link = _run(body), body.parent_linked
    assert body.started and body.canceled
    session = state.sessions.get(start.session_id)
    must(not (session and session.purged), "purged", "session_purged")
    must(start.run_id not in state.sealed_runs, "sealed", "run_purged")
    if start.predecessor_run_id:
        before = state.run(start.predecessor_run_id)
        same = all(
            getattr(before, name) == getattr(start, name) for name in ("session_id", "agent_id", "parent_run_id")
        )
        must(before.status == "suspended" and same, "cannot continue it", "continuation_conflict")
    if (existing := state.runs.get(start.run_id)) is not None:
        return _retry(state, existing, body)
    parent = _parent_of(state, link) if link else None
    session = state.session(start.session_id)
    must(parent is None or parent.status == "running", "the parent is not running", "run_not_active")
    run = _new_run(start)
    state.runs[run.run_id] = run
    session.runs.append(run)
    if link and parent:
        run.link = state.store(parent, link)
    run.started = state.store(run, body.started)
    if session.status == "ended":
        run.canceled = state.store(run, body.canceled)
        run.outcome, run.status, run.reason = "stop", "canceled", "session_ended"
    return _start_answer(state, run, inserted=True)


def start_one_shot(state: State, body: Body) -> dict[str, Any]:
    """start_one_shot_run and start_one_shot_child_run, after validation."""
    start, link = _run(body), body.parent_linked
    assert body.started
    must(start.run_id not in state.sealed_runs, "sealed", "run_purged")
    if (existing := state.runs.get(start.run_id)) is not None:
        return _retry(state, existing, body)
    run = _new_run(start)
    if link:
        parent = state.run(start.parent_run_id)
        must(not parent.session_id, "the parent has a session", "run_session_mismatch")
        must(parent.status == "running", "the parent is not running", "run_not_active")
        _parent_of(state, link)
        run.link = state.store(parent, link)
    state.runs[run.run_id] = run
    run.started = state.store(run, body.started)
    return _start_answer(state, run, inserted=True)


def _parent_of(state: State, link: Record) -> Run:
    """The parent, which must own the link and have its key free."""
    parent = state.run(link.run_id)
    _owner(link, parent)
    if taken := parent.keys.get(link.event_key):
        raise conflict(taken, link)
    return parent


def _new_run(start: Start) -> Run:
    return Run(
        run_id=start.run_id,
        agent_id=start.agent_id,
        session_id=start.session_id,
        parent_run_id=start.parent_run_id,
        started_at=start.started_at,
        labels=start.labels,
    )


def _retry(state: State, run: Run, body: Body) -> dict[str, Any]:
    start = _run(body)
    for name in ("agent_id", "session_id", "parent_run_id", "started_at", "labels"):
        must(getattr(run, name) == getattr(start, name), f"another {name}", "run_conflict")
    pairs = [(run.link, body.parent_linked), (run.started, body.started)]
    if run.outcome == "stop":
        pairs.append((run.canceled, body.canceled))
    for stored, record in pairs:
        keys = stored and stored.record.event_key, record and record.event_key
        must(keys[0] == keys[1], "another event key", "run_conflict")
    for stored, record in pairs:
        if stored and record:
            same = all(
                getattr(stored.record, name) == getattr(record, name) for name in ("run_id", "agent_id", "session_id")
            )
            must(same, "another owner", "run_record_owner_mismatch")
            if stored.record != record:
                raise conflict(stored, record)
    return _start_answer(state, run, inserted=False)


def _start_answer(state: State, run: Run, inserted: bool) -> dict[str, Any]:
    assert run.started
    started = state.appended(run.started, inserted)
    if not run.session_id and not run.link:
        return {"record": started}
    answer: dict[str, Any] = {"started": started}
    if run.session_id:
        answer |= {
            "outcome": run.outcome,
            "canceled": state.appended(run.canceled, inserted) if run.canceled else None,
        }
    if run.link:
        answer["parent_record"] = state.appended(run.link, inserted)
    return answer
