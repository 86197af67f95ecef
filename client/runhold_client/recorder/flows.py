"""What a recorder does, step by step, without saying how a store is asked.

A flow is a generator: it yields what is to be asked of the store (``Ask``) or called (``Call``), gets the answer or the
error, and returns its result. ``driving`` runs flows over both kinds of stores, so that every rule is written once.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from runhold_client.errors import ContractError, EventConflict, UnexpectedAnswer
from runhold_client.recorder.codecs import Codec
from runhold_client.recorder.log import RunLog
from runhold_client.types import AppendResult, Page, RunRecord

T = TypeVar("T")
PAGE_SIZE = 1000


@dataclass(frozen=True, slots=True)
class Ask:
    """An operation of the store, by its name in the contract."""

    operation: str
    arguments: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """Work of the caller's own, such as asking a model."""

    function: Callable[[], object]


Flow: TypeAlias = Generator[Ask | Call, Any, T]


def ask(operation: str, *arguments: object) -> Flow[Any]:
    """Ask the store for one operation."""
    return (yield Ask(operation, arguments))


def read_records(log: RunLog) -> Flow[None]:
    """Read all records of the log's run.

    Raises: RunNotFound; UnexpectedAnswer when a page does not move forward.
    """
    cursor, position, run_id = "", 0, log.start.run_id
    while True:
        page: Page = yield from ask("list_run_records", run_id, cursor, PAGE_SIZE)
        for stored in page.records:
            if stored.record.run_id != run_id or int(stored.id) <= position:
                raise UnexpectedAnswer(f"a page of run {run_id!r} does not move forward")
            position = int(stored.id)
        log.add_all(page.records)
        if not page.next_cursor:
            return
        if page.next_cursor == cursor or not page.records:
            raise UnexpectedAnswer(f"a page of run {run_id!r} does not move forward")
        cursor = page.next_cursor


def step(
    log: RunLog, event_key: str, call: Callable[[], object], record_type: str, codec: Codec[Any], turn_id: str | None
) -> Flow[Any]:
    """The stored value of a step, or else call, store and return."""
    log.check_usable(event_key)
    stored = log.find(event_key)
    if stored is None:
        with log.under_way(event_key):
            stored = yield from _call_and_append(log, event_key, call, record_type, codec, turn_id)
    elif stored.type != record_type:
        raise log.mismatch(stored, f"is stored as {stored.type!r}, not {record_type!r}")
    try:
        return codec.decode(stored.payload)
    except ValueError as error:
        raise log.mismatch(stored, f"does not decode: {error}") from error


def _call_and_append(
    log: RunLog, event_key: str, call: Callable[[], object], record_type: str, codec: Codec[Any], turn_id: str | None
) -> Flow[RunRecord]:
    log.check_active(event_key)
    # What an earlier attempt sent without an answer may be stored: only the very same record settles it.
    record = log.unanswered(event_key)
    if record is None:
        value = yield Call(call)
        record = log.draft(event_key, record_type, codec.encode(value), turn_id)
    yield from append(log, record)
    return record


def fact(log: RunLog, event_key: str, record_type: str, payload: str, turn_id: str | None) -> Flow[RunRecord]:
    """Store a record whose content is known beforehand, unless it is stored."""
    log.check_usable(event_key)
    stored = log.find(event_key)
    if stored is not None:
        log.check_same(stored, record_type, payload, turn_id)
        return stored
    with log.under_way(event_key):
        log.check_active(event_key)
        record = log.draft(event_key, record_type, payload, turn_id)
        yield from append(log, record)
    return record


def append(log: RunLog, record: RunRecord) -> Flow[AppendResult]:
    """Send a record whose key was free when the run was read.

    Raises: RecorderConflict when the key is taken by now; what else the store refuses.
    """
    result: AppendResult = yield from send(log, record, "append_run_record", record)
    return result


def send(log: RunLog, record: RunRecord, operation: str, *arguments: object) -> Flow[Any]:
    """Send a command that stores one record of this run, and remember the record when it is acknowledged.

    After a temporary error the record is kept, so that the next attempt sends the same one.
    """
    known = log.find(record.event_key) is not None
    try:
        result = yield from ask(operation, *arguments)
    except EventConflict as error:
        log.forget(record.event_key)
        if known:
            raise
        raise log.taken_over(record.event_key) from error
    except ContractError:
        log.forget(record.event_key)
        raise
    log.add(result.id, record)
    return result
