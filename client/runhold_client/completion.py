"""What a host calls when a workflow has ended, but the last write of its worker may be missing.

The exact record is built from what the engine says and from what is stored, and handed to the repair commands: an end
that is stored already, in these words, is found under whatever key and time it was stored.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from runhold_client.errors import InvalidCommand, UnexpectedAnswer
from runhold_client.recorder import payloads
from runhold_client.recorder.driving import drive, drive_blocking
from runhold_client.recorder.flows import Call, Flow, ask
from runhold_client.recorder.keys import COMPLETED_KEY, SUSPENDED_KEY
from runhold_client.store import AsyncStore, Store
from runhold_client.types import (
    AppendResult,
    Page,
    RepairOutcome,
    RepairResult,
    RunMeta,
    RunRecord,
    RunStatus,
    RunSuspension,
    SessionStatus,
    TerminalStatus,
)

_ATTEMPTS = 3


class PublisherRequired(Exception):
    """The session is active, so somebody may be watching it, and no publisher was given; nothing was written."""


@dataclass(frozen=True, slots=True)
class EngineResult:
    """How a workflow ended, by its engine."""

    status: TerminalStatus
    ended_at: datetime
    """Aware; whole milliseconds. Used when the end is not stored yet."""
    failure: payloads.Failure | None = None
    """Why it failed; exactly when the status is ``failed``."""
    event_key: str = COMPLETED_KEY
    """The key of the record when the end is not stored yet; a recorder's unless told."""
    turn_id: str = ""

    def __post_init__(self) -> None:
        if (self.failure is not None) != (self.status is TerminalStatus.FAILED):
            raise ValueError("a failure is given exactly when the status is failed")


@dataclass(frozen=True, slots=True)
class EngineSuspension:
    """That a workflow was suspended, by its engine."""

    suspension: RunSuspension
    suspended_at: datetime
    """Aware; whole milliseconds. Used when the suspension is not stored yet."""
    version: str = ""
    pending_count: int = 0
    required_tools: Sequence[str] = ()
    event_key: str = SUSPENDED_KEY
    turn_id: str = ""


@dataclass(frozen=True, slots=True)
class Completion:
    """What became of a run's end."""

    outcome: RepairOutcome
    status: RunStatus
    """The run's stored status."""
    record: AppendResult | None
    """``None`` when the run had ended differently."""
    session_is_active: bool
    """Whether the run's session takes new runs; false for a one-shot run."""


def ensure_run_completion(
    store: Store, run_id: str, engine_result: EngineResult, publish: Callable[[RunRecord], object] | None = None
) -> Completion:
    """End a run as its engine says it ended, unless that is stored.

    Args:
        store: where the run is.
        run_id: the run.
        engine_result: how the workflow ended.
        publish: tells the watchers of an active session of the end. It is called with the stored record after every
            ``stored`` and ``already_stored``, as an earlier call may have been cut off before it; so it has to bear
            being called twice.

    Raises: PublisherRequired when the session is active and there is none, before anything is written; RunNotFound,
    SessionPurged; what ``publish`` raises, when the end is stored.
    """
    return drive_blocking(store, _ensure(run_id, _Completing(engine_result), publish))


async def aensure_run_completion(
    store: Store | AsyncStore,
    run_id: str,
    engine_result: EngineResult,
    publish: Callable[[RunRecord], Awaitable[object] | object] | None = None,
) -> Completion:
    """See ``ensure_run_completion``; ``publish`` may be a coroutine function."""
    return await drive(store, _ensure(run_id, _Completing(engine_result), publish))


def ensure_run_suspension(
    store: Store, run_id: str, engine_suspension: EngineSuspension, publish: Callable[[RunRecord], object] | None = None
) -> Completion:
    """Suspend a run as its engine says it was suspended, unless that is stored. See ``ensure_run_completion``."""
    return drive_blocking(store, _ensure(run_id, _Suspending(engine_suspension), publish))


async def aensure_run_suspension(
    store: Store | AsyncStore,
    run_id: str,
    engine_suspension: EngineSuspension,
    publish: Callable[[RunRecord], Awaitable[object] | object] | None = None,
) -> Completion:
    """See ``ensure_run_suspension``; ``publish`` may be a coroutine function."""
    return await drive(store, _ensure(run_id, _Suspending(engine_suspension), publish))


class _Ending(Protocol):
    """One way to stop a run."""

    def record(self, meta: RunMeta) -> RunRecord:
        """The record that says so."""
        ...

    def repair(self, run_id: str, record: RunRecord) -> Flow[RepairResult]:
        """Store it, or tell what is stored."""
        ...


@dataclass(frozen=True)
class _Completing:
    result: EngineResult

    def record(self, meta: RunMeta) -> RunRecord:
        result = self.result
        if result.status is TerminalStatus.CANCELED:
            reason = meta.cancellation_reason or payloads.ENGINE_CANCELED
            payload = payloads.run_canceled(meta.labels, reason)
        elif result.failure is not None:
            payload = payloads.run_failed(meta.labels, result.failure)
        else:
            payload = payloads.run_succeeded(meta.labels)
        return _record(meta, result.event_key, payloads.RUN_COMPLETED, payload, result.ended_at, result.turn_id)

    def repair(self, run_id: str, record: RunRecord) -> Flow[RepairResult]:
        answer: RepairResult = yield from ask("repair_run_terminal", run_id, self.result.status, record)
        return answer


@dataclass(frozen=True)
class _Suspending:
    result: EngineSuspension

    def record(self, meta: RunMeta) -> RunRecord:
        result = self.result
        payload = payloads.run_suspended(
            result.suspension.id, result.version, result.pending_count, result.required_tools
        )
        return _record(meta, result.event_key, payloads.RUN_SUSPENDED, payload, result.suspended_at, result.turn_id)

    def repair(self, run_id: str, record: RunRecord) -> Flow[RepairResult]:
        answer: RepairResult = yield from ask("repair_run_suspension", run_id, self.result.suspension, record)
        return answer


def _record(meta: RunMeta, key: str, record_type: str, payload: str, at: datetime, turn_id: str) -> RunRecord:
    return RunRecord(key, meta.run_id, meta.agent_id, record_type, payload, at, meta.session_id, turn_id)


def _ensure(run_id: str, ending: _Ending, publish: Callable[[RunRecord], Any] | None) -> Flow[Completion]:
    meta: RunMeta = yield from ask("load_run", run_id)
    is_active = False
    if meta.session_id:
        is_active = (yield from ask("load_session_status", meta.session_id)) is SessionStatus.ACTIVE
    if is_active and publish is None:
        raise PublisherRequired(f"session {meta.session_id!r} of run {run_id!r} is active, and no publisher was given")
    record, result = yield from _repair(meta, ending)
    if is_active and publish is not None and result.outcome is not RepairOutcome.DIFFERENT_TERMINAL:
        yield Call(lambda: publish(record))
    return Completion(result.outcome, result.status, result.record, is_active)


def _repair(meta: RunMeta, ending: _Ending) -> Flow[tuple[RunRecord, RepairResult]]:
    """Repair from what was read; once more when a late worker or a cancellation came in between."""
    for _ in range(_ATTEMPTS):
        record = yield from _same_as_stored(meta, ending.record(meta))
        try:
            result = yield from ending.repair(meta.run_id, record)
        except InvalidCommand:
            latest: RunMeta = yield from ask("load_run", meta.run_id)
            if latest.cancellation_reason == meta.cancellation_reason:
                raise
        else:
            if result.outcome is not RepairOutcome.DIFFERENT_TERMINAL or meta.status.is_terminal:
                return record, result
            latest = yield from ask("load_run", meta.run_id)
        meta = latest
    raise UnexpectedAnswer(f"run {meta.run_id!r} changed with every look at it")


def _same_as_stored(meta: RunMeta, record: RunRecord) -> Flow[RunRecord]:
    """The stored end, when it says what the record says; else the record."""
    if not meta.status.is_terminal:
        return record
    # Nothing is ever stored behind the record that stopped a run.
    cursor = str(meta.record_count - 1)
    page: Page = yield from ask("list_run_records", meta.run_id, cursor, 1)
    if not page.records:
        raise UnexpectedAnswer(f"run {meta.run_id!r} has stopped without a record of it")
    stored = page.records[0].record
    if stored.type != record.type or not payloads.says_the_same(stored.payload, record.payload):
        return record
    return stored
