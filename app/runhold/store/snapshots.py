"""The rows that are proven, read one snapshot at a time: a session with its runs, or a one-shot run.

A snapshot sees one committed state, so what others commit meanwhile is never half seen; the next one begins anew, so
that no long one keeps the database from cleaning up. Nothing is locked and nothing is written.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Protocol

import psycopg
from psycopg import RawCursor, RawServerCursor

from runhold.store import rows
from runhold.store.database import StartUpError, parse_url
from runhold.store.rows import Row
from runhold.store.statements import for_sqlite

_AT_ONCE = 1_000
"""Rows that are fetched at once. A record may hold 8 MiB, so those come by fewer."""
_RECORDS_AT_ONCE = 50

_RUN = f"{rows.columns(rows.RUN, 'r.')}, s.session_id"
_RUNS = "FROM runs r LEFT JOIN sessions s ON s.session_key = r.session_key"

NAMESPACES = "SELECT namespace_key, name FROM namespaces ORDER BY name"
SESSIONS = (
    "SELECT session_key FROM sessions WHERE namespace_key = $1 AND session_key > $2 ORDER BY session_key LIMIT 1000"
)
ONE_SHOT_RUNS = (
    "SELECT run_key FROM runs WHERE namespace_key = $1 AND session_key IS NULL AND run_key > $2"
    " ORDER BY run_key LIMIT 1000"
)
SESSION_KEY = "SELECT session_key FROM sessions WHERE namespace_key = $1 AND session_id = $2"
SESSION = f"SELECT {rows.columns(rows.SESSION)} FROM sessions WHERE session_key = $1"
RUNS_OF_SESSION = f"SELECT {_RUN} {_RUNS} WHERE r.session_key = $1 ORDER BY r.session_ordinal"
RUN = f"SELECT {_RUN} {_RUNS} WHERE r.run_key = $1"
RUN_OF_ID = f"SELECT {_RUN} {_RUNS} WHERE r.namespace_key = $1 AND r.run_id = $2"
RECORDS = (
    f"SELECT {rows.columns(rows.RECORD_READ)}, session_key, key_hash FROM records WHERE run_key = $1 ORDER BY position"
)
RECORD_TYPE = "SELECT type FROM records WHERE run_key = $1 AND position = $2"
SESSION_POSITIONS = "SELECT session_position FROM records WHERE session_key = $1 ORDER BY session_position"
RECORDS_LEFT = "SELECT count(*) FROM records WHERE session_key = $1"
LEFT_OF_RUN = (
    "SELECT (SELECT count(*) FROM records WHERE run_key = $1) + (SELECT count(*) FROM suspensions WHERE run_key = $1)"
    " + (SELECT count(*) FROM run_labels WHERE run_key = $1)"
)
SUSPENSION = "SELECT suspension_id FROM suspensions WHERE run_key = $1"
LABELS = f"SELECT {rows.columns(rows.RUN_LABEL)} FROM run_labels WHERE run_key = $1"


class Snapshot(Protocol):
    """One committed state of the database."""

    def rows(self, statement: str, *parameters: object) -> Iterator[Row]:
        """Read some rows, all at once."""
        ...

    def stream(self, statement: str, *parameters: object) -> Iterator[Row]:
        """Read any number of rows, a few at a time; several may be read in turn."""
        ...


class Database(Protocol):
    """A database that snapshots can be taken of."""

    def snapshot(self) -> AbstractContextManager[Snapshot]:
        """Open a snapshot."""
        ...

    def close(self) -> None:
        """Give the connection back."""


class _SqliteSnapshot:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def rows(self, statement: str, *parameters: object) -> Iterator[Row]:
        yield from self._connection.execute(for_sqlite(statement), parameters)

    stream = rows


class SqliteDatabase:
    """SQLite's file, opened for reading only."""

    def __init__(self, path: Path) -> None:
        self._path = path.absolute()

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """Open a snapshot. Raises: StartUpError."""
        try:
            connection = sqlite3.connect(f"{self._path.as_uri()}?mode=ro", uri=True, isolation_level=None, timeout=10)
        except sqlite3.Error as error:
            raise StartUpError(f"SQLite's file {self._path} cannot be read: {error}") from error
        with closing(connection):
            connection.execute("BEGIN")
            yield _SqliteSnapshot(connection)

    def close(self) -> None:
        """Nothing to do: every snapshot has a connection of its own."""


class _PostgresqlSnapshot:
    def __init__(self, connection: psycopg.Connection[Row]) -> None:
        self._connection = connection
        self._streams = 0

    def rows(self, statement: str, *parameters: object) -> Iterator[Row]:
        with RawCursor(self._connection) as cursor:
            yield from cursor.execute(statement, parameters).fetchall()

    def stream(self, statement: str, *parameters: object) -> Iterator[Row]:
        self._streams += 1
        with RawServerCursor(self._connection, f"verify_{self._streams}") as cursor:
            cursor.itersize = _RECORDS_AT_ONCE if "payload" in statement else _AT_ONCE
            cursor.execute(statement, parameters)
            yield from cursor


class PostgresqlDatabase:
    """A PostgreSQL server; one connection, whose every transaction reads one state and writes nothing."""

    def __init__(self, conninfo: str) -> None:
        self._connection = psycopg.connect(conninfo, application_name="runhold verify")
        self._connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        self._connection.read_only = True

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """Open a snapshot."""
        with self._connection.transaction():
            # As the service does: the lookups here are made for their indexes.
            self._connection.execute("SET LOCAL enable_seqscan = off")
            yield _PostgresqlSnapshot(self._connection)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def open_database(url: str) -> Database:
    """Open a database for reading. Raises: StartUpError."""
    address = parse_url(url)
    if address.path is not None:
        if not address.path.exists():
            raise StartUpError(f"there is no SQLite file {address.path}")
        return SqliteDatabase(address.path)
    try:
        return PostgresqlDatabase(address.conninfo)
    except psycopg.Error as error:
        raise StartUpError(f"the database cannot be reached: {' '.join(str(error).split())}") from error
