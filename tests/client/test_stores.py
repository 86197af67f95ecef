"""Both stores against a running service: every operation, every option, ids of any spelling."""

from __future__ import annotations

import asyncio
import base64
import inspect
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from runhold_client import (
    AppendResult,
    AsyncHttpStore,
    AsyncSessionAdmin,
    AsyncStore,
    ContractError,
    EventConflict,
    HttpStore,
    InvalidCursor,
    InvalidLimit,
    RepairOutcome,
    RunNotActive,
    RunNotFound,
    RunPurged,
    RunStatus,
    RunSuspension,
    SessionAdmin,
    SessionEnded,
    SessionPurged,
    SessionStatus,
    StartOutcome,
    Store,
    TerminalStatus,
    aiter_run_records,
    aiter_runs,
    aiter_runs_by_session,
    aiter_session_run_records,
    aiter_sessions,
    iter_run_records,
    iter_runs,
    iter_runs_by_session,
    iter_session_run_records,
    iter_sessions,
)
from tests.client.stories import AT, ARun, fresh

ODD_IDS = [
    "/",
    "a/b",
    "..",
    ".",
    "~",
    "~a",
    "%2F",
    "a b",
    "k?x#y",
    "é😀",
    "\\",
    "a\nb",
    "records",
    "root",
    "+&=;,",
    " ",
]


def started_run(store: Any, **changes: Any) -> ARun:
    """A running run of an active session."""
    session_id = changes.pop("session_id", None) or fresh("session")
    store.create_session(session_id)
    run = ARun(session_id, **changes)
    assert store.start_root_run(run.start, run.started, run.canceled).outcome is StartOutcome.PROCEED
    return run


def test_a_run_from_its_start_to_its_end(store: Any) -> None:
    run = started_run(store, labels={"team": "blue", "é\x00": "=/&"})
    meta = store.load_run(run.run_id)
    assert (meta.status, meta.labels, meta.started_at) == (RunStatus.RUNNING, run.labels, AT)
    assert (meta.record_count, meta.cancellation_reason, len(meta.head_digest)) == (1, "", 64)

    first = store.append_run_record(run.note("n1", turn_id="turn"))
    assert first == AppendResult("2", True, "active")
    assert store.append_run_record(run.note("n1", turn_id="turn")) == AppendResult("2", False, "active")
    with pytest.raises(EventConflict) as conflict:
        store.append_run_record(run.note("n1", "else", turn_id="turn"))
    assert (conflict.value.run_id, conflict.value.event_key) == (run.run_id, "n1")
    assert conflict.value.differs == ("payload",)

    assert store.record_run_cancellation(run.run_id, "user", run.intent("user")).id == "3"
    assert store.load_run(run.run_id).cancellation_reason == "user"
    assert store.record_run_terminal(run.run_id, TerminalStatus.COMPLETED, run.completed()).id == "4"
    with pytest.raises(RunNotActive):
        store.append_run_record(run.note("n2"))
    assert store.append_run_record(run.note("n1", turn_id="turn")).inserted is False
    repaired = store.repair_run_terminal(run.run_id, TerminalStatus.COMPLETED, run.completed())
    assert (repaired.outcome, repaired.status) == (RepairOutcome.ALREADY_STORED, RunStatus.COMPLETED)

    page = store.list_run_records(run.run_id)
    assert [stored.record for stored in page.records] == [
        run.started,
        run.note("n1", turn_id="turn"),
        run.intent("user"),
        run.completed(),
    ]
    assert [stored.id for stored in page.records] == ["1", "2", "3", "4"]
    assert (page.next_cursor, page.end_cursor) == ("", "4")


def test_a_child_under_its_parent_and_a_start_that_stops(store: Any) -> None:
    parent = started_run(store)
    child = ARun(parent.session_id, run_id=f"{parent.run_id}/agent/search/call-1", parent_run_id=parent.run_id)
    command = (child.start, parent.linked(child), child.started, child.canceled)
    result = store.start_child_run(*command)
    assert (result.outcome, result.parent_record.id, result.started.id) == (StartOutcome.PROCEED, "2", "1")
    assert result.canceled is None
    assert store.start_child_run(*command).started.inserted is False

    assert store.end_session(parent.session_id).status is SessionStatus.ENDED
    assert store.load_session_status(parent.session_id) is SessionStatus.ENDED
    late = ARun(parent.session_id, parent_run_id=parent.run_id)
    stopped = store.start_child_run(late.start, parent.linked(late), late.started, late.canceled)
    assert stopped.outcome is StartOutcome.STOP
    assert stopped.canceled == AppendResult("2", True, "ended")
    assert store.load_run(late.run_id).start_outcome is StartOutcome.STOP


def test_a_suspended_run_and_its_continuation(store: Any) -> None:
    run = started_run(store)
    checkpoint = RunSuspension("checkpoint/1", bytes(range(256)))
    stored = store.record_run_suspension(run.run_id, checkpoint, run.suspended("checkpoint/1"))
    assert stored == AppendResult("2", True, "active")
    assert store.load_run_suspension(run.run_id) == checkpoint
    again = store.repair_run_suspension(run.run_id, checkpoint, run.suspended("checkpoint/1"))
    assert (again.outcome, again.status) == (RepairOutcome.ALREADY_STORED, RunStatus.SUSPENDED)
    other = store.repair_run_terminal(run.run_id, TerminalStatus.COMPLETED, run.completed())
    assert (other.outcome, other.record) == (RepairOutcome.DIFFERENT_TERMINAL, None)

    successor = ARun(run.session_id, predecessor_run_id=run.run_id)
    assert store.start_root_run(successor.start, successor.started, successor.canceled).started.id == "1"


def test_one_shot_runs_and_their_purge(store: Any) -> None:
    run = ARun("")
    child = ARun("", parent_run_id=run.run_id)
    assert store.start_one_shot_run(run.start, run.started).record == AppendResult("1", True, "")
    linked = store.start_one_shot_child_run(child.start, run.linked(child), child.started)
    assert (linked.parent_record.id, linked.started.id) == ("2", "1")
    for one in (child, run):
        store.record_run_terminal(one.run_id, TerminalStatus.COMPLETED, one.completed())
    store.purge_one_shot_run(run.run_id)
    store.purge_one_shot_run(run.run_id)
    with pytest.raises(RunNotFound):
        store.load_run(child.run_id)
    with pytest.raises(RunPurged):
        store.start_one_shot_run(run.start, run.started)


def test_a_session_from_its_creation_to_its_purge(store: Any) -> None:
    created_at = datetime(2026, 3, 1, 15, 30, 0, 123_456, timezone(timedelta(hours=5, minutes=30)))
    session_id = fresh("session/")
    session = store.create_session(session_id, created_at)
    assert (session.session_id, session.status, session.created_at) == (session_id, "active", created_at)
    assert session.created_at.tzinfo is UTC
    assert session.ended_at is None
    assert store.create_session(session_id, created_at + timedelta(days=1)) == session == store.load_session(session_id)
    ended = store.end_session(session_id, created_at - timedelta(days=1))
    assert ended.ended_at == created_at - timedelta(days=1)
    assert store.end_session(session_id) == ended
    with pytest.raises(SessionEnded):
        store.create_session(session_id)
    store.purge_session(session_id)
    store.purge_session(session_id)
    with pytest.raises(SessionPurged):
        store.load_session(session_id)


@pytest.mark.parametrize("id_", ODD_IDS, ids=ascii)
def test_ids_of_any_spelling_work_through_every_route(store: Any, id_: str) -> None:
    unique = fresh("")
    session_id, run_id = id_ + unique, id_ + "run" + unique
    if id_ in (".", "..", "/", "~", " "):
        # Alone they are what a path mangles most; other tests of this database may have used them before.
        session_id = id_
        try:
            store.create_session(session_id)
        except SessionEnded:
            pass
        except SessionPurged:
            session_id = id_ + unique
    run = started_run(store, session_id=session_id, run_id=run_id)
    store.append_run_record(run.note(id_))
    assert store.load_run(run_id).session_id == session_id
    assert [stored.record.event_key for stored in store.list_run_records(run_id).records] == ["started", id_]
    assert run_id in [one.run_id for one in store.list_runs_by_session(session_id).runs]
    assert [one.run_id for one in store.list_runs(session_id=session_id, agent_id=run.agent_id).runs][-1] is not None
    store.record_run_cancellation(run_id, id_, run.intent(id_))
    checkpoint = RunSuspension(id_, b"\x00")
    store.record_run_suspension(run_id, checkpoint, run.suspended(id_))
    assert store.load_run_suspension(run_id) == checkpoint
    assert store.load_session(session_id).session_id == session_id
    assert store.load_session_status(session_id) is SessionStatus.ACTIVE
    assert store.list_session_run_records(session_id, limit=1).records[0].record.session_id == session_id


def test_lists_of_records_take_every_option(store: Any) -> None:
    run = started_run(store)
    for number in range(6):
        record = run.record(f"k{number}", f"type/{number % 2}", {"n": number}, turn_id=f"turn {number % 3}")
        store.append_run_record(record)

    def ids(page: Any) -> list[str]:
        return [stored.id for stored in page.records]

    for read, of in ((store.list_run_records, run.run_id), (store.list_session_run_records, run.session_id)):
        first = read(of, limit=3)
        assert (ids(first), bool(first.next_cursor)) == (["1", "2", "3"], True)
        assert ids(read(of, first.next_cursor, 3)) == ["4", "5", "6"]
        assert ids(read(of, order="desc", limit=2)) == ["7", "6"]
        assert ids(read(of, types=["type/1"])) == ["3", "5", "7"]
        assert ids(read(of, turn_ids=["turn 0", "turn 2"])) == ["2", "4", "5", "7"]
        assert ids(read(of, types=["type/0"], turn_ids=["turn 0"])) == ["2"]
        summary = read(of, view="summary").records[1]
        assert (summary.record.payload, summary.payload_bytes) == ("", len('{"n": 0}'))
        waited = read(of, read(of).end_cursor, wait_ms=50)
        assert (ids(waited), waited.next_cursor) == ([], "")
    with pytest.raises(InvalidCursor):
        store.list_run_records(run.run_id, "0")
    with pytest.raises(InvalidLimit):
        store.list_run_records(run.run_id, limit=-1)


def test_lists_of_runs_take_every_filter(store: Any) -> None:
    label = fresh("label")
    parent = started_run(store, labels={label: "a=b", "x": "1"})
    child = ARun(
        parent.session_id,
        parent_run_id=parent.run_id,
        agent_id=fresh("agent"),
        labels={label: "a=b"},
        started_at=AT + timedelta(seconds=1),
    )
    store.start_child_run(child.start, parent.linked(child), child.started, child.canceled)
    store.record_run_terminal(child.run_id, TerminalStatus.COMPLETED, child.completed())

    def found(**filters: Any) -> list[str]:
        return [run.run_id for run in store.list_runs(**filters).runs]

    both = [parent.run_id, child.run_id]
    assert found(labels={label: "a=b"}) == both
    assert found(labels={label: "a=b"}, order="desc") == both[::-1]
    assert found(labels={label: "a=b", "x": "1"}) == [parent.run_id]
    assert found(labels={label: "a"}) == []
    assert found(session_id=parent.session_id, statuses=[RunStatus.COMPLETED, RunStatus.FAILED]) == [child.run_id]
    assert found(parent_run_id=parent.run_id) == [child.run_id]
    assert found(agent_id=child.agent_id) == [child.run_id]
    assert found(session_id=parent.session_id, started_after=AT + timedelta(seconds=1)) == [child.run_id]
    assert found(session_id=parent.session_id, started_before=AT + timedelta(seconds=1)) == [parent.run_id]
    by_session = store.list_runs_by_session(parent.session_id, [RunStatus.RUNNING])
    assert [run.run_id for run in by_session.runs] == [parent.run_id]
    page = store.list_runs_by_session(parent.session_id, limit=1, order="desc")
    assert ([run.run_id for run in page.runs], bool(page.next_cursor)) == ([child.run_id], True)


def test_sessions_are_listed_by_status(store: Any) -> None:
    active, ended = fresh("active"), fresh("ended")
    at = datetime(1900, 1, 1, tzinfo=UTC)
    for session_id in (active, ended):
        store.create_session(session_id, at)
    store.end_session(ended)
    found = [session.session_id for session in iter_or_pages(store, [SessionStatus.ENDED])]
    assert ended in found
    assert active not in found
    assert store.list_sessions(limit=1).sessions[0].created_at == at


def iter_or_pages(store: Any, statuses: list[SessionStatus]) -> list[Any]:
    sessions: list[Any] = []
    cursor = ""
    while True:
        page = store.list_sessions(statuses, cursor, 100)
        sessions += page.sessions
        cursor = page.next_cursor
        if not cursor:
            return sessions


def test_iterators_read_whole_lists_page_by_page(server: Any) -> None:
    with HttpStore(server.url) as store:
        run = started_run(store)
        keys = ["started", *(f"k{number}" for number in range(11))]
        for key in keys[1:]:
            store.append_run_record(run.note(key))
        for size in (1, 4, 12, 100_000):
            records = list(iter_run_records(store, run.run_id, page_size=size))
            assert [stored.record.event_key for stored in records] == keys
            assert [stored.id for stored in records] == [str(number + 1) for number in range(12)]
            assert list(iter_session_run_records(store, run.session_id, page_size=size)) == records
        assert [stored.id for stored in iter_run_records(store, run.run_id, "9", page_size=2)] == ["10", "11", "12"]
        other = ARun(run.session_id)
        store.start_root_run(other.start, other.started, other.canceled)
        both = [run.run_id, other.run_id]
        assert [one.run_id for one in iter_runs_by_session(store, run.session_id, page_size=1)] == both
        by_time = [one.run_id for one in iter_runs(store, session_id=run.session_id, page_size=1)]
        assert by_time == sorted(both)
        assert run.session_id in [session.session_id for session in iter_sessions(store, page_size=2)]

        async def test() -> None:
            async with AsyncHttpStore(server.url) as twin:
                found = [stored async for stored in aiter_run_records(twin, run.run_id, page_size=5)]
                assert found == records
                of_session = aiter_session_run_records(twin, run.session_id, page_size=5)
                assert [stored.id async for stored in of_session][:12] == [stored.id for stored in records]
                assert [one.run_id async for one in aiter_runs_by_session(twin, run.session_id, page_size=1)] == both
                of_runs = aiter_runs(twin, session_id=run.session_id, page_size=1)
                assert [one.run_id async for one in of_runs] == by_time
                sessions = [session.session_id async for session in aiter_sessions(twin, page_size=2)]
                assert run.session_id in sessions

        asyncio.run(test())


def test_payloads_come_back_byte_for_byte(store: Any) -> None:
    run = started_run(store)
    payloads = [
        '{"zz":1, "a" : {"b":2,"aa":3.0}, "a": 2}',
        '"\\ud800 \\u0000 é 😀 \u2028"',
        "[" * 500 + "]" * 500,
        "1" * 5000,
        "-1.0e+0100",
        " \n\t null ",
        '"' + base64.b64encode(os.urandom(100_000)).decode() + '"',
    ]
    for number, payload in enumerate(payloads):
        record = run.note(f"k{number}")
        record = type(record)(**{**_fields(record), "payload": payload})
        assert store.append_run_record(record).inserted is True
        assert store.append_run_record(record).inserted is False
    page = store.list_run_records(run.run_id, "1")
    assert [stored.record.payload for stored in page.records] == payloads


def _fields(record: Any) -> dict[str, Any]:
    return {name: getattr(record, name) for name in record.__slots__}


def test_tasks_that_write_at_once_all_get_their_own_answers(server: Any) -> None:
    async def test() -> None:
        async with AsyncHttpStore(server.url) as store:
            session_id = fresh("session")
            await store.create_session(session_id)
            runs = [ARun(session_id) for _ in range(40)]

            async def live(run: ARun) -> None:
                await store.start_root_run(run.start, run.started, run.canceled)
                for number in range(5):
                    result = await store.append_run_record(run.note(f"k{number}"))
                    assert result == AppendResult(str(number + 2), True, "active")
                with pytest.raises(EventConflict):
                    await store.append_run_record(run.note("k1", "different"))
                await store.record_run_terminal(run.run_id, TerminalStatus.COMPLETED, run.completed())

            await asyncio.gather(*(live(run) for run in runs))
            found = [stored async for stored in aiter_session_run_records(store, session_id, page_size=37)]
            assert len(found) == 40 * 7
            for run in runs:
                ids = [stored.id for stored in found if stored.record.run_id == run.run_id]
                assert ids == [str(number) for number in range(1, 8)]

    asyncio.run(test())


def test_commands_of_one_run_are_applied_in_the_order_in_which_they_were_sent(server: Any) -> None:
    async def test() -> None:
        async with AsyncHttpStore(server.url) as store:
            run = ARun("")
            commands: list[Any] = [
                store.start_one_shot_run(run.start, run.started),
                *(store.append_run_record(run.note(f"k{number}")) for number in range(300)),
                store.record_run_terminal(run.run_id, TerminalStatus.COMPLETED, run.completed()),
            ]
            results = await asyncio.gather(*commands)
            assert [result.id for result in results[1:]] == [str(number) for number in range(2, 303)]

    asyncio.run(test())


def test_canceling_one_of_many_tasks_loses_nothing_of_the_others(server: Any) -> None:
    async def test() -> None:
        async with AsyncHttpStore(server.url) as store:
            run = ARun("")
            await store.start_one_shot_run(run.start, run.started)
            tasks = [asyncio.create_task(store.append_run_record(run.note(f"k{number}"))) for number in range(50)]
            await asyncio.sleep(0)
            for task in tasks[::3]:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            stored = {record.record.event_key async for record in aiter_run_records(store, run.run_id)}
            assert {f"k{number}" for number in range(50) if number % 3} <= stored

    asyncio.run(test())


def _a_type_checker_agrees(
    store: HttpStore, twin: AsyncHttpStore
) -> tuple[Store, SessionAdmin, AsyncStore, AsyncSessionAdmin]:
    return store, store, twin, twin


@pytest.mark.parametrize(
    ("protocol", "kind"),
    [(Store, HttpStore), (SessionAdmin, HttpStore), (AsyncStore, AsyncHttpStore), (AsyncSessionAdmin, AsyncHttpStore)],
)
def test_a_store_has_every_method_of_its_protocols_with_the_same_arguments(protocol: type, kind: type) -> None:
    names = [name for name in vars(protocol) if not name.startswith("_")]
    assert len(names) >= 7
    for name in names:
        wanted, found = inspect.signature(getattr(protocol, name)), inspect.signature(getattr(kind, name))
        more = [p for p in found.parameters.values() if p.name not in wanted.parameters]
        assert all(p.kind is p.KEYWORD_ONLY and p.default is not p.empty for p in more), name
        assert list(found.parameters)[: len(wanted.parameters)] == list(wanted.parameters), name
        assert found.return_annotation == wanted.return_annotation, name
        assert inspect.iscoroutinefunction(getattr(kind, name)) is inspect.iscoroutinefunction(getattr(protocol, name))


def test_an_unknown_run_is_the_same_error_everywhere(store: Any) -> None:
    run = ARun(fresh("session"))
    calls: list[Callable[[], Any]] = [
        lambda: store.load_run(run.run_id),
        lambda: store.list_run_records(run.run_id),
        lambda: store.load_run_suspension(run.run_id),
        lambda: store.append_run_record(run.note("k")),
        lambda: store.record_run_terminal(run.run_id, TerminalStatus.COMPLETED, run.completed()),
    ]
    for call in calls:
        with pytest.raises(ContractError) as raised:
            call()
        assert type(raised.value) is RunNotFound
