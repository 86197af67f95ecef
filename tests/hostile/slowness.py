"""A database that is made to take its time at one statement: triggers of the test's own, beside the service's."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import LiteralString

import psycopg

LONG_SECONDS = 60.0
_ROWS_PER_SECOND = 3_000_000
"""What SQLite counts in about a second; on a faster machine it is only quicker."""


def _sqlite(url: str, timeout: float = 30) -> sqlite3.Connection:
    return sqlite3.connect(url.removeprefix("sqlite:///"), timeout=timeout, isolation_level=None)


@contextmanager
def slow(url: str, table: LiteralString, what: LiteralString, seconds: float, only: LiteralString) -> Iterator[None]:
    """Within this block each row that is stored in (or deleted from) a table takes its time.

    Args:
        url: the database, with the service's schema.
        table: the table.
        what: INSERT or DELETE.
        seconds: how long a row takes; on SQLite about.
        only: a condition on NEW or OLD.
    """
    if url.startswith("sqlite"):
        with closing(_sqlite(url)) as connection:
            # A trigger cannot recurse, but it may look at a view that does.
            connection.executescript(f"""
                CREATE VIEW slowness AS WITH RECURSIVE c (x) AS
                    (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT {int(seconds * _ROWS_PER_SECOND)})
                    SELECT count(*) AS n FROM c;
                CREATE TRIGGER slow BEFORE {what} ON {table} WHEN {only} BEGIN SELECT n FROM slowness; END;
            """)
        yield
        with closing(_sqlite(url)) as connection:
            connection.executescript("DROP TRIGGER slow; DROP VIEW slowness;")
        return
    result: LiteralString = "NEW" if what == "INSERT" else "OLD"
    with psycopg.connect(url, autocommit=True) as database:
        database.execute(
            "CREATE FUNCTION slowness() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN PERFORM pg_sleep(TG_ARGV[0]::float8); RETURN {result}; END $$"
        )
        database.execute(
            f"CREATE TRIGGER slow BEFORE {what} ON {table} FOR EACH ROW WHEN ({only})"
            f" EXECUTE FUNCTION slowness('{seconds:f}')".encode()
        )
    yield
    with psycopg.connect(url, autocommit=True) as database:
        # Whoever still sleeps has lost its client: it would hold its locks until it wakes up.
        database.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'")
        database.execute(f"DROP TRIGGER slow ON {table}".encode())
        database.execute("DROP FUNCTION slowness()")


def wait_until_slow(url: str, seconds: float = 10.0) -> None:
    """Wait until somebody's statement takes its time. Raises: AssertionError when nobody's does."""
    deadline = time.monotonic() + seconds
    while not _is_slow(url):
        assert time.monotonic() < deadline, "no statement is slow"
        time.sleep(0.02)


def _is_slow(url: str) -> bool:
    if not url.startswith("sqlite"):
        statement = (
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()"
        )
        with psycopg.connect(url, autocommit=True) as database:
            return database.execute(statement).fetchone() != (0,)

    def is_locked() -> bool:
        connection = _sqlite(url, timeout=0)
        try:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("ROLLBACK")
        except sqlite3.OperationalError:
            return True
        finally:
            connection.close()
        return False

    if not is_locked():
        return False
    # A transaction that is not slow is over by now.
    time.sleep(0.1)
    return is_locked()
