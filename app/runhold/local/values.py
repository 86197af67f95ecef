"""Between the client's types and the domain's values, with the field rules that a request body would meet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import runhold_client as client
from runhold.domain import values
from runhold.domain.errors import AccessDenied, Fault, PayloadTooLarge, RefusalError, invalid_field
from runhold.domain.fields import (
    checkpoint_bytes_over,
    id_fault,
    labels_fault,
    payload_bytes_over,
    payload_fault,
    reason_fault,
)
from runhold.domain.limits import CHECKPOINT_BYTES, PAYLOAD_BYTES
from runhold_client.errors import ERRORS, AccessError, ContractError, StoreError, TemporaryError

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@contextmanager
def client_errors() -> Iterator[None]:
    """Raise the client's exception of the same code for each refusal."""
    try:
        yield
    except RefusalError as refusal:
        raise client_error(refusal) from refusal


def client_error(refusal: RefusalError) -> StoreError:
    """Build the client's exception for a refusal; its ``problem`` holds the extension members."""
    problem = {"code": refusal.code, "permanent": refusal.permanent, "detail": refusal.detail, **refusal.members}
    if isinstance(refusal, Fault):
        temporary = ERRORS.get(refusal.code, TemporaryError)
        if issubclass(temporary, TemporaryError):
            return temporary(refusal.detail, problem=problem, retry_after=float(refusal.retry_after))
    fallback = AccessError if isinstance(refusal, AccessDenied) else ContractError
    return ERRORS.get(refusal.code, fallback)(refusal.detail, code=refusal.code, problem=problem)


def checked_id(value: str, pointer: str) -> str:
    """Check an id. Raises: InvalidCommand."""
    fault = id_fault(value)
    if fault is not None:
        raise invalid_field(pointer, fault)
    return value


def checked_reason(value: str) -> str:
    """Check a cancellation reason. Raises: InvalidCommand."""
    fault = reason_fault(value)
    if fault is not None:
        raise invalid_field("/reason", fault)
    return value


def session_time(value: datetime | None, pointer: str) -> values.Microseconds | None:
    """Turn a session's time into microseconds; None when it is missing. Raises: InvalidCommand."""
    if value is None or value == client.NO_TIME:
        return None
    return _microseconds(value, pointer)


def run_time(value: datetime, pointer: str) -> values.Milliseconds:
    """Turn the time of a run or record into milliseconds. Raises: InvalidCommand."""
    microseconds = _microseconds(value, pointer)
    if microseconds % 1000:
        raise invalid_field(pointer, "must not be finer than a millisecond")
    return microseconds // 1000


def _microseconds(value: datetime, pointer: str) -> int:
    if value.tzinfo is None:
        raise invalid_field(pointer, "must have a time zone")
    try:
        return (value.astimezone(UTC) - _EPOCH) // _MICROSECOND
    except OverflowError:
        raise invalid_field(pointer, "must lie in the years 1 to 9999 of UTC") from None


def run_start(start: client.RunStart) -> values.RunStart:
    """Take in a run start. Raises: InvalidCommand."""
    labels = checked_labels(start.labels)
    return values.RunStart(
        agent_id=checked_id(start.agent_id, "/run/agent_id"),
        run_id=checked_id(start.run_id, "/run/run_id"),
        session_id=checked_id(start.session_id, "/run/session_id"),
        parent_run_id=checked_id(start.parent_run_id, "/run/parent_run_id"),
        predecessor_run_id=checked_id(start.predecessor_run_id, "/run/predecessor_run_id"),
        started_at=run_time(start.started_at, "/run/started_at"),
        labels=labels,
    )


def checked_labels(labels: Mapping[str, str]) -> dict[str, str]:
    """Check labels. Raises: InvalidCommand."""
    found = dict(labels)
    fault = labels_fault(found)
    if fault is not None:
        raise invalid_field("/run/labels", fault)
    return found


def run_record(record: client.RunRecord, pointer: str) -> values.RunRecord:
    """Take in a record. Raises: PayloadTooLarge, InvalidCommand."""
    over = payload_bytes_over(record.payload)
    if over is not None:
        raise PayloadTooLarge(
            f"{pointer}/payload is {over} bytes, more than {PAYLOAD_BYTES}", limit=PAYLOAD_BYTES, actual=over
        )
    fault = payload_fault(record.payload)
    if fault is not None:
        raise invalid_field(f"{pointer}/payload", fault)
    return values.RunRecord(
        event_key=checked_id(record.event_key, f"{pointer}/event_key"),
        run_id=checked_id(record.run_id, f"{pointer}/run_id"),
        agent_id=checked_id(record.agent_id, f"{pointer}/agent_id"),
        session_id=checked_id(record.session_id, f"{pointer}/session_id"),
        turn_id=checked_id(record.turn_id, f"{pointer}/turn_id"),
        type=checked_id(record.type, f"{pointer}/type"),
        payload=record.payload,
        timestamp=run_time(record.timestamp, f"{pointer}/timestamp"),
    )


def run_suspension(suspension: client.RunSuspension) -> values.RunSuspension:
    """Take in a checkpoint. Raises: PayloadTooLarge, InvalidCommand."""
    over = checkpoint_bytes_over(suspension.data)
    if over is not None:
        raise PayloadTooLarge(
            f"/suspension/data is {over} bytes, more than {CHECKPOINT_BYTES}", limit=CHECKPOINT_BYTES, actual=over
        )
    return values.RunSuspension(checked_id(suspension.id, "/suspension/id"), bytes(suspension.data))


def to_session(session: values.Session) -> client.Session:
    """Hand out a session."""
    return client.Session(
        session_id=session.session_id,
        status=client.SessionStatus(session.status.value),
        created_at=_EPOCH + timedelta(microseconds=session.created_at),
        ended_at=None if session.ended_at is None else _EPOCH + timedelta(microseconds=session.ended_at),
    )


def to_run(run: values.Run) -> client.RunMeta:
    """Hand out a run's state."""
    return client.RunMeta(
        agent_id=run.agent_id,
        run_id=run.run_id,
        session_id=run.session_id,
        parent_run_id=run.parent_run_id,
        status=client.RunStatus(run.status.value),
        start_outcome=client.StartOutcome(run.start_outcome.value),
        started_at=_instant(run.started_at),
        updated_at=_instant(run.updated_at),
        labels=run.labels,
        cancellation_reason=run.cancellation_reason,
        record_count=run.record_count,
        head_digest=run.head_digest.hex(),
    )


def to_record(stored: values.StoredRecord, payload_bytes: int | None = None) -> client.StoredRecord:
    """Hand out a stored record."""
    record = stored.record
    return client.StoredRecord(
        id=stored.id,
        record=client.RunRecord(
            event_key=record.event_key,
            run_id=record.run_id,
            agent_id=record.agent_id,
            session_id=record.session_id,
            turn_id=record.turn_id,
            type=record.type,
            payload=record.payload,
            timestamp=_instant(record.timestamp),
        ),
        stored_at=_instant(stored.stored_at),
        payload_bytes=payload_bytes,
    )


def to_append(result: values.AppendResult) -> client.AppendResult:
    """Hand out what became of a record."""
    return client.AppendResult(result.id, result.inserted, result.session_status)


def to_optional_append(result: values.AppendResult | None) -> client.AppendResult | None:
    """Hand out what became of a record that may not have been stored."""
    return None if result is None else to_append(result)


def _instant(milliseconds: values.Milliseconds) -> datetime:
    return _EPOCH + timedelta(milliseconds=milliseconds)


def to_repair(result: values.RepairResult) -> client.RepairResult:
    """Hand out what a repair found or did."""
    return client.RepairResult(
        client.RepairOutcome(result.outcome.value),
        client.RunStatus(result.status.value),
        to_optional_append(result.record),
    )
