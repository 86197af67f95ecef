"""Which database it is, and what its errors mean. The only place that reads a database URL.

An error is *temporary* (the same bytes may be sent again later: ``Unavailable``), a *lost race* (another process was
first: run again), or *broken* (the database refused a value, or failed at one: a batch is run again one by one to find
whose).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
from psycopg import errors as pg
from psycopg.conninfo import make_conninfo

from runhold.commands.outcomes import BrokenBatchError, DatabaseFailedError, LostRaceError
from runhold.domain.errors import Unavailable

ALLOWED = "must be sqlite:///path or postgresql://user:password@host:port/name"


class StartUpError(RuntimeError):
    """The database cannot be used as it is; the text says why and what to do, in one line, without a password."""


@dataclass(frozen=True, slots=True)
class DatabaseAddress:
    """Where the database is: a file, or a PostgreSQL server."""

    path: Path | None = None
    """SQLite's file."""
    conninfo: str = field(default="", repr=False)
    """PostgreSQL's connection string, password included."""

    @property
    def is_sqlite(self) -> bool:
        """Whether it is a file."""
        return self.path is not None


def parse_url(url: str) -> DatabaseAddress:
    """Read a database URL. A path is taken as it is written; in a PostgreSQL URL percent-escapes are decoded.

    Raises:
        StartUpError: another kind of URL, or a part that cannot be read; the text never quotes it.
    """
    if url.startswith("sqlite:///"):
        path = url.removeprefix("sqlite:///")
        if not path or path == ":memory:":
            raise StartUpError(f"the database URL {ALLOWED}: a database in memory could not be shared")
        return DatabaseAddress(path=Path(path))
    if url.startswith(("postgresql://", "postgres://")):
        try:
            return DatabaseAddress(conninfo=make_conninfo(url))
        except (psycopg.Error, ValueError):
            # The driver's own words may quote the password.
            raise StartUpError(
                f"the database URL {ALLOWED}; in user, password and name write % as %25, @ as %40, / as %2F"
            ) from None
    raise StartUpError(f"the database URL {ALLOWED}")


# PostgreSQL's SQLSTATEs

_LOST_RACE = {
    "23505",  # unique_violation: an identical command was committed between our reading and our writing
    "40P01",  # deadlock_detected
    "40001",  # serialization_failure
}
_TEMPORARY_CLASSES = ("08", "53", "57", "58")
"""Connection, resources (connections, disk, memory), operator intervention (57014: statement_timeout), system."""
_TEMPORARY = {
    "25006",  # read_only_sql_transaction: the connection leads to a standby
    "25P03",  # idle_in_transaction_session_timeout
    "55P03",  # lock_not_available: lock_timeout
    "0A000",  # feature_not_supported: a prepared plan whose result type a migration changed
    # A pooler in transaction mode that nobody told us of: prepared statements get lost or mixed up.
    "26000",
    "42P05",
    "08P01",
}
_FAILED_CLASS = "XX"
"""Internal errors: a damaged page, a file that may not grow. Perhaps at one row only, so the others are tried alone."""
_REPLACE_CONNECTION = {"25006", "0A000", "26000", "42P05", "25P03"}
"""After these a new connection is likelier to work."""


class ConnectionLost(pg.OperationalError):
    """The connection broke; what was sent may or may not have been done."""


class AnswerLate(ConnectionLost):
    """The server did not answer in time, and the connection was given up."""


class StaleConnection(ConnectionLost):
    """The connection broke before anything was to be stored: the same work may go to a new one at once."""


@contextmanager
def nothing_stored_yet() -> Iterator[None]:
    """Within this block a broken connection is only a stale one. Raises: StaleConnection."""
    try:
        yield
    except psycopg.Error as error:
        if wants_new_connection(error) and not isinstance(error, AnswerLate):
            raise StaleConnection(str(error)) from error
        raise


def wants_new_connection(error: BaseException) -> bool:
    """Tell whether the connection that raised this should not be used again."""
    return isinstance(error, psycopg.Error) and (
        error.sqlstate is None or error.sqlstate in _REPLACE_CONNECTION or error.sqlstate.startswith(("08", "57P"))
    )


def postgresql_error(error: psycopg.Error) -> Exception:
    """Translate what PostgreSQL or its driver said.

    Returns: ``Unavailable``, ``LostRaceError``, ``BrokenBatchError`` or ``DatabaseFailedError``.
    """
    state = error.sqlstate
    if state in _LOST_RACE:
        return LostRaceError(state)
    if state is None:
        # Broken, refused, or never made: the driver has no state for it. Errors of encoding are not of this kind.
        return _unavailable("no connection") if isinstance(error, pg.OperationalError) else BrokenBatchError(str(error))
    if state in _TEMPORARY or state.startswith(_TEMPORARY_CLASSES):
        return _unavailable(state)
    said = f"{state} {error.diag.message_primary}"
    return DatabaseFailedError(said) if state.startswith(_FAILED_CLASS) else BrokenBatchError(said)


# SQLite's primary result codes

_SQLITE_TEMPORARY = {
    sqlite3.SQLITE_BUSY: "another process holds the file",
    sqlite3.SQLITE_LOCKED: "another process holds the file",
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_IOERR: "the disk failed",
    sqlite3.SQLITE_CANTOPEN: "the file cannot be opened",
    sqlite3.SQLITE_READONLY: "the file cannot be written",
    sqlite3.SQLITE_NOMEM: "out of memory",
    sqlite3.SQLITE_INTERRUPT: "it took too long",
    sqlite3.SQLITE_PROTOCOL: "another process holds the file",
}


def sqlite_error(error: sqlite3.Error) -> Exception:
    """Translate what SQLite said: ``Unavailable`` or ``BrokenBatchError``. No race is lost: one writes at a time."""
    reason = _SQLITE_TEMPORARY.get(getattr(error, "sqlite_errorcode", 0) & 0xFF)
    return BrokenBatchError(str(error)) if reason is None else _unavailable(reason)


def _unavailable(reason: str) -> Unavailable:
    return Unavailable(f"the database cannot answer now ({reason})")
