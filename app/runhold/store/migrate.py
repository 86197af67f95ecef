"""Brings a database's schema up to date, one migrator at a time, and tells whether it is.

Replicas that start together on an empty database make one migration: the first holds a lock within its transaction, the
others wait for it and find nothing left to do.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg

from runhold.store.database import DatabaseAddress, StartUpError, parse_url

if TYPE_CHECKING:
    from alembic.config import Config
    from sqlalchemy import Connection

REVISION = "0001"
"""The newest migration: the schema that this version works with."""

SQLITE_PAGE_BYTES = 8192
"""Page size of a new file: six records of 1 KiB fit, where three would fill a page of half the size less well."""

_LOCK = 0x72756E68_6F6C6400  # "runhold", for pg_advisory_xact_lock
_WAIT_S = 600.0
"""How long a migrator waits for another."""
_CONNECT_S = 5


def migrate(url: str) -> str:
    """Create or upgrade the schema; returns the revision that the database is at now.

    Raises:
        StartUpError: it cannot be reached or used, or a newer version made its schema.
    """
    address = parse_url(url)
    try:
        if address.path is not None:
            _prepare_file(address.path)
        if _is_behind(_look(address)):
            with _locked(address) as connection:
                # Another migrator may have been here while this one waited.
                if _is_behind(_revision(connection)):
                    _upgrade(connection)
        return REVISION
    except (psycopg.Error, sqlite3.Error, OSError) as error:
        raise StartUpError(_one_line(address, error)) from error


def current_revision(url: str) -> str | None:
    """Read the revision of the schema, None when there is none. Raises: StartUpError."""
    address = parse_url(url)
    try:
        return _look(address)
    except (psycopg.Error, sqlite3.Error, OSError) as error:
        raise StartUpError(_one_line(address, error)) from error


def check_schema(url: str) -> None:
    """Check that the schema is the one that this version works with. Raises: StartUpError."""
    check_revision(current_revision(url))


def check_revision(revision: str | None) -> None:
    """Judge a revision. Raises: StartUpError, which says what to do."""
    if revision is None:
        raise StartUpError("the database has no schema yet: run `runhold migrate`")
    if _is_behind(revision):
        raise StartUpError(
            f"the database's schema is at revision {revision}, this version needs {REVISION}: run `runhold migrate`"
        )


def check_encoding(encoding: str) -> None:
    """Judge a PostgreSQL database's encoding. Raises: StartUpError."""
    if encoding != "UTF8":
        raise StartUpError(
            f"the database's encoding is {encoding}, but ids and labels may hold any Unicode: create it with "
            "ENCODING 'UTF8' TEMPLATE template0"
        )


def _is_behind(revision: str | None) -> bool:
    if revision is not None and revision > REVISION:
        raise StartUpError(
            f"the database's schema is at revision {revision}, this version knows only {REVISION}: use a newer version"
        )
    return revision != REVISION


def _look(address: DatabaseAddress) -> str | None:
    if address.path is not None:
        if not address.path.exists():
            return None
        with closing(sqlite3.connect(address.path, timeout=_WAIT_S, isolation_level=None)) as connection:
            found = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'").fetchone()
            row = connection.execute("SELECT version_num FROM alembic_version").fetchone() if found else None
            return None if row is None else str(row[0])
    with psycopg.connect(address.conninfo, autocommit=True, connect_timeout=_CONNECT_S) as server:
        server.prepare_threshold = None
        row = server.execute("SHOW server_encoding").fetchone()
        check_encoding(str(row[0]) if row else "")
        row = server.execute("SELECT to_regclass('alembic_version')").fetchone()
        if row is None or row[0] is None:
            return None
        row = server.execute("SELECT version_num FROM alembic_version").fetchone()
        return None if row is None else str(row[0])


def _prepare_file(path: Path) -> None:
    """Make SQLite's file with its page size and write-ahead log, both of which stay with it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path, timeout=_WAIT_S, isolation_level=None)) as connection:
        if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            connection.execute(f"PRAGMA page_size = {SQLITE_PAGE_BYTES:d}")
            connection.execute("PRAGMA journal_mode = WAL")


@contextmanager
def _locked(address: DatabaseAddress) -> Iterator[Connection]:
    """A connection in a transaction that no other migrator is in; committed at the end."""
    from sqlalchemy import create_engine
    from sqlalchemy.pool import NullPool

    if address.path is not None:
        path = address.path
        engine = create_engine(
            "sqlite://",
            creator=lambda: sqlite3.connect(path, timeout=_WAIT_S, isolation_level=None),
            poolclass=NullPool,
        )
        with engine.connect() as connection:
            connection.exec_driver_sql("BEGIN EXCLUSIVE")
            yield connection
            connection.exec_driver_sql("COMMIT")
        return
    engine = create_engine(
        "postgresql+psycopg://",
        # A transaction pooler may stand between: no prepared statements, and a lock that ends with the transaction.
        creator=lambda: psycopg.connect(address.conninfo, prepare_threshold=None, connect_timeout=_CONNECT_S),
        poolclass=NullPool,
    )
    with engine.begin() as connection:
        # The role may have limits that are right for everything else.
        connection.exec_driver_sql("SET LOCAL lock_timeout = 0")
        connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK:d})")
        yield connection


def _revision(connection: Connection) -> str | None:
    from alembic.runtime.migration import MigrationContext

    return MigrationContext.configure(connection).get_current_revision()


def _upgrade(connection: Connection) -> None:
    from alembic import command

    config = alembic_config()
    config.attributes["connection"] = connection
    command.upgrade(config, REVISION)


def alembic_config() -> Config:
    """Alembic's view of the migrations: inside the package once it is installed, at the top of a checkout."""
    from alembic.config import Config

    package = Path(__file__).parents[1]
    installed = package / "migrations"
    config = Config()
    config.set_main_option(
        "script_location", str(installed if installed.is_dir() else package.parents[1] / "migrations")
    )
    config.set_main_option("path_separator", "os")
    return config


def _one_line(address: DatabaseAddress, error: Exception) -> str:
    what = f"SQLite's file {address.path}" if address.path is not None else "PostgreSQL"
    return f"{what} cannot be used: {' '.join(str(error).split()) or type(error).__name__}"
