"""The rules of sessions and of purges: what the host may do. Source: the storage contract, *Host*."""

from __future__ import annotations

from collections.abc import Sequence

from runhold.domain.errors import (
    InvalidCommand,
    RunSessionMismatch,
    RunTreeActive,
    SessionActive,
    SessionEnded,
    SessionHasActiveRuns,
    SessionNotFound,
    SessionPurged,
    invalid_field,
)
from runhold.domain.values import Run, RunStatus, Session, SessionStatus


def validate_create(session_id: str) -> None:
    """Check that a new session has an id.

    Raises:
        InvalidCommand: it has none.
    """
    if not session_id:
        raise invalid_field("/session_id", "must be present")


def decide_create(session: Session | None) -> Session | None:
    """Decide whether a session is new (None) or there already, unchanged.

    Raises:
        SessionPurged, SessionEnded: its id is used up.
    """
    if session is None:
        return None
    _check_not_purged(session)
    if session.status is SessionStatus.ENDED:
        raise SessionEnded(f"session {session.session_id!r} has ended")
    return session


def require_session(session: Session | None, session_id: str) -> Session:
    """Find the session of an operation.

    Raises:
        SessionNotFound: there is none; SessionPurged: it was purged.
    """
    if session is None:
        raise SessionNotFound(f"there is no session {session_id!r}")
    _check_not_purged(session)
    return session


def decide_purge(session: Session | None, session_id: str, has_running_run: bool) -> Session | None:
    """Decide whether to purge a session: it is returned, or None when it was purged before.

    Raises:
        SessionNotFound, SessionActive, SessionHasActiveRuns: in this order.
    """
    if session is None:
        raise SessionNotFound(f"there is no session {session_id!r}")
    if session.status is SessionStatus.PURGED:
        return None
    if session.status is SessionStatus.ACTIVE:
        raise SessionActive(f"session {session_id!r} is active: end it first")
    if has_running_run:
        raise SessionHasActiveRuns(f"session {session_id!r} has a running run")
    return session


def decide_purge_one_shot(run: Run, tree: Sequence[Run]) -> bool:
    """Decide whether to purge a one-shot run with its tree: False when it was purged before.

    Args:
        run: found under its lock; seals are found too.
        tree: the run and all runs started under it.

    Raises:
        RunSessionMismatch: it belongs to a session; InvalidCommand: it is a child; RunTreeActive: a run of the tree is
            running.
    """
    if run.status is RunStatus.PURGED:
        return False
    if run.session_id:
        raise RunSessionMismatch(f"run {run.run_id!r} belongs to a session: purge that", run_id=run.run_id)
    if run.parent_run_id:
        raise InvalidCommand(f"run {run.run_id!r} is a child: purge the run at the top of its tree", run_id=run.run_id)
    for member in tree:
        if member.status is RunStatus.RUNNING:
            raise RunTreeActive(f"run {member.run_id!r} of the tree is running", run_id=member.run_id)
    return True


def _check_not_purged(session: Session) -> None:
    if session.status is SessionStatus.PURGED:
        raise SessionPurged(f"session {session.session_id!r} was purged")
