"""What the host does, over a working set. The rules are in ``domain/sessions.py``."""

from __future__ import annotations

from msgspec.structs import replace

from runhold.commands.model import CreateSession, EndSession, PurgeOneShotRun, PurgeSession
from runhold.commands.working_set import WorkingSet
from runhold.domain.errors import RunNotFound
from runhold.domain.sessions import decide_create, decide_purge, decide_purge_one_shot, require_session
from runhold.domain.values import Purge, Run, RunStatus, Session, SessionStatus


def create_session(state: WorkingSet, command: CreateSession) -> Session:
    """Create a session, or find the active one of that id unchanged."""
    session = decide_create(state.session(command.session_id))
    if session is None:
        created_at = state.now_microseconds if command.created_at is None else command.created_at
        session = Session(command.session_id, SessionStatus.ACTIVE, created_at, None)
        state.add_session(session)
    return session


def end_session(state: WorkingSet, command: EndSession) -> Session:
    """End a session; the first end time stays. Running runs go on."""
    session = require_session(state.session(command.session_id), command.session_id)
    if session.status is SessionStatus.ACTIVE:
        ended_at = state.now_microseconds if command.ended_at is None else command.ended_at
        session = replace(session, status=SessionStatus.ENDED, ended_at=ended_at)
        state.change_session(session)
    return session


def purge_session(state: WorkingSet, command: PurgeSession) -> Purge:
    """Delete an ended session's runs, checkpoints and records, and seal its id for ever."""
    session_id = command.session_id
    session = decide_purge(state.session(session_id), session_id, state.has_running_run(session_id))
    if session is not None:
        state.purge_session(replace(session, status=SessionStatus.PURGED, record_count=0, run_count=0))
    return Purge()


def purge_one_shot_run(state: WorkingSet, command: PurgeOneShotRun) -> Purge:
    """Delete a one-shot run with its tree and seal the run ids."""
    run = state.run(command.run_id)
    if run is None:
        raise RunNotFound(f"there is no run {command.run_id!r}")
    tree = state.tree(command.run_id)
    if decide_purge_one_shot(run, tree):
        state.purge_tree([_sealed(state, member) for member in tree])
    return Purge()


def _sealed(state: WorkingSet, run: Run) -> Run:
    """Keep of a run only its id: nothing of a purged run may be read again."""
    return Run(
        agent_id="",
        run_id=run.run_id,
        session_id="",
        parent_run_id="",
        predecessor_run_id="",
        status=RunStatus.PURGED,
        start_outcome=run.start_outcome,
        started_at=0,
        updated_at=state.now,
        labels={},
        cancellation_reason="",
        record_count=0,
        head_digest=bytes(32),
    )
