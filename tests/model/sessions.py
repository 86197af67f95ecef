"""What the host does: sessions from creation to purge, and the purge of one-shot trees."""

from __future__ import annotations

from typing import Any

from tests.model.shapes import Body
from tests.model.starts import must
from tests.model.state import Run, Session, State
from tests.model.values import invalid


def create(state: State, body: Body, now: int) -> dict[str, Any]:
    if not body.session_id:
        raise invalid("a session without an id")
    session = state.sessions.get(body.session_id)
    if session is None:
        session = state.sessions[body.session_id] = Session(body.session_id, body.created_at or now)
    must(not session.purged, "purged", "session_purged")
    must(session.status == "active", "ended", "session_ended")
    return session.document()


def end(state: State, session_id: str, body: Body, now: int) -> dict[str, Any]:
    session = state.session(session_id)
    if session.ended_at is None:
        session.ended_at = body.ended_at or now
    return session.document()


def purge(state: State, session_id: str) -> None:
    session = state.sessions.get(session_id)
    if session and session.purged:
        return
    session = state.session(session_id)
    must(session.status == "ended", "active", "session_active")
    must(all(run.status != "running" for run in session.runs), "a run is running", "session_has_active_runs")
    for run in session.runs:
        del state.runs[run.run_id]
    session.runs, session.log, session.purged = [], [], True


def purge_tree(state: State, run_id: str) -> None:
    if run_id in state.sealed_runs:
        return
    run = state.run(run_id)
    must(not run.session_id, "it belongs to a session", "run_session_mismatch")
    must(not run.parent_run_id, "it is a child")
    tree = _tree(state, run)
    must(all(member.status != "running" for member in tree), "a run is running", "run_tree_active")
    for member in tree:
        del state.runs[member.run_id]
        state.sealed_runs.add(member.run_id)


def _tree(state: State, run: Run) -> list[Run]:
    return [run, *(member for child in state.children(run) for member in _tree(state, child))]
