"""PostgreSQL's rows are locked in one order, whatever the order of the commands; the database itself is watched.

Only PostgreSQL locks rows; on SQLite one transaction writes at a time, so there is no order to keep.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest
from psycopg import errors, sql

from tests.model import commands as make
from tests.model.wire import Wire
from tests.support.postgresql import started_postgresql
from tests.support.server import Server, running_server

WAIT_SECONDS = 4.0
"""Less than the service's own patience with a lock."""


@dataclass(frozen=True)
class Row:
    """A row that commands lock: a session, or a run of its own."""

    table: str
    id: str

    @property
    def column(self) -> str:
        return "session_id" if self.table == "sessions" else "run_id"

    @property
    def run(self) -> str:
        """The run through which commands reach it."""
        return self.id if self.table == "runs" else f"{self.id} run"

    @property
    def session(self) -> str:
        return self.id if self.table == "sessions" else ""


@pytest.fixture(scope="module")
def postgresql() -> Iterator[Server]:
    """A service on PostgreSQL for these tests alone."""
    with running_server(started_postgresql().new_database_url()) as server:
        yield server


def lock(connection: psycopg.Connection[Any], row: Row, how: str = "") -> None:
    statement = sql.SQL("SELECT 1 FROM {} WHERE {} = %s FOR NO KEY UPDATE" + how)
    assert connection.execute(
        statement.format(sql.Identifier(row.table), sql.Identifier(row.column)), [row.id]
    ).fetchone()


def is_locked(url: str, row: Row) -> bool:
    with psycopg.connect(url) as connection:
        try:
            lock(connection, row, " NOWAIT")
        except errors.LockNotAvailable:
            return True
        return False


def wait_for_somebody_behind(url: str, holder: psycopg.Connection[Any]) -> None:
    """Wait until another connection waits for a row that this one holds."""
    deadline = time.monotonic() + WAIT_SECONDS
    with psycopg.connect(url, autocommit=True) as watcher:
        statement = "SELECT count(*) FROM pg_stat_activity WHERE %s = ANY (pg_blocking_pids(pid))"
        while watcher.execute(statement, [holder.info.backend_pid]).fetchone() == (0,):
            assert time.monotonic() < deadline, "nobody waits for the row"
            time.sleep(0.01)


def held_while_waiting(server: Server, first: Row, second: Row, commands: Sequence[Row], held: Row) -> bool:
    """Let a request wait for one of two rows; whether it holds the other one meanwhile."""
    other = second if held == first else first
    url = server.database_url
    with Wire(server.url) as wire, ThreadPoolExecutor(1) as pool:
        for row in (first, second):
            if row.session:
                assert wire.call(make.create(row.session)).status == 200
            assert wire.call(make.start(row.run, session=row.session)).status == 200
        batch = make.batch(*(make.append(row.run, session=row.session) for row in commands))
        with psycopg.connect(url) as holder:
            lock(holder, held)
            answer = pool.submit(wire.call, batch)
            wait_for_somebody_behind(url, holder)
            found = is_locked(url, other)
            holder.rollback()
            results = answer.result().body["results"]
        assert [result["status"] for result in results] == [200, 200], results
    return found


def two(kinds: str, unique: str) -> tuple[Row, Row]:
    """Two rows in the order in which they are locked."""
    first, second = kinds.split()
    return Row(first, f"{unique} first"), Row(second, f"{unique} second")


KINDS = ["sessions sessions", "runs runs", "sessions runs"]


@pytest.mark.parametrize("kinds", KINDS)
@pytest.mark.parametrize("turned", [False, True], ids=["in order", "in opposite order"])
def test_whoever_waits_for_the_first_row_does_not_hold_the_second(
    postgresql: Server, unique: str, kinds: str, turned: bool
) -> None:
    first, second = two(kinds, unique)
    commands = [second, first] if turned else [first, second]
    assert not held_while_waiting(postgresql, first, second, commands, held=first)


@pytest.mark.parametrize("kinds", KINDS)
def test_whoever_waits_for_the_second_row_holds_the_first(postgresql: Server, unique: str, kinds: str) -> None:
    first, second = two(kinds, unique)
    assert held_while_waiting(postgresql, first, second, [second, first], held=second)


@pytest.mark.parametrize("kinds", KINDS)
def test_whoever_can_have_all_rows_but_one_does_not_make_others_wait(
    postgresql: Server, unique: str, kinds: str
) -> None:
    """The commands before the one on a held row are committed at once; only the rest waits."""
    first, second = two(kinds, unique)
    assert not held_while_waiting(postgresql, first, second, [first, second], held=second)
