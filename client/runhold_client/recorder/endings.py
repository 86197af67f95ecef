"""Flows that stop a run: cancellation, suspension, and the three ways to end it."""

from __future__ import annotations

from collections.abc import Sequence

from runhold_client.errors import InvalidCommand
from runhold_client.recorder import payloads
from runhold_client.recorder.flows import Flow, ask, send
from runhold_client.recorder.keys import CANCELLATION_KEY, COMPLETED_KEY, SUSPENDED_KEY
from runhold_client.recorder.log import RunLog
from runhold_client.types import RunMeta, RunRecord, RunSuspension, TerminalStatus


def cancel(log: RunLog, reason: str) -> Flow[None]:
    """Record, once, why the run should stop."""
    log.check_usable(CANCELLATION_KEY)
    record = _lifecycle_record(
        log, payloads.CANCELLATION_INTENT, CANCELLATION_KEY, payloads.cancellation_intent(reason)
    )
    yield from send(log, record, "record_run_cancellation", log.start.run_id, reason, record)


def cancellation_reason(log: RunLog) -> Flow[str]:
    """The reason recorded for the run by now, ``""`` when there is none."""
    log.check_usable()
    meta: RunMeta = yield from ask("load_run", log.start.run_id)
    return meta.cancellation_reason


def suspend(
    log: RunLog, suspension: RunSuspension, version: str, pending_count: int, required_tools: Sequence[str]
) -> Flow[None]:
    """Store the checkpoint and suspend the run."""
    log.check_usable(SUSPENDED_KEY)
    payload = payloads.run_suspended(suspension.id, version, pending_count, required_tools)
    record = _lifecycle_record(log, payloads.RUN_SUSPENDED, SUSPENDED_KEY, payload)
    yield from send(log, record, "record_run_suspension", log.start.run_id, suspension, record)


def checkpoint(log: RunLog) -> Flow[RunSuspension]:
    """The checkpoint of the run that this one continues."""
    log.check_usable()
    suspension: RunSuspension = yield from ask("load_run_suspension", log.start.predecessor_run_id)
    return suspension


def finish(log: RunLog, failure: payloads.Failure | None) -> Flow[None]:
    """End the run as completed, or as failed."""
    status = TerminalStatus.COMPLETED if failure is None else TerminalStatus.FAILED
    labels = log.start.labels
    payload = payloads.run_succeeded(labels) if failure is None else payloads.run_failed(labels, failure)
    yield from _end(log, status, payload)


def finish_canceled(log: RunLog) -> Flow[None]:
    """End the run as canceled, for the reason that is recorded, or ``engine_canceled`` when there is none."""
    reason = yield from cancellation_reason(log)
    while True:
        payload = payloads.run_canceled(log.start.labels, reason or payloads.ENGINE_CANCELED)
        try:
            return (yield from _end(log, TerminalStatus.CANCELED, payload))
        except InvalidCommand:
            # A reason is recorded at most once: when it came in between, the end has to name it.
            latest = yield from cancellation_reason(log)
            if latest == reason:
                raise
            reason = latest


def _end(log: RunLog, status: TerminalStatus, payload: str) -> Flow[None]:
    log.check_usable(COMPLETED_KEY)
    record = _lifecycle_record(log, payloads.RUN_COMPLETED, COMPLETED_KEY, payload)
    yield from send(log, record, "record_run_terminal", log.start.run_id, status, record)


def _lifecycle_record(log: RunLog, record_type: str, event_key: str, payload: str) -> RunRecord:
    """The record of this type: what is stored lends its key, its time, and its spelling when it says the same."""
    stored = log.find_type(record_type)
    if stored is None:
        return log.draft(event_key, record_type, payload)
    same = payloads.says_the_same(stored.payload, payload)
    return log.draft(stored.event_key, record_type, stored.payload if same else payload)
