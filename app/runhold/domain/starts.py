"""The rules of starting runs. Source: the storage contract, *Validating a start*, ``start_root_run`` and its kin."""

from __future__ import annotations

from collections.abc import Sequence

from runhold.domain.errors import (
    ChildAgentIdRequired,
    ChildRunIdRequired,
    ChildSessionIdRequired,
    ContinuationConflict,
    ParentRunIdRequired,
    RunConflict,
    RunNotActive,
    RunNotFound,
    RunPurged,
    RunRecordOwnerMismatch,
    RunSessionMismatch,
    SessionNotFound,
    SessionPurged,
    invalid_field,
)
from runhold.domain.payloads import (
    CHILD_RUN_LINKED,
    RUN_COMPLETED,
    RUN_STARTED,
    SESSION_ENDED,
    decode_child_run_linked,
    decode_run_completed,
    decode_run_started,
)
from runhold.domain.records import (
    check_owner,
    check_same,
    check_shape,
    event_conflict,
    same_owner,
    typed_payload,
)
from runhold.domain.values import (
    NO_TIME,
    Run,
    RunRecord,
    RunStart,
    RunStatus,
    Session,
    SessionStatus,
    StartOutcome,
    StoredRecord,
)

# Before any state is read


def validate_root_start(run: RunStart, started: RunRecord, canceled: RunRecord) -> None:
    """Check what a root start says about itself.

    Raises:
        InvalidCommand, RunRecordOwnerMismatch: the first rule of the contract's list that it breaks.
    """
    _require(run.run_id, "/run/run_id")
    _require(run.agent_id, "/run/agent_id")
    _require(run.session_id, "/run/session_id")
    _refuse(run.parent_run_id, "/run/parent_run_id")
    _check_predecessor(run)
    _check_started_at(run)
    _check_started(run, started)
    _check_canceled(run, started, canceled)


def validate_child_start(run: RunStart, parent_linked: RunRecord, started: RunRecord, canceled: RunRecord) -> None:
    """Check what a child start says about itself.

    Raises:
        ChildRunIdRequired, ChildAgentIdRequired, ChildSessionIdRequired, ParentRunIdRequired, InvalidCommand,
        RunRecordOwnerMismatch: the first rule of the contract's list that it breaks.
    """
    if not run.run_id:
        raise invalid_field("/run/run_id", "must be present", ChildRunIdRequired)
    if not run.agent_id:
        raise invalid_field("/run/agent_id", "must be present", ChildAgentIdRequired)
    if not run.session_id:
        raise invalid_field("/run/session_id", "must be present", ChildSessionIdRequired)
    if not run.parent_run_id:
        raise invalid_field("/run/parent_run_id", "must be present", ParentRunIdRequired)
    _check_predecessor(run)
    _check_started_at(run)
    _check_link(run, parent_linked)
    _check_started(run, started)
    _check_canceled(run, started, canceled)


def validate_one_shot_start(run: RunStart, started: RunRecord) -> None:
    """Check what a one-shot start says about itself.

    Raises:
        InvalidCommand, RunRecordOwnerMismatch: the first rule of the contract's list that it breaks.
    """
    _require(run.run_id, "/run/run_id")
    _require(run.agent_id, "/run/agent_id")
    _refuse(run.session_id, "/run/session_id")
    _refuse(run.parent_run_id, "/run/parent_run_id")
    _refuse(run.predecessor_run_id, "/run/predecessor_run_id")
    _check_started_at(run)
    _check_started(run, started)


def validate_one_shot_child_start(run: RunStart, parent_linked: RunRecord, started: RunRecord) -> None:
    """Check what a one-shot child start says about itself.

    Raises:
        ParentRunIdRequired, InvalidCommand, RunRecordOwnerMismatch: the first rule of the list that it breaks.
    """
    _require(run.run_id, "/run/run_id")
    _require(run.agent_id, "/run/agent_id")
    _refuse(run.session_id, "/run/session_id")
    if not run.parent_run_id:
        raise invalid_field("/run/parent_run_id", "must be present", ParentRunIdRequired)
    _refuse(run.predecessor_run_id, "/run/predecessor_run_id")
    _check_started_at(run)
    _check_link(run, parent_linked)
    _check_started(run, started)
    if parent_linked.event_key == started.event_key:
        raise invalid_field("/started/event_key", "must differ from the link's")


def _require(value: str, pointer: str) -> None:
    if not value:
        raise invalid_field(pointer, "must be present")


def _refuse(value: str, pointer: str) -> None:
    if value:
        raise invalid_field(pointer, "must be absent here")


def _check_predecessor(run: RunStart) -> None:
    if run.predecessor_run_id == run.run_id:
        raise invalid_field("/run/predecessor_run_id", "must differ from run_id")


def _check_started_at(run: RunStart) -> None:
    if run.started_at == NO_TIME:
        raise invalid_field("/run/started_at", "must be present")


def _check_link(run: RunStart, link: RunRecord) -> None:
    check_shape(link, "/parent_linked")
    payload = typed_payload(link, CHILD_RUN_LINKED, decode_child_run_linked, "/parent_linked")
    if link.run_id != run.parent_run_id:
        raise invalid_field("/parent_linked/run_id", "must be the run's parent_run_id")
    if link.session_id != run.session_id:
        raise invalid_field("/parent_linked/session_id", "must be the run's session_id")
    if payload.child_run_id != run.run_id or payload.child_agent_id != run.agent_id:
        raise invalid_field("/parent_linked/payload", "must name the run's run_id and agent_id")
    if not payload.tool_name or not payload.tool_call_id:
        raise invalid_field("/parent_linked/payload", "must name the tool and its call")


def _check_started(run: RunStart, started: RunRecord) -> None:
    check_shape(started, "/started")
    payload = typed_payload(started, RUN_STARTED, decode_run_started, "/started")
    check_owner(started, run.run_id, run.agent_id, run.session_id)
    if started.timestamp != run.started_at:
        raise invalid_field("/started/timestamp", "must be the run's started_at")
    if payload.parent_run_id != run.parent_run_id:
        raise invalid_field("/started/payload", "must name the run's parent_run_id")
    if payload.predecessor_run_id != run.predecessor_run_id:
        raise invalid_field("/started/payload", "must name the run's predecessor_run_id")
    if payload.labels != run.labels:
        raise invalid_field("/started/payload", "must carry the run's labels")


def _check_canceled(run: RunStart, started: RunRecord, canceled: RunRecord) -> None:
    check_shape(canceled, "/canceled")
    payload = typed_payload(canceled, RUN_COMPLETED, decode_run_completed, "/canceled")
    check_owner(canceled, run.run_id, run.agent_id, run.session_id)
    if canceled.timestamp != run.started_at:
        raise invalid_field("/canceled/timestamp", "must be the run's started_at")
    if payload.status != "canceled" or payload.phase != "canceled" or payload.reason != SESSION_ENDED:
        raise invalid_field("/canceled/payload", f"must be canceled, with the reason {SESSION_ENDED}")
    if payload.labels != run.labels:
        raise invalid_field("/canceled/payload", "must carry the run's labels")
    if canceled.event_key == started.event_key:
        raise invalid_field("/canceled/event_key", "must differ from that of started")


# Against what is stored


def check_not_sealed(session: Session | None, run: Run | None) -> None:
    """Check that neither the session nor the run id was purged.

    Raises:
        SessionPurged: first; RunPurged.
    """
    if session is not None and session.status is SessionStatus.PURGED:
        raise SessionPurged(f"session {session.session_id!r} was purged")
    if run is not None and run.status is RunStatus.PURGED:
        raise RunPurged(f"run {run.run_id!r} was purged")


def check_continuation(start: RunStart, predecessor: Run | None) -> None:
    """Check the run that a start continues; several runs may continue the same one.

    Raises:
        RunNotFound: there is no such run.
        ContinuationConflict: it is not suspended, or of another session, agent or parent.
    """
    if predecessor is None or predecessor.status is RunStatus.PURGED:
        raise RunNotFound(f"there is no run {start.predecessor_run_id!r} to continue")
    if (
        predecessor.status is not RunStatus.SUSPENDED
        or predecessor.session_id != start.session_id
        or predecessor.agent_id != start.agent_id
        or predecessor.parent_run_id != start.parent_run_id
    ):
        raise ContinuationConflict(
            f"run {start.predecessor_run_id!r} is not a suspended run of the same session, agent and parent",
            run_id=start.predecessor_run_id,
        )


def check_repeat(run: Run, start: RunStart, pairs: Sequence[tuple[StoredRecord | None, RunRecord]]) -> None:
    """Check that a start of a run that exists is an exact retry.

    Args:
        run: the stored run.
        start: what the retry says of it.
        pairs: link, started and, when the run was stopped at its start, canceled: what the first call stored beside
            what this one brings.

    Raises:
        RunConflict: another start; RunRecordOwnerMismatch, EventConflict: the same start with another record.
    """
    if (
        run.agent_id != start.agent_id
        or run.session_id != start.session_id
        or run.parent_run_id != start.parent_run_id
        or run.started_at != start.started_at
        or run.labels != start.labels
        or any(stored is None or stored.record.event_key != given.event_key for stored, given in pairs)
    ):
        raise RunConflict(f"run {run.run_id!r} exists and was started differently", run_id=run.run_id)
    for stored, given in pairs:
        if stored is None:  # excluded above; the type checker cannot know
            continue
        if not same_owner(stored.record, given):
            raise RunRecordOwnerMismatch(
                f"the record under {given.event_key!r} names another run, agent or session than its run",
                run_id=stored.record.run_id,
                event_key=given.event_key,
            )
        check_same(stored, given)


def decide_child_parent(
    start: RunStart, link: RunRecord, parent: Run | None, taken: StoredRecord | None, session: Session | None
) -> None:
    """Check the parent of a new child: there, owner of the link, with the link's key free, and running.

    Raises:
        RunNotFound, RunRecordOwnerMismatch, EventConflict, SessionNotFound, RunNotActive: in this order.
    """
    if parent is None or parent.status is RunStatus.PURGED:
        raise RunNotFound(f"there is no parent run {start.parent_run_id!r}")
    check_owner(link, parent.run_id, parent.agent_id, parent.session_id)
    _check_key_free(taken, link)
    if session is None:
        raise SessionNotFound(f"there is no session {start.session_id!r}")
    _check_running(parent)


def decide_one_shot_parent(start: RunStart, link: RunRecord, parent: Run | None, taken: StoredRecord | None) -> None:
    """Check the parent of a new one-shot child.

    Raises:
        RunNotFound, RunSessionMismatch, RunNotActive, RunRecordOwnerMismatch, EventConflict: in this order.
    """
    if parent is None or parent.status is RunStatus.PURGED:
        raise RunNotFound(f"there is no parent run {start.parent_run_id!r}")
    if parent.session_id:
        raise RunSessionMismatch(f"parent run {parent.run_id!r} belongs to a session", run_id=parent.run_id)
    _check_running(parent)
    check_owner(link, parent.run_id, parent.agent_id, "")
    _check_key_free(taken, link)


def decide_outcome(session: Session | None, start: RunStart) -> StartOutcome:
    """Tell a new run of a session whether to go on.

    Raises:
        SessionNotFound: there is no such session.
    """
    if session is None:
        raise SessionNotFound(f"there is no session {start.session_id!r}")
    return StartOutcome.PROCEED if session.status is SessionStatus.ACTIVE else StartOutcome.STOP


def _check_running(parent: Run) -> None:
    if parent.status is not RunStatus.RUNNING:
        raise RunNotActive(f"parent run {parent.run_id!r} is {parent.status}", run_id=parent.run_id)


def _check_key_free(taken: StoredRecord | None, link: RunRecord) -> None:
    # A link that is equal to what the key holds is refused too: no start of this child stored it.
    if taken is not None:
        raise event_conflict(taken, link)
