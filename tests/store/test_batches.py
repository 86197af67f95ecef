"""What a batch does when others hold its rows, win its races, or take its connection away. PostgreSQL, for real."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any

import psycopg
import pytest

from runhold.commands.model import Command, PurgeOneShotRun, PurgeSession
from runhold.commands.outcomes import CONTENDED, CommandStore, Contended, LostRaceError, Outcome
from runhold.domain.errors import ContractError, RunPurged, Unavailable
from runhold.domain.paging import RecordQuery
from runhold.domain.values import AppendResult, Purge, RootStartResult, RunStatus
from tests import builders as a
from tests.store.conftest import job, opened, run
from tests.support.postgresql import started_postgresql


@pytest.fixture
def url() -> Iterator[str]:
    """An empty PostgreSQL database."""
    postgresql = started_postgresql()
    found = postgresql.new_database_url()
    yield found
    postgresql.drop_database(found)


@contextmanager
def held(url: str, statement: str) -> Iterator[psycopg.Connection[Any]]:
    """Hold the rows that a statement locks, as another process would."""
    with closing(psycopg.connect(url)) as other:
        other.execute(statement)
        yield other
        # The rows are free when this returns; a connection that is only closed leaves them when the server notices.
        other.rollback()


async def run_when_back(store: CommandStore, command: Command) -> Outcome | Contended:
    """Repeat a command until the database answers, for 5 s at most."""
    deadline = time.monotonic() + 5
    while True:
        try:
            (outcome,) = await run(store, command)
            return outcome
        except Unavailable:
            assert time.monotonic() < deadline, "the store did not come back"
            await asyncio.sleep(0.02)


async def fill(store: Any, *sessions: str) -> None:
    for session_id in sessions:
        await run(store, a.a_session(session_id), a.a_root_start(a.a_run(session_id=session_id, run_id=session_id)))


HOLD_S = "SELECT 1 FROM sessions WHERE session_id = 's' FOR NO KEY UPDATE"


def test_a_held_session_is_left_aside_and_the_others_go_on(url: str) -> None:
    async def inside() -> None:
        async with opened(url, lock_timeout_ms=200) as store:
            await fill(store, "s", "t")
            with held(url, HOLD_S):
                on_s = a.an_append(run_id="s")
                on_t = a.an_append(run_id="t", session_id="t")
                later = a.an_append(run_id="t", session_id="t", event_key="k2")
                results = await store.run_batch([job(on_t), job(on_s, later), job(later)], wait=False)
                assert results[0] == [AppendResult("2", True, "active")]
                # The rest of the job keeps its order, and so does whoever comes after it on the same rows.
                assert results[1] == [CONTENDED, CONTENDED]
                assert results[2] == [CONTENDED]
                begun = time.monotonic()
                with pytest.raises(Unavailable):
                    await run(store, on_s, wait=True)
                assert 0.1 < time.monotonic() - begun < 2
            assert await run(store, on_s) == [AppendResult("2", True, "active")]

    asyncio.run(inside())


def test_a_start_in_a_held_session_and_a_create_of_it_are_left_aside(url: str) -> None:
    async def inside() -> None:
        async with opened(url) as store:
            await fill(store, "s")
            with held(url, HOLD_S):
                assert await run(store, a.a_root_start()) == [CONTENDED]
                assert await run(store, a.a_session()) == [CONTENDED]

    asyncio.run(inside())


def test_a_held_one_shot_run_is_left_aside(url: str) -> None:
    async def inside() -> None:
        async with opened(url) as store:
            await run(store, a.a_one_shot_start())
            with held(url, "SELECT 1 FROM runs WHERE run_id = 'o' FOR NO KEY UPDATE"):
                assert await run(store, a.an_append(run_id="o", session_id="")) == [CONTENDED]
                assert await run(store, a.a_one_shot_child_start()) == [CONTENDED]

    asyncio.run(inside())


def test_a_batch_that_waits_gets_the_row_once_it_is_free(url: str) -> None:
    async def inside() -> None:
        async with opened(url) as store:
            await fill(store, "s")
            with held(url, HOLD_S) as other:
                waiting = asyncio.create_task(run(store, a.an_append(run_id="s"), wait=True))
                await asyncio.sleep(0.2)
                assert not waiting.done()
                other.commit()
                assert await waiting == [AppendResult("2", True, "active")]

    asyncio.run(inside())


def test_identical_commands_of_two_stores_are_stored_once(url: str) -> None:
    async def inside() -> None:
        async with opened(url) as one, opened(url) as other:
            await fill(one, "s")

            async def all_of_it(store: Any) -> list[Any]:
                answers: list[Any] = []
                for number in range(40):
                    start = a.a_root_start(a.a_run(run_id=f"r{number}"))
                    append = a.an_append(run_id=f"r{number}")
                    for command in (start, append):
                        while True:
                            try:
                                (outcome,) = await run(store, command, wait=True)
                            except LostRaceError:
                                continue
                            break
                        answers.append(outcome)
                return answers

            first, second = await asyncio.gather(all_of_it(one), all_of_it(other))
            for mine, theirs in zip(first, second, strict=True):
                assert not isinstance(mine, ContractError | type(CONTENDED))
                pair = [each.started if isinstance(each, RootStartResult) else each for each in (mine, theirs)]
                assert pair[0].id == pair[1].id
                assert sorted(each.inserted for each in pair) == [False, True]
            assert (await one.reader.load_session("default", "s")).record_count == 81

    asyncio.run(inside())


def test_the_same_new_run_in_two_sessions_is_made_once(url: str) -> None:
    async def inside() -> None:
        async with opened(url) as one, opened(url) as other:
            await fill(one, "s", "t")
            for number in range(40):
                starts = [
                    a.a_root_start(a.a_run(run_id=f"r{number}", session_id=session_id)) for session_id in ("s", "t")
                ]
                raced = await asyncio.gather(
                    run(one, starts[0], wait=True), run(other, starts[1], wait=True), return_exceptions=True
                )
                made = 0
                for store, start, outcome in zip((one, other), starts, raced, strict=True):
                    answer = await run(store, start, wait=True) if isinstance(outcome, LostRaceError) else outcome
                    assert not isinstance(answer, BaseException), answer
                    made += isinstance(answer[0], RootStartResult)
                assert made == 1

    asyncio.run(inside())


def test_a_killed_connection_is_unavailable_or_tried_again_and_then_all_is_well(url: str) -> None:
    async def inside() -> None:
        async with opened(url) as store:
            await fill(store, "s")
            for number in range(20):
                kill = (
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
                with psycopg.connect(url, autocommit=True) as other:
                    killing = asyncio.create_task(asyncio.to_thread(other.execute, kill))
                    command = a.an_append(run_id="s", event_key=f"k{number}")
                    with suppress(Unavailable):
                        await run(store, command)
                    await killing
                # Whether or not the first answer was lost, the exact retry settles it.
                outcome = await run_when_back(store, command)
                assert isinstance(outcome, AppendResult)
                assert outcome.id == str(number + 2)
            page = await store.reader.list_run_records("default", "s", RecordQuery(limit=1000))
            assert [record.position for record in page.records] == list(range(1, 22))

    asyncio.run(inside())


def test_a_server_that_is_away_is_unavailable_at_once(tmp_path: Any) -> None:
    postgresql = started_postgresql()
    url = postgresql.new_database_url()

    async def inside() -> None:
        async with opened(url) as store:
            await fill(store, "s")
            name = url.rpartition("/")[2]
            with psycopg.connect(postgresql.new_database_url("admin"), autocommit=True) as admin:
                admin.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false')
                admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (name,))
                begun = time.monotonic()
                for _ in range(20):
                    with pytest.raises(Unavailable):
                        await run(store, a.an_append(run_id="s"))
                assert time.monotonic() - begun < 10
                admin.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true')
            assert await run_when_back(store, a.an_append(run_id="s")) == AppendResult("2", True, "active")

    asyncio.run(inside())


def test_a_statement_that_takes_too_long_is_unavailable(url: str) -> None:
    async def inside() -> None:
        async with opened(url, statement_timeout_ms=200, lock_timeout_ms=60_000) as store:
            await fill(store, "s")
            with held(url, HOLD_S), pytest.raises(Unavailable):
                await run(store, a.an_append(run_id="s"), wait=True)
            assert await run(store, a.an_append(run_id="s")) == [AppendResult("2", True, "active")]

    asyncio.run(inside())


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_purge_takes_everything_and_keeps_the_seal(kind: str, url: str, tmp_path: Any) -> None:
    where = url if kind == "postgresql" else f"sqlite:///{tmp_path}/store.db"

    async def inside() -> None:
        async with opened(where) as store:
            await run(store, a.a_session(), a.a_root_start(a.a_run(labels={"a": "b"})), a.an_append(), a.a_suspension())
            await run(store, a.an_end())
            tree: list[Command] = [a.a_one_shot_start(), a.a_one_shot_child_start()]
            await run(store, *tree, a.a_terminal(run_id="o", session_id=""))
            await run(store, a.a_terminal(run_id="o/child", session_id=""))
            assert await run(store, PurgeSession("s"), wait=True) == [Purge()]
            assert await run(store, PurgeOneShotRun("o"), wait=True) == [Purge()]
            assert await run(store, PurgeOneShotRun("o"), wait=True) == [Purge()]
            for command in tree:
                (outcome,) = await run(store, command, wait=True)
                assert isinstance(outcome, RunPurged)
            # The session's run ids are free again: a new run of that id begins at 1.
            await run(store, a.a_session("t"))
            (again,) = await run(store, a.a_root_start(a.a_run(session_id="t")))
            assert isinstance(again, RootStartResult)
            assert again.started == AppendResult("1", True, "active")
            assert (await store.reader.load_run("default", "r")).status is RunStatus.RUNNING
            page = await store.reader.list_run_records("default", "r", RecordQuery())
            assert len(page.records) == 1

    asyncio.run(inside())


def test_a_database_that_fails_inside_is_unavailable_to_readers_too(url: str) -> None:
    async def inside() -> None:
        async with opened(url) as store:
            await fill(store, "s")
            with psycopg.connect(url, autocommit=True) as admin:
                admin.execute(
                    "CREATE FUNCTION broken() RETURNS boolean LANGUAGE plpgsql AS"
                    " $$ BEGIN RAISE EXCEPTION 'a page is damaged' USING ERRCODE = 'XX001'; END $$"
                )
                admin.execute("ALTER TABLE sessions RENAME TO whole_sessions")
                admin.execute("CREATE VIEW sessions AS SELECT * FROM whole_sessions WHERE broken()")
            with pytest.raises(Unavailable):
                await store.reader.load_session("default", "s")

    asyncio.run(inside())
