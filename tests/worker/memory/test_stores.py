"""The product's memory: in the process, in SQLite and in PostgreSQL."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from runhold_client.memory import Event, EventType, InMemoryStore, InThreads, Snapshot, Store
from runhold_client.memory.sql import METADATA, SqlStore
from tests.support.postgresql import started_postgresql

AT = datetime(2026, 3, 1, 10, 0, 0, 123_456, UTC)


def note(text: Any, **changes: Any) -> Event:
    fields: dict[str, Any] = {"type": EventType.PLANNER_NOTE, "timestamp": AT, "data": json.dumps({"note": text})}
    return Event(**{**fields, **changes})


@pytest.fixture(params=["in memory", "sqlite", "postgresql"])
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if request.param == "in memory":
        yield InMemoryStore()
        return
    url = f"sqlite:///{tmp_path}/memory.db"
    if request.param == "postgresql":
        url = started_postgresql().new_database_url("memory")
    with SqlStore(url) as store:
        store.create_tables()
        yield store
    if request.param == "postgresql":
        started_postgresql().drop_database(url)


@pytest.fixture
def sql_memory(database_url: str) -> Iterator[SqlStore]:
    with SqlStore(database_url) as store:
        store.create_tables()
        yield store


def test_a_run_of_which_nothing_is_known_is_an_empty_snapshot(memory: Store) -> None:
    assert memory.load_run("agent", "run") == Snapshot("agent", "run", ())
    memory.append_events("agent", "run")
    assert memory.load_run("agent", "run").events == ()


def test_events_come_back_as_they_were_appended_and_in_that_order(memory: Store) -> None:
    first = Event(
        EventType.USER_MESSAGE,
        AT,
        ' {"b":1, "a":1.50, "b":"\\u0000 \\ud83d 🙂"} ',
        turn_id="turn/1 ü",
        labels={"nul\0": "\ud83d", "b": "x"},
    )
    same_time = [note(number) for number in (3, 1, 2)]
    memory.append_events("agent", "run", first, same_time[0])
    memory.append_events("agent", "run", *same_time[1:])
    assert memory.load_run("agent", "run").events == (first, *same_time)


def test_times_keep_their_microseconds_and_are_utc(memory: Store) -> None:
    elsewhere = datetime(1969, 12, 31, 23, 59, 59, 999_999, timezone(timedelta(hours=-7)))
    memory.append_events("agent", "run", note("a", timestamp=elsewhere))
    stored = memory.load_run("agent", "run").events[0].timestamp
    assert (stored, stored.utcoffset()) == (elsewhere, timedelta(0))


def test_runs_are_told_apart_by_every_character_of_both_ids(memory: Store) -> None:
    ids = [
        ("a", "bc"),
        ("ab", "c"),
        ("A", "bc"),
        ("a", "bc "),
        ("a", "é"),
        ("a", "e\u0301"),
        ("a" * 5_000, "b" * 5_000),
    ]
    for number, (agent_id, run_id) in enumerate(ids):
        memory.append_events(agent_id, run_id, note(number))
    found = [memory.load_run(*pair).events for pair in ids]
    assert found == [(note(number),) for number in range(len(ids))]


@pytest.mark.parametrize("ids", [("", "r"), ("a", ""), ("a\0", "r"), ("a", "\ud83d")])
def test_ids_that_no_database_could_hold_are_refused_everywhere(memory: Store, ids: tuple[str, str]) -> None:
    with pytest.raises(ValueError, match=r"agent_id|run_id"):
        memory.append_events(*ids, note("a"))
    with pytest.raises(ValueError, match=r"agent_id|run_id"):
        memory.load_run(*ids)


def test_writers_in_threads_lose_nothing_and_their_events_stay_together(memory: Store) -> None:
    start = threading.Barrier(8)

    def write(writer: int) -> None:
        start.wait()
        for batch in range(10):
            memory.append_events("agent", "run", *(note([writer, batch, part]) for part in range(3)))

    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    _assert_all_there(memory.load_run("agent", "run"), writers=8, batches=10)


def test_writers_in_processes_lose_nothing(sql_memory: SqlStore, database_url: str) -> None:
    program = textwrap.dedent("""
        import json, sys
        from datetime import UTC, datetime
        from runhold_client.memory import Event
        from runhold_client.memory.sql import SqlStore

        url, writer = sys.argv[1], int(sys.argv[2])
        with SqlStore(url) as store:
            store.create_tables()
            for batch in range(10):
                notes = [json.dumps({"note": [writer, batch, part]}) for part in range(3)]
                store.append_events("agent", "run", *(Event("planner_note", datetime.now(UTC), note) for note in notes))
    """)
    writers = [subprocess.Popen([sys.executable, "-c", program, database_url, str(writer)]) for writer in range(4)]
    assert [writer.wait(60) for writer in writers] == [0] * 4
    _assert_all_there(sql_memory.load_run("agent", "run"), writers=4, batches=10)


def _assert_all_there(snapshot: Snapshot, writers: int, batches: int) -> None:
    notes = [tuple(event.decoded()["note"]) for event in snapshot.events]
    calls = [notes[start : start + 3] for start in range(0, len(notes), 3)]
    assert all(call == [(*call[0][:2], part) for part in range(3)] for call in calls)
    for writer in range(writers):
        assert [call[0][1] for call in calls if call[0][0] == writer] == list(range(batches))
    assert len(calls) == writers * batches


def test_events_of_one_call_are_stored_together_or_not_at_all(sql_memory: SqlStore, database_url: str) -> None:
    sql_memory.append_events("agent", "run", note("before"))
    engine = sa.create_engine(database_url)
    with engine.begin() as connection:
        # A position taken behind the store's back makes the second of three events fail.
        connection.execute(
            sa.text(
                "INSERT INTO memory_events "
                "SELECT run_hash, 3, type, timestamp_us, turn_id, labels, data FROM memory_events"
            )
        )
    with pytest.raises(sa.exc.IntegrityError):
        sql_memory.append_events("agent", "run", note("a"), note("b"), note("c"))
    with engine.begin() as connection:
        connection.execute(sa.text("DELETE FROM memory_events WHERE position = 3"))
    engine.dispose()
    assert sql_memory.load_run("agent", "run").events == (note("before"),)
    sql_memory.append_events("agent", "run", note("after"))
    assert sql_memory.load_run("agent", "run").events == (note("before"), note("after"))


def test_tables_may_be_created_again_and_by_many_at_once(database_url: str) -> None:
    errors: list[BaseException] = []
    start = threading.Barrier(6)

    def create() -> None:
        with SqlStore(database_url) as store:
            start.wait()
            try:
                store.create_tables()
            except sa.exc.SQLAlchemyError as error:
                errors.append(error)

    threads = [threading.Thread(target=create) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    engine = sa.create_engine(database_url)
    assert set(METADATA.tables) <= set(sa.inspect(engine).get_table_names())
    engine.dispose()


def test_an_engine_of_the_products_own_stays_open(database_url: str) -> None:
    engine = sa.create_engine(database_url)
    with SqlStore(engine) as store:
        store.create_tables()
        store.append_events("agent", "run", note("a"))
    with engine.connect() as connection:
        assert connection.execute(sa.text("SELECT event_count FROM memory_runs")).scalar_one() == 1
    engine.dispose()


def test_a_memory_that_would_be_forgotten_at_once_is_refused() -> None:
    for url in ("sqlite://", "sqlite:///:memory:"):
        with pytest.raises(ValueError, match="needs a file"):
            SqlStore(url)


def test_tasks_use_any_memory_through_threads(memory: Store) -> None:
    async def story() -> None:
        twin = InThreads(memory)
        await asyncio.gather(*(twin.append_events("agent", "run", note(number)) for number in range(20)))
        found = (await twin.load_run("agent", "run")).events
        assert sorted(event.decoded()["note"] for event in found) == list(range(20))

    asyncio.run(story())


@given(
    st.lists(
        st.builds(
            lambda kind, value, turn, labels, at: Event(kind, at, json.dumps(value), turn, labels),
            st.sampled_from(EventType),
            st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=5),
            st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=5),
            st.dictionaries(st.text(max_size=3), st.text(max_size=3), max_size=2),
            st.datetimes(timezones=st.just(UTC)),
        ),
        max_size=5,
    )
)
def test_any_events_come_back_equal(tmp_path_factory: pytest.TempPathFactory, events: list[Event]) -> None:
    with SqlStore(f"sqlite:///{tmp_path_factory.mktemp('memory')}/memory.db") as store:
        store.create_tables()
        store.append_events("agent", "run", *events)
        assert store.load_run("agent", "run").events == tuple(events)
