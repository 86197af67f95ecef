"""The writer: order within a run, independence between sessions, and an answer for everybody."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from typing import Any

import psycopg
import pytest

from runhold.domain.errors import EventConflict, InvalidCommand, Overloaded, RunNotFound, Unavailable
from runhold.domain.paging import RecordQuery
from runhold.domain.values import AppendResult, Session
from runhold.writer import Writer, WriterLimits
from tests import builders as a
from tests.store.conftest import opened
from tests.support.postgresql import started_postgresql

NS = "default"


@pytest.fixture
def postgresql_url() -> Iterator[str]:
    """An empty PostgreSQL database."""
    postgresql = started_postgresql()
    url = postgresql.new_database_url()
    yield url
    postgresql.drop_database(url)


@contextmanager
def held_session(url: str, session_id: str) -> Iterator[psycopg.Connection[Any]]:
    with closing(psycopg.connect(url)) as other:
        other.execute("SELECT 1 FROM sessions WHERE session_id = %s FOR NO KEY UPDATE", (session_id,))
        yield other


async def with_runs(writer: Writer, *sessions: str) -> None:
    """A session and a run of the same id for each."""
    await writer.open()
    for session_id in sessions:
        await writer.submit(NS, a.a_session(session_id))
        await writer.submit(NS, a.a_root_start(a.a_run(session_id=session_id, run_id=session_id)))


def ids(answers: Iterable[object]) -> list[str]:
    return [answer.id for answer in answers if isinstance(answer, AppendResult)]


def append(session_id: str, number: int, size: int = 10) -> Any:
    payload = '"' + "x" * size + '"'
    return a.an_append(run_id=session_id, session_id=session_id, event_key=f"k{number}", payload=payload)


def test_commands_of_one_run_keep_their_order_across_lanes_and_batches(database_url: str) -> None:
    async def inside() -> None:
        async with opened(database_url) as store:
            writer = Writer(store, WriterLimits(batch_commands=7, large_bytes=1_000))
            await with_runs(writer, "s", "t")
            # Every fifth record is large and takes a lane of its own.
            sent = [append(session, n, 2_000 if n % 5 == 3 else 10) for n in range(60) for session in ("s", "t")]
            answers = await asyncio.gather(*(writer.submit(NS, command) for command in sent))
            for session_id in ("s", "t"):
                mine = [answer for command, answer in zip(sent, answers, strict=True) if command.run_id == session_id]
                assert mine == [AppendResult(str(number + 2), True, "active") for number in range(60)]
            await writer.close()
            assert (writer.queued_commands, writer.queued_bytes) == (0, 0)

    asyncio.run(inside())


def test_a_held_session_stalls_nobody_else_and_loses_no_order(postgresql_url: str) -> None:
    async def inside() -> None:
        async with opened(postgresql_url, lock_timeout_ms=20_000) as store:
            writer = Writer(store)
            await with_runs(writer, "s", "t")
            with held_session(postgresql_url, "s") as other:
                waiting = [asyncio.create_task(writer.submit(NS, append("s", number))) for number in range(20)]
                both = asyncio.create_task(writer.submit_many(NS, [append("t", 900), append("s", 900)]))
                await asyncio.sleep(0.2)
                behind = asyncio.create_task(writer.submit(NS, append("t", 901)))
                await asyncio.sleep(0.2)
                # A job that waits for s keeps those behind it on t waiting; its own t part has been stored.
                assert not any(task.done() for task in (*waiting, both))
                await writer.submit(NS, a.a_session("u"))
                start = a.a_root_start(a.a_run(session_id="u", run_id="u"))
                await writer.submit(NS, start)
                for number in range(50):
                    assert await writer.submit(NS, append("u", number)) == AppendResult(str(number + 2), True, "active")
                assert not any(task.done() for task in waiting)
                other.commit()
            assert await asyncio.gather(*waiting) == [AppendResult(str(n + 2), True, "active") for n in range(20)]
            assert await both == [AppendResult("2", True, "active"), AppendResult("22", True, "active")]
            assert await behind == AppendResult("3", True, "active")
            await writer.close()

    asyncio.run(inside())


def test_a_bad_command_fails_alone(database_url: str) -> None:
    async def inside() -> None:
        async with opened(database_url) as store:
            writer = Writer(store)
            await with_runs(writer, "s")
            good = [append("s", number) for number in range(5)]
            bad = [
                a.an_append(run_id="missing"),
                a.an_append(run_id="s", event_key="k0", payload="[]"),
                a.an_append(run_id="s", type="run_started"),
            ]
            mixed = [good[0], bad[0], good[1], bad[1], good[2], bad[2], good[3], good[4]]
            outcomes = await asyncio.gather(*(writer.submit(NS, each) for each in mixed), return_exceptions=True)
            assert [type(outcome) for outcome in outcomes] == [
                AppendResult,
                RunNotFound,
                AppendResult,
                EventConflict,
                AppendResult,
                InvalidCommand,
                AppendResult,
                AppendResult,
            ]
            page = await store.reader.list_run_records(NS, "s", RecordQuery())
            assert [record.record.event_key for record in page.records] == ["started", "k0", "k1", "k2", "k3", "k4"]
            await writer.close()

    asyncio.run(inside())


def test_many_commands_of_one_request_are_answered_each_for_itself_and_in_order(database_url: str) -> None:
    async def inside() -> None:
        async with opened(database_url) as store:
            writer = Writer(store)
            await writer.open()
            refused = InvalidCommand("was refused as it was read")
            outcomes = await writer.submit_many(
                NS, [a.a_session(), a.a_root_start(), refused, append("s", 0), a.an_append(), a.an_append()]
            )
            assert isinstance(outcomes[0], Session)
            assert outcomes[2] is refused
            assert isinstance(outcomes[3], RunNotFound)
            assert outcomes[4:] == [AppendResult("2", True, "active"), AppendResult("2", False, "active")]
            await writer.close()

    asyncio.run(inside())


def test_after_a_temporary_answer_the_later_commands_of_a_request_are_untried(postgresql_url: str) -> None:
    async def inside() -> None:
        async with opened(postgresql_url, lock_timeout_ms=200) as store:
            writer = Writer(store)
            await with_runs(writer, "s", "t")
            with held_session(postgresql_url, "s"):
                refused = InvalidCommand("was refused as it was read")
                outcomes = await writer.submit_many(NS, [append("t", 0), append("s", 0), append("t", 1), refused])
            assert outcomes[0] == AppendResult("2", True, "active")
            assert [type(outcome) for outcome in outcomes[1:]] == [Unavailable] * 3
            page = await store.reader.list_run_records(NS, "t", RecordQuery())
            assert [record.record.event_key for record in page.records] == ["started", "k0"]
            await writer.close()

    asyncio.run(inside())


def test_what_is_too_much_is_refused_at_once_and_the_rest_is_answered(postgresql_url: str) -> None:
    async def inside() -> None:
        async with opened(postgresql_url, lock_timeout_ms=20_000) as store:
            writer = Writer(store, WriterLimits(queued_commands=10))
            await with_runs(writer, "s")
            with held_session(postgresql_url, "s") as other:
                waiting = [asyncio.create_task(writer.submit(NS, append("s", number))) for number in range(10)]
                await asyncio.sleep(0.1)
                begun = asyncio.get_running_loop().time()
                with pytest.raises(Overloaded) as refused:
                    await writer.submit(NS, append("s", 10))
                assert asyncio.get_running_loop().time() - begun < 0.1
                assert refused.value.retry_after >= 1
                many = await writer.submit_many(NS, [append("s", 11), append("s", 12)])
                assert [type(outcome) for outcome in many] == [Overloaded, Unavailable]
                other.commit()
            assert ids(await asyncio.gather(*waiting)) == [str(n + 2) for n in range(10)]
            assert await writer.submit(NS, append("s", 10)) == AppendResult("12", True, "active")
            await writer.close()

    asyncio.run(inside())


def test_closing_answers_what_was_accepted_and_takes_no_more(database_url: str) -> None:
    async def inside() -> None:
        async with opened(database_url) as store:
            writer = Writer(store, WriterLimits(batch_commands=3))
            await with_runs(writer, "s")
            accepted = [asyncio.create_task(writer.submit(NS, append("s", number))) for number in range(20)]
            await asyncio.sleep(0)
            closing_ = asyncio.create_task(writer.close())
            await asyncio.sleep(0)
            with pytest.raises(Unavailable):
                await writer.submit(NS, append("s", 20))
            await closing_
            assert ids(await asyncio.gather(*accepted)) == [str(n + 2) for n in range(20)]

    asyncio.run(inside())


def test_a_caller_that_went_away_leaves_its_command_and_nobody_else_waiting(database_url: str) -> None:
    async def inside() -> None:
        async with opened(database_url) as store:
            writer = Writer(store)
            await with_runs(writer, "s")
            gone = asyncio.create_task(writer.submit(NS, append("s", 0)))
            stays = asyncio.create_task(writer.submit(NS, append("s", 1)))
            await asyncio.sleep(0)
            gone.cancel()
            assert await stays == AppendResult("3", True, "active")
            assert await writer.submit(NS, append("s", 0)) == AppendResult("2", False, "active")
            await writer.close()
            assert writer.queued_commands == 0

    asyncio.run(inside())
