"""A real store on each database, driven without a writer, and raw SQL beside it."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import psycopg
import pytest

from runhold.commands.model import Command
from runhold.commands.outcomes import CommandStore, Contended, Job, Outcome
from runhold.store import StoreSettings, open_store
from runhold.store.migrate import migrate
from runhold.store.postgresql import PostgresqlStore
from runhold.store.sqlite import SqliteStore
from runhold.writer import lock_keys

Store = PostgresqlStore | SqliteStore
Result = TypeVar("Result")


def job(*commands: Command, namespace: str = "default") -> Job:
    """A job of these commands."""
    return Job(namespace, list(commands), [lock_keys(namespace, command) for command in commands], 0)


async def run(store: CommandStore, *commands: Command, wait: bool = False) -> list[Outcome | Contended]:
    """Carry out commands in one job."""
    return (await store.run_batch([job(*commands)], wait=wait))[0]


@asynccontextmanager
async def opened(url: str, **settings: Any) -> AsyncIterator[Store]:
    """An open store on a migrated database."""
    await asyncio.to_thread(migrate, url)
    store = await open_store(StoreSettings(url=url, **settings))
    try:
        yield store
    finally:
        await store.close()


@pytest.fixture
def with_store(database_url: str) -> Callable[[Callable[[Store], Awaitable[Result]]], Result]:
    """Run a coroutine function on a fresh store."""

    def run_it(work: Callable[[Store], Awaitable[Result]], **settings: Any) -> Result:
        async def inside() -> Result:
            async with opened(database_url, **settings) as store:
                return await work(store)

        return asyncio.run(inside())

    return run_it


class Sql:
    """Raw SQL on a database, each statement committed by itself."""

    def __init__(self, url: str) -> None:
        self.is_postgresql = url.startswith("postgresql")
        self._connection: Any = (
            psycopg.connect(url, autocommit=True)
            if self.is_postgresql
            else sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None, timeout=10)
        )

    def __call__(self, statement: str, *values: Any) -> list[Any]:
        """Run a statement with ``?`` for its values; the rows it answers."""
        if self.is_postgresql:
            statement = statement.replace("?", "%s")
        cursor = self._connection.execute(statement, values)
        return cursor.fetchall() if cursor.description else []

    def refuses(self, statement: str, *values: Any) -> str:
        """Run a statement that must be refused, and change nothing; what the database said."""
        with pytest.raises((psycopg.Error, sqlite3.Error)) as refused:
            self(statement, *values)
        assert not isinstance(refused.value, psycopg.ProgrammingError), refused.value
        return str(refused.value)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


@pytest.fixture
def sql(database_url: str) -> Iterator[Sql]:
    """Raw SQL on the test's database, once it is migrated."""
    migrate(database_url)
    found = Sql(database_url)
    yield found
    found.close()
