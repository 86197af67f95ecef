"""The rules of cancelling, suspending and ending runs, and of repairing them.

Source: the storage contract, ``record_run_cancellation``, ``record_run_suspension``, ``record_run_terminal``, repairs.
"""

from __future__ import annotations

from runhold.domain.errors import (
    RunCancellationConflict,
    RunNotActive,
    RunSuspensionConflict,
    RunTerminalConflict,
    invalid_field,
)
from runhold.domain.payloads import (
    CANCELLATION_INTENT,
    ENGINE_CANCELED,
    RUN_COMPLETED,
    RUN_SUSPENDED,
    decode_cancellation_intent,
    decode_run_completed,
    decode_run_suspended,
)
from runhold.domain.records import check_owner, check_same, check_shape, typed_payload
from runhold.domain.values import Run, RunRecord, RunStatus, RunSuspension, StoredRecord

_RECORD = "/record"
_STATUS = {RunStatus.COMPLETED: "success", RunStatus.FAILED: "failed", RunStatus.CANCELED: "canceled"}


def validate_cancellation(run: Run, reason: str, record: RunRecord) -> None:
    """Check a cancellation against the run it is for.

    Raises:
        InvalidCommand, RunRecordOwnerMismatch: the first rule of the contract's list that it breaks.
    """
    if not reason:
        raise invalid_field("/reason", "must be present")
    check_shape(record, _RECORD)
    check_owner(record, run.run_id, run.agent_id, run.session_id)
    if typed_payload(record, CANCELLATION_INTENT, decode_cancellation_intent, _RECORD) != reason:
        raise invalid_field("/record/payload", "must hold the command's reason")


def decide_cancellation(run: Run, reason: str, record: RunRecord, stored: StoredRecord | None) -> StoredRecord | None:
    """Decide whether a cancellation is new (None), an exact retry (what is stored), or refused.

    Raises:
        RunCancellationConflict: another reason is recorded, or this one under another key.
        EventConflict: the key holds another record.
        RunNotActive: none is recorded and the run has stopped.
    """
    if run.cancellation_reason and run.cancellation_reason != reason:
        raise RunCancellationConflict(f"run {run.run_id!r} has another cancellation reason", run_id=run.run_id)
    if stored is not None:
        check_same(stored, record)
        return stored
    if not run.cancellation_reason:
        if run.status.is_terminal:
            raise RunNotActive(f"run {run.run_id!r} is {run.status}", run_id=run.run_id)
        return None
    raise RunCancellationConflict(
        f"the cancellation of run {run.run_id!r} is recorded under another key", run_id=run.run_id
    )


def validate_suspension(run: Run, suspension: RunSuspension, record: RunRecord) -> None:
    """Check a suspension against the run it is for.

    Raises:
        InvalidCommand, RunRecordOwnerMismatch: the first rule of the contract's list that it breaks.
    """
    if not suspension.id:
        raise invalid_field("/suspension/id", "must be present")
    if not suspension.data:
        raise invalid_field("/suspension/data", "must be present")
    check_shape(record, _RECORD)
    payload = typed_payload(record, RUN_SUSPENDED, decode_run_suspended, _RECORD)
    check_owner(record, run.run_id, run.agent_id, run.session_id)
    if payload.suspension_id != suspension.id:
        raise invalid_field("/record/payload", "must hold the suspension's id")


def decide_suspension(
    run: Run,
    suspension: RunSuspension,
    record: RunRecord,
    checkpoint: RunSuspension | None,
    stored: StoredRecord | None,
) -> StoredRecord | None:
    """Decide whether a suspension is new (None), an exact retry (what is stored), or refused.

    Args:
        run: read under its lock.
        suspension: what the command brings.
        record: its record.
        checkpoint: the run's stored checkpoint, if any.
        stored: what the event key holds already, if anything.

    Raises:
        RunTerminalConflict: the run has ended in another way.
        RunSuspensionConflict: another checkpoint is stored, or this one under another key.
        EventConflict: the key holds another record.
    """
    if run.status.is_terminal and run.status is not RunStatus.SUSPENDED:
        raise _ended(run)
    if run.status is RunStatus.SUSPENDED and checkpoint != suspension:
        raise RunSuspensionConflict(f"run {run.run_id!r} is suspended with another checkpoint", run_id=run.run_id)
    if stored is not None:
        check_same(stored, record)
        return stored
    if run.status is RunStatus.SUSPENDED:
        raise RunSuspensionConflict(
            f"the suspension of run {run.run_id!r} is recorded under another key", run_id=run.run_id
        )
    return None


def validate_terminal(run: Run, status: RunStatus, record: RunRecord) -> None:
    """Check an ending against the run it is for.

    Raises:
        InvalidCommand, RunRecordOwnerMismatch: the first rule of the contract's list that it breaks.
    """
    check_shape(record, _RECORD)
    payload = typed_payload(record, RUN_COMPLETED, decode_run_completed, _RECORD)
    check_owner(record, run.run_id, run.agent_id, run.session_id)
    if payload.status != _STATUS[status] or payload.phase != status.value:
        raise invalid_field("/record/payload", "must have the command's status and its phase")
    if payload.labels != run.labels:
        raise invalid_field("/record/payload", "must carry the run's labels")
    if status is RunStatus.CANCELED and payload.reason != (run.cancellation_reason or ENGINE_CANCELED):
        raise invalid_field(
            "/record/payload", f"must hold the run's cancellation reason, or {ENGINE_CANCELED} when it has none"
        )


def decide_terminal(run: Run, status: RunStatus, record: RunRecord, stored: StoredRecord | None) -> StoredRecord | None:
    """Decide whether an ending is new (None), an exact retry (what is stored), or refused.

    Raises:
        RunTerminalConflict: the run has ended in another way, or in this one under another key.
        EventConflict: the key holds another record.
    """
    if run.status.is_terminal and run.status is not status:
        raise _ended(run)
    if stored is not None:
        check_same(stored, record)
        return stored
    if run.status.is_terminal:
        raise RunTerminalConflict(f"the end of run {run.run_id!r} is recorded under another key", run_id=run.run_id)
    return None


def _ended(run: Run) -> RunTerminalConflict:
    return RunTerminalConflict(f"run {run.run_id!r} is {run.status}", run_id=run.run_id)
