"""A customer asks for a refund: every part of a run's life, through the client, each claim checked against the service.

The host application creates, ends and purges the session; workers run the agents. What they do is real: the answer that
is lost in chapter 4 is lost by a proxy, after the service has stored what it answers.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from demo.lives import Life
from demo.proxy import LosingProxy, losing_proxy
from demo.teller import DemoError, Teller
from runhold_client import (
    AsyncHttpStore,
    ContractError,
    EventConflict,
    HttpStore,
    Page,
    RunNotFound,
    RunStatus,
    RunSuspension,
    SessionPurged,
    StartOutcome,
    TerminalStatus,
)

Argument = TypeVar("Argument")
Json = dict[str, Any]

_DESK, _FINDER, _WRITER = "support.desk", "support.order_finder", "support.letter_writer"

_PAYLOAD_COLUMNS = 60

_QUESTION = [
    {"role": "system", "parts": [{"kind": "text", "text": "You are the support desk of a bicycle shop."}]},
    {"role": "user", "parts": [{"kind": "text", "text": "My lamp came broken. I would like my €129.90 back."}]},
]
_CALL = {
    "role": "assistant",
    "parts": [{"kind": "tool_use", "id": "call-1", "name": "find_order", "input": {"customer": "c-1001"}}],
}
_FOUND: Json = {"order": "o-77", "item": "lamp", "paid": 129.90}
_RESULT = {
    "role": "user",
    "parts": [{"kind": "tool_result", "tool_use_id": "call-1", "content": _FOUND, "is_error": False}],
}
_REPLY = {"role": "assistant", "parts": [{"kind": "text", "text": "Your €129.90 are on their way back. I am sorry!"}]}


@dataclass
class _Scene:
    """What all chapters share."""

    tell: Teller
    store: HttpStore
    """The worker's and the host's store, by way of the proxy."""
    proxy: LosingProxy
    session_id: str
    desk: Life
    """The run that answers the customer."""


def tell_story(url: str, tell: Teller, key: str | None = None) -> None:
    """Play the story on the service at ``url``, under ids of its own.

    Args:
        url: the service's base URL.
        tell: prints it.
        key: for a service that asks for one; of the role admin, because it plays the host as well.

    Raises:
        DemoError: the service did not do what the story claims.
        StoreError: it refused, or did not answer.
    """
    with losing_proxy(url) as proxy, HttpStore(proxy.url, key) as store:
        session_id = f"refund-{secrets.token_hex(3)}"
        desk = Life(f"{session_id}/desk-1", _DESK, session_id, labels={"customer": "c-1001"})
        scene = _Scene(tell, store, proxy, session_id, desk)
        _create_session(scene)
        _start_run(scene)
        _call_tool(scene, key)
        _lose_answer(scene)
        _suspend(scene)
        _continue(scene)
        _cancel(scene)
        _read_pages(scene)
        _end_session(scene)
        _purge_session(scene)


def _create_session(scene: _Scene) -> None:
    tell, store = scene.tell, scene.store
    tell.chapter("The host creates a session")
    session = store.create_session(scene.session_id)
    tell.did("host", f"created the session {session.session_id}", session.status)
    again = store.create_session(scene.session_id)
    tell.claim(again == session, "created again, it is the same session, unchanged")


def _start_run(scene: _Scene) -> None:
    tell, store, desk = scene.tell, scene.store, scene.desk
    tell.chapter("A worker starts a run, with its transcript")
    begun = store.start_root_run(desk.start, desk.started, desk.stopped)
    tell.did("worker", f"started {desk.run_id} for {desk.agent_id}", f"{begun.outcome}, record {begun.started.id}")
    seeded = store.append_run_record(desk.record("turn-1/seed", "transcript_messages_seeded", _QUESTION, turn="turn-1"))
    tell.did("worker", "seeded the customer's question", f"record {seeded.id}")
    called = store.append_run_record(desk.record("turn-1/call", "transcript_messages_appended", [_CALL], turn="turn-1"))
    tell.did("model", "wants to call find_order", f"record {called.id}")
    tell.claim(
        [begun.started.id, seeded.id, called.id] == ["1", "2", "3"], "positions in a run are 1, 2, 3: without gaps"
    )


def _call_tool(scene: _Scene, key: str | None) -> None:
    tell, store, desk = scene.tell, scene.store, scene.desk
    tell.chapter("The tool call becomes a child run")
    child = Life(f"{desk.run_id}/agent/find_order/call-1", _FINDER, scene.session_id, parent_run_id=desk.run_id)
    link = desk.link(child, "find_order", "call-1")
    begun = store.start_child_run(child.start, link, child.started, child.stopped)
    tell.did("worker", f"started {child.run_id}", f"{begun.outcome}, record {begun.parent_record.id} of the parent")
    before = len(scene.proxy.requests)
    asyncio.run(_look_everywhere(scene.proxy.url, child, key))
    sent = scene.proxy.requests[before:]
    tell.did("child", "looked in three shops at once and wrote down what it found", "records 2, 3, 4")
    tell.claim(sent == ["POST /v1/commands"], f"the async store sent its three commands in {len(sent)} request")
    end = store.record_run_terminal(child.run_id, TerminalStatus.COMPLETED, child.completed)
    tell.did("child", "completed", f"record {end.id}")
    store.append_run_record(desk.record("turn-1/result", "transcript_messages_appended", [_RESULT], turn="turn-1"))
    tell.did("worker", "gave the result to the model", json.dumps(_FOUND))


async def _look_everywhere(url: str, child: Life, key: str | None) -> None:
    async with AsyncHttpStore(url, key) as store:
        shops: dict[str, Json] = {"Bonn": {}, "Köln": {}, "online": _FOUND}
        records = [child.record(f"look/{shop}", "tool_result_received", found) for shop, found in shops.items()]
        await asyncio.gather(*[store.append_run_record(record) for record in records])


def _lose_answer(scene: _Scene) -> None:
    tell, store, desk, proxy = scene.tell, scene.store, scene.desk, scene.proxy
    tell.chapter("An answer is lost on the way")
    note = desk.record("turn-2/note", "planner_note", {"note": "Over €100: a person must agree."}, turn="turn-2")
    proxy.answers_to_lose = 1
    result = store.append_run_record(note)
    tell.did("worker", "appended a note", f"record {result.id}, inserted: {result.inserted}")
    tell.claim(
        proxy.lost == [200] and not result.inserted,
        "the first answer (200) was lost by a proxy; the client repeated the exact command and got the original id",
    )
    stored = [item for item in store.list_run_records(desk.run_id).records if item.record.event_key == note.event_key]
    tell.claim([item.record for item in stored] == [note], "the note is there once, as it was sent")
    other = desk.record("turn-2/note", "planner_note", {"note": "Something else."}, turn="turn-2")
    refusal = _refused(store.append_run_record, other)
    differs = refusal.differs if isinstance(refusal, EventConflict) else ()
    tell.did("worker", "sent something else under the same key", f"{refusal.problem_code}: {', '.join(differs)}")
    tell.claim("payload" in differs, "it was refused, and nothing was written")


def _suspend(scene: _Scene) -> None:
    tell, store, desk = scene.tell, scene.store, scene.desk
    tell.chapter("The run waits for a person")
    asks = {"question": "Refund €129.90 for order o-77?"}
    store.append_run_record(desk.record("turn-2/confirm", "await_confirmation", asks, turn="turn-2"))
    checkpoint = RunSuspension("approval-1", b"\x00\xff all that the worker needs to go on")
    result = store.record_run_suspension(desk.run_id, checkpoint, desk.suspended(checkpoint.id, "approve_refund"))
    tell.did("worker", f"stored its checkpoint of {len(checkpoint.data)} bytes and let go", f"record {result.id}")
    tell.claim(store.load_run(desk.run_id).status is RunStatus.SUSPENDED, "the run is suspended; no process waits")
    tell.claim(store.load_run_suspension(desk.run_id) == checkpoint, "the checkpoint is there, byte for byte")


def _continue(scene: _Scene) -> None:
    tell, store, desk = scene.tell, scene.store, scene.desk
    tell.chapter("The person agrees, and a new run continues")
    again = Life(
        f"{scene.session_id}/desk-2", _DESK, scene.session_id, predecessor_run_id=desk.run_id, labels=desk.labels
    )
    begun = store.start_root_run(again.start, again.started, again.stopped)
    tell.did("worker", f"started {again.run_id}, which continues {desk.run_id}", begun.outcome)
    checkpoint = store.load_run_suspension(desk.run_id)
    tell.did("worker", f"loaded the checkpoint {checkpoint.id}", f"{len(checkpoint.data)} bytes")
    seed = [*_QUESTION, _CALL, _RESULT]
    store.append_run_record(again.record("turn-1/seed", "transcript_messages_seeded", seed, turn="turn-1"))
    reply = again.record("turn-1/reply", "transcript_messages_appended", [_REPLY], turn="turn-1")
    store.append_run_record(reply)
    end = store.record_run_terminal(again.run_id, TerminalStatus.COMPLETED, again.completed)
    tell.did("worker", "answered the customer and completed", f"record {end.id}")
    tell.claim(store.load_run(again.run_id).status is RunStatus.COMPLETED, "the run is completed")
    retry = store.append_run_record(reply)
    late = _refused(store.append_run_record, again.record("turn-9", "planner_note", {}))
    tell.claim(
        not retry.inserted and late.problem_code == "run_not_active",
        "an exact retry still gets its first answer; new work for it is refused as run_not_active",
    )


def _cancel(scene: _Scene) -> None:
    tell, store = scene.tell, scene.store
    tell.chapter("A run is canceled")
    letter = Life(f"{scene.session_id}/letter", _WRITER, scene.session_id)
    store.start_root_run(letter.start, letter.started, letter.stopped)
    tell.did("worker", f"started {letter.run_id}, a letter to the customer", "proceed")
    reason = "the customer asked for no letter"
    store.record_run_cancellation(letter.run_id, reason, letter.intent(reason))
    found = store.load_run(letter.run_id)
    tell.did("desk", "asked for it to stop", f"{found.status}, reason: {found.cancellation_reason}")
    tell.claim(found.status is RunStatus.RUNNING, "it goes on until its worker ends it")
    store.record_run_terminal(letter.run_id, TerminalStatus.CANCELED, letter.canceled(found.cancellation_reason))
    tell.did("worker", "saw the reason, stopped, and said so", store.load_run(letter.run_id).status)


def _read_pages(scene: _Scene) -> None:
    tell, store = scene.tell, scene.store
    tell.chapter("Everything can be read, page by page")
    pages = [store.list_run_records(scene.desk.run_id, limit=4)]
    while pages[-1].next_cursor:
        pages.append(store.list_run_records(scene.desk.run_id, pages[-1].next_cursor, 4))
    tell.did("reader", f"read {scene.desk.run_id} by position", f"{len(pages)} pages of at most 4 records")
    tell.table(("id", "type", "payload"), [(id_, kind, _short(payload)) for id_, _, kind, payload in _rows(pages)])
    pages = [store.list_session_run_records(scene.session_id, limit=8)]
    while pages[-1].next_cursor:
        pages.append(store.list_session_run_records(scene.session_id, pages[-1].next_cursor, 8))
    tell.did("reader", "read the session in commit order, across its runs", f"{len(pages)} pages of at most 8 records")
    tell.table(("id", "run", "type"), [row[:3] for row in _rows(pages)])
    runs = store.list_runs_by_session(scene.session_id).runs
    tell.did("reader", "listed the session's runs", f"{len(runs)}")
    tell.table(("status", "records", "run"), [(run.status, str(run.record_count), run.run_id) for run in runs])
    read = sum(len(page.records) for page in pages)
    tell.claim(read == sum(run.record_count for run in runs), f"the pages hold all {read} records of the runs")


def _rows(pages: list[Page]) -> list[tuple[str, str, str, str]]:
    return [
        (item.id, item.record.run_id, item.record.type, item.record.payload) for page in pages for item in page.records
    ]


def _short(payload: str) -> str:
    return payload if len(payload) <= _PAYLOAD_COLUMNS else payload[: _PAYLOAD_COLUMNS - 1] + "…"


def _end_session(scene: _Scene) -> None:
    tell, store = scene.tell, scene.store
    tell.chapter("The host ends the session")
    ended = store.end_session(scene.session_id)
    tell.did("host", "ended the session", ended.status)
    late = Life(f"{scene.session_id}/late", _DESK, scene.session_id)
    begun = store.start_root_run(late.start, late.started, late.stopped)
    tell.did("worker", "started one more run, too late", begun.outcome)
    found = store.load_run(late.run_id)
    tell.claim(
        begun.outcome is StartOutcome.STOP and found.status is RunStatus.CANCELED,
        f"the worker was told to stop, and the run is {found.status}: {found.cancellation_reason}",
    )


def _purge_session(scene: _Scene) -> None:
    tell, store = scene.tell, scene.store
    tell.chapter("The host purges the session")
    store.purge_session(scene.session_id)
    tell.did("host", "purged the session, with its runs, checkpoints and records")
    gone = _refused(store.load_run, scene.desk.run_id)
    tell.claim(isinstance(gone, RunNotFound), "its runs are not found any more")
    sealed = _refused(store.create_session, scene.session_id)
    tell.claim(isinstance(sealed, SessionPurged), "its id is sealed for ever: session_purged")


def _refused(call: Callable[[Argument], object], argument: Argument) -> ContractError:
    """Do what must be refused, and give back the refusal."""
    try:
        call(argument)
    except ContractError as refusal:
        return refusal
    raise DemoError("what had to be refused was done")
