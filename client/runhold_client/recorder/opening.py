"""Flows that open a run: read what is stored, then start it, or start it again exactly as it was started."""

from __future__ import annotations

from dataclasses import dataclass, replace

from runhold_client.errors import ContractError, EventConflict, RunConflict, RunNotFound, UnexpectedAnswer
from runhold_client.recorder import payloads
from runhold_client.recorder.flows import Flow, ask, read_records
from runhold_client.recorder.keys import STARTED_KEY, STOPPED_KEY
from runhold_client.recorder.log import Clock, RunLog
from runhold_client.types import AppendResult, RunMeta, RunRecord, RunStart


@dataclass(frozen=True, slots=True)
class Link:
    """Where a child hangs: the parent's log, and what the link there says."""

    parent: RunLog
    event_key: str
    tool_name: str
    tool_call_id: str


def start_run(start: RunStart, clock: Clock, turn_id: str, link: Link | None = None) -> Flow[RunLog]:
    """Open a run, new or begun. ``started_at`` is the clock's when the run is new, else what is stored."""
    log = RunLog(start, clock, turn_id)
    log.start = replace(start, started_at=log.now())
    if link is not None:
        link.parent.check_usable(link.event_key)
    exists = yield from _read_if_exists(log)
    if exists:
        log.start = replace(start, started_at=_started(log).timestamp)
    started = _started_record(log)
    canceled = _canceled_record(log, started)
    try:
        yield from _send_start(log, started, canceled, link, exists)
    except (RunConflict, EventConflict) as error:
        if link is not None and isinstance(error, EventConflict) and error.run_id == link.parent.start.run_id:
            raise link.parent.taken_over(link.event_key) from error
        if exists:
            raise
        raise log.taken_over(started.event_key) from error
    except ContractError:
        if link is not None:
            link.parent.forget(link.event_key)
        raise
    return log


def reopen_run(run_id: str, clock: Clock, turn_id: str) -> Flow[RunLog]:
    """Open a run that exists, whoever started it. Raises: RunNotFound."""
    meta: RunMeta = yield from ask("load_run", run_id)
    start = RunStart(
        agent_id=meta.agent_id,
        run_id=run_id,
        started_at=meta.started_at,
        session_id=meta.session_id,
        parent_run_id=meta.parent_run_id,
        labels=meta.labels,
    )
    log = RunLog(start, clock, turn_id, meta.start_outcome)
    yield from read_records(log)
    predecessor = payloads.predecessor_run_id(_started(log).payload)
    log.start = replace(start, predecessor_run_id=predecessor)
    return log


def _read_if_exists(log: RunLog) -> Flow[bool]:
    try:
        yield from read_records(log)
    except RunNotFound:
        return False
    return True


def _started(log: RunLog) -> RunRecord:
    started = log.find_type(payloads.RUN_STARTED)
    if started is None:
        raise UnexpectedAnswer(f"run {log.start.run_id!r} has no run_started record")
    return started


def _started_record(log: RunLog) -> RunRecord:
    stored = log.find_type(payloads.RUN_STARTED)
    payload = payloads.run_started(log.start)
    if stored is not None and payloads.says_the_same(stored.payload, payload):
        payload = stored.payload
    record = log.draft(stored.event_key if stored else STARTED_KEY, payloads.RUN_STARTED, payload)
    return replace(record, timestamp=log.start.started_at)


def _canceled_record(log: RunLog, started: RunRecord) -> RunRecord:
    """The record that the start stores, too, when the session has ended."""
    payload = payloads.run_canceled(log.start.labels, payloads.SESSION_ENDED)
    stored = _stored_stop(log)
    if stored is not None:
        if payloads.says_the_same(stored.payload, payload):
            payload = stored.payload
        return replace(stored, payload=payload)
    key = STOPPED_KEY if started.event_key != STOPPED_KEY else STARTED_KEY
    return replace(started, event_key=key, type=payloads.RUN_COMPLETED, payload=payload)


def _stored_stop(log: RunLog) -> RunRecord | None:
    # A start that stops stores its end right behind run_started. Any other end with that reason has at least the record
    # of a cancellation before it.
    second = log.records[1:2]
    if not second or second[0].type != payloads.RUN_COMPLETED:
        return None
    stopped = payloads.cancellation_reason(second[0].payload) == payloads.SESSION_ENDED
    return second[0] if stopped else None


def _send_start(log: RunLog, started: RunRecord, canceled: RunRecord, link: Link | None, exists: bool) -> Flow[None]:
    linked = _linked_record(log, link, exists) if link else None
    before = () if linked is None else (linked,)
    if log.start.session_id:
        operation = "start_root_run" if linked is None else "start_child_run"
        result = yield from ask(operation, log.start, *before, started, canceled)
        log.outcome = result.outcome
        stored: AppendResult = result.started
        if result.canceled is not None:
            log.add(result.canceled.id, canceled)
    else:
        operation = "start_one_shot_run" if linked is None else "start_one_shot_child_run"
        result = yield from ask(operation, log.start, *before, started)
        stored = result.record if linked is None else result.started
    log.add(stored.id, started)
    if link is not None and linked is not None:
        link.parent.add(result.parent_record.id, linked)


def _linked_record(log: RunLog, link: Link, exists: bool) -> RunRecord:
    parent, start = link.parent, log.start
    payload = payloads.child_run_linked(link.tool_name, link.tool_call_id, start)
    stored = parent.find(link.event_key)
    if stored is None and parent.unanswered(link.event_key) is None:
        if exists:
            raise parent.taken_over(link.event_key)
        parent.check_active(link.event_key)
    if stored is not None:
        if stored.type != payloads.CHILD_RUN_LINKED:
            raise parent.mismatch(stored, f"is stored as {stored.type!r}, not the start of a child run")
        if payloads.says_the_same(stored.payload, payload):
            payload = stored.payload
    return parent.draft(link.event_key, payloads.CHILD_RUN_LINKED, payload)
