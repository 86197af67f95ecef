"""The rules of appending ordinary records. Source: the storage contract, ``append_run_record``."""

from __future__ import annotations

from runhold.domain.errors import RunNotActive, RunNotFound, invalid_field
from runhold.domain.payloads import LIFECYCLE_TYPES
from runhold.domain.records import check_owner, check_same, check_shape
from runhold.domain.values import Run, RunRecord, RunStatus, StoredRecord


def validate_append(run_id: str, record: RunRecord) -> None:
    """Check what an append says about itself.

    Raises:
        InvalidCommand: a missing field, another run than the path's, or a lifecycle type.
    """
    check_shape(record, "")
    if record.run_id != run_id:
        raise invalid_field("/run_id", "must be the run of the path")
    if record.type in LIFECYCLE_TYPES:
        raise invalid_field("/type", "is a lifecycle type, which only its own command stores")


def require_run(run: Run | None, run_id: str) -> Run:
    """Find the run of a command; a purged one is not found.

    Raises:
        RunNotFound: there is none.
    """
    if run is None or run.status is RunStatus.PURGED:
        raise RunNotFound(f"there is no run {run_id!r}")
    return run


def decide_append(record: RunRecord, run: Run, stored: StoredRecord | None) -> StoredRecord | None:
    """Decide whether a record is new (None), an exact retry (what is stored), or refused.

    Args:
        record: whole, of an ordinary type.
        run: read under its lock.
        stored: what the event key holds already, if anything.

    Raises:
        RunRecordOwnerMismatch: another agent or session than the run's.
        EventConflict: the key holds other content.
        RunNotActive: the run has stopped, and this would be new work for it.
    """
    check_owner(record, run.run_id, run.agent_id, run.session_id)
    if stored is not None:
        # Ahead of the status check: a worker whose reply was lost may come back only after the run is over, and it must
        # still get its first answer.
        check_same(stored, record)
        return stored
    if run.status.is_terminal:
        raise RunNotActive(f"run {run.run_id!r} is {run.status}", run_id=run.run_id)
    return None
