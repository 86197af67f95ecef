"""A connection to PostgreSQL that ends, or dies without a word, is noticed in time and replaced."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, closing
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
import uvloop

from runhold.domain.errors import Unavailable
from runhold.domain.values import AppendResult
from runhold.store import StoreSettings, open_store
from runhold.store.migrate import migrate
from runhold.store.pipeline import COMMIT
from runhold.store.postgresql import PostgresqlStore
from runhold.writer import Writer
from tests import builders as a
from tests.faults.proxy import Link, Mode, Proxy
from tests.faults.stage import through
from tests.hostile.slowness import slow
from tests.support.postgresql import started_postgresql

NS = "default"
Run = Callable[[Coroutine[Any, Any, None]], None]


@pytest.fixture
def url() -> Iterator[str]:
    """An empty database with our schema."""
    postgresql = started_postgresql()
    made = postgresql.new_database_url()
    migrate(made)
    yield made
    postgresql.drop_database(made)


@asynccontextmanager
async def store_behind_proxy(url: str) -> AsyncIterator[tuple[PostgresqlStore, Proxy]]:
    async with Proxy(urlsplit(url).port or 5432) as proxy:
        store = await open_store(StoreSettings(url=through(url, proxy.port)))
        assert isinstance(store, PostgresqlStore)
        try:
            yield store, proxy
        finally:
            await store.close()


async def end_sessions(url: str) -> None:
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as administrator:
        await administrator.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE application_name = 'runhold' AND datname = current_database()"
        )


@asynccontextmanager
async def writer_with_a_run(store: PostgresqlStore) -> AsyncIterator[Writer]:
    writer = Writer(store)
    await writer.open()
    await writer.submit(NS, a.a_session("s"))
    await writer.submit(NS, a.a_root_start(a.a_run(session_id="s", run_id="r")))
    try:
        yield writer
    finally:
        await writer.close()


async def append(writer: Writer, key: str, **given: str) -> AppendResult:
    result = await writer.submit(NS, a.an_append(run_id="r", session_id="s", event_key=key, **given))
    assert isinstance(result, AppendResult)
    return result


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run], ids=["asyncio", "uvloop"])
@pytest.mark.parametrize("idle_s", [0.0, 0.2])
def test_a_session_that_was_ended_is_replaced_at_once(url: str, run: Run, idle_s: float) -> None:
    async def test() -> None:
        async with store_behind_proxy(url) as (store, _):
            for _ in range(3):
                await store.reader.revision()
                await end_sessions(url)
                await asyncio.sleep(idle_s)
                begun = time.monotonic()
                assert await store.reader.revision() == "0001"
                assert time.monotonic() < begun + 1

    run(test())


def test_commands_wait_for_a_dead_connection_no_longer_than_it_takes_to_ask_the_server(url: str) -> None:
    async def test() -> None:
        async with store_behind_proxy(url) as (store, proxy), writer_with_a_run(store) as writer:
            assert proxy.bury()
            begun = time.monotonic()
            assert (await append(writer, "k")).id == "2"
            assert time.monotonic() < begun + 4

    asyncio.run(test())


class DieAtCommit(Mode):
    """The first connection that is to commit goes dead before the server hears of it."""

    def __init__(self) -> None:
        self.died = 0

    async def request(self, link: Link, chunk: bytes) -> bytes:
        if COMMIT.name in chunk and not self.died:
            self.died += 1
            link.is_dead = True
        return chunk


def test_what_a_dead_connection_has_locked_is_free_as_soon_as_it_is_noticed(url: str) -> None:
    async def test() -> None:
        async with store_behind_proxy(url) as (store, proxy), writer_with_a_run(store) as writer:
            await append(writer, "first")
            proxy.mode = mode = DieAtCommit()
            begun = time.monotonic()
            with pytest.raises(Unavailable):
                await append(writer, "k")
            assert mode.died == 1
            assert (await append(writer, "k")).inserted
            assert time.monotonic() < begun + 4

    asyncio.run(test())


def test_a_server_that_is_at_work_is_waited_for(url: str) -> None:
    async def test() -> None:
        async with store_behind_proxy(url) as (store, _), writer_with_a_run(store) as writer:
            begun = time.monotonic()
            assert (await append(writer, "k", type="usage")).id == "2"
            assert time.monotonic() > begun + 3

    with slow(url, "records", "INSERT", 3.0, "NEW.type = 'usage'"):
        asyncio.run(test())


def test_many_dead_connections_that_were_idle_cost_no_more_time_than_one(url: str) -> None:
    async def test() -> None:
        async with store_behind_proxy(url) as (store, proxy):
            before = proxy.accepted
            await asyncio.gather(*[store.reader.revision() for _ in range(5)])
            assert proxy.accepted - before >= 3
            assert proxy.bury()
            await asyncio.sleep(1.1)
            begun = time.monotonic()
            assert await store.reader.revision() == "0001"
            assert time.monotonic() < begun + 3

    asyncio.run(test())


@pytest.mark.parametrize("state", ["XX000", "XX001", "53100", "58030"])
def test_a_failure_of_the_database_is_temporary_and_leaves_its_neighbours_alone(url: str, state: str) -> None:
    """53100 is a full disk, 58030 one that fails; with XX the fault may lie at one row."""

    async def test() -> None:
        async with store_behind_proxy(url) as (store, _), writer_with_a_run(store) as writer:
            answers = await asyncio.gather(
                append(writer, "k-1"),
                append(writer, "k-2", type="usage"),
                append(writer, "k-3"),
                return_exceptions=True,
            )
            assert isinstance(answers[1], Unavailable)
            if state.startswith("XX"):
                assert [answer.id for answer in answers if isinstance(answer, AppendResult)] == ["2", "3"]
            with closing(psycopg.connect(url, autocommit=True)) as database:
                database.execute("DROP TRIGGER fails ON records")
            assert [(await append(writer, key)).id for key in ("k-1", "k-3")] == ["2", "3"]
            assert (await append(writer, "k-2", type="usage")).id == "4"

    with closing(psycopg.connect(url, autocommit=True)) as database:
        database.execute(
            "CREATE FUNCTION fails() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION USING"
            f" ERRCODE = '{state}'; END $$".encode()
        )
        database.execute(
            "CREATE TRIGGER fails BEFORE INSERT ON records FOR EACH ROW WHEN (NEW.type = 'usage')"
            " EXECUTE FUNCTION fails()"
        )
    asyncio.run(test())
