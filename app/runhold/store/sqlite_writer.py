"""Batches on SQLite: one connection, used by one thread. ``BEGIN IMMEDIATE`` is the lock on every row.

Another process may write to the same file; it is waited for up to the lock timeout, so nothing is ever contended.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path

from runhold.commands.model import PurgeOneShotRun, PurgeSession
from runhold.commands.outcomes import Contended, Execute, Job, Outcome
from runhold.domain.digests import Digester
from runhold.store import rows, statements
from runhold.store.batch import Batch, Changes, Share
from runhold.store.database import StartUpError, sqlite_error
from runhold.store.settings import StoreSettings
from runhold.store.statements import for_sqlite, insert, update

_RECORD_BY_KEY = f"SELECT {rows.columns(rows.RECORD_READ)} FROM records WHERE run_key = ?1 AND key_hash = ?2"
_RECORD_AT = f"SELECT {rows.columns(rows.RECORD_READ)} FROM records WHERE run_key = ?1 AND position = ?2"
_SUSPENSION = "SELECT run_key, suspension_id, data FROM suspensions WHERE run_key = ?1"
_SESSION = for_sqlite(statements.SESSION)
_RUN = for_sqlite(statements.RUN)
_RUN_BY_KEY = for_sqlite(statements.RUN_BY_KEY)

_WRITES = (
    ("new_sessions", insert("sessions", rows.SESSION)),
    ("sessions", update("sessions", rows.SESSION_CHANGES)),
    ("new_runs", insert("runs", rows.RUN)),
    ("run_labels", insert("run_labels", rows.RUN_LABEL)),
    ("runs", update("runs", rows.RUN_CHANGES)),
    ("purged_runs", update("runs", rows.RUN_SEAL)),
    ("records", insert("records", rows.RECORD)),
    ("suspensions", insert("suspensions", rows.SUSPENSION)),
)


def connect(path: Path, settings: StoreSettings) -> sqlite3.Connection:
    """Open a connection that any one thread at a time may use. Raises: sqlite3.Error."""
    connection = sqlite3.connect(
        path, timeout=settings.lock_timeout_ms / 1000, isolation_level=None, check_same_thread=False
    )
    try:
        connection.execute("PRAGMA foreign_keys = ON")
        # Durable: a commit is on the disk when it is answered. On macOS only fullfsync reaches the disk itself.
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA fullfsync = ON")
    except BaseException:
        connection.close()
        raise
    return connection


class SqliteWriter:
    """Carries out batches, for one thread."""

    def __init__(self, path: Path, settings: StoreSettings, execute: Execute) -> None:
        self._path = path
        self._settings = settings
        self._execute = execute
        self._digester = Digester(settings.integrity_key)
        self._connection: sqlite3.Connection | None = None
        self._namespaces: dict[str, int] = {}

    def open(self) -> None:
        """Connect. Raises: StartUpError, sqlite3.Error."""
        self._connection = connect(self._path, self._settings)
        (mode,) = self._connection.execute("PRAGMA journal_mode").fetchone()
        if mode != "wal":
            raise StartUpError(f"SQLite's file {self._path} has no write-ahead log: run `runhold migrate`")

    def close(self) -> None:
        """Give the connection back."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def run(self, jobs: list[Job]) -> list[list[Outcome | Contended]]:
        """Carry out a batch. Raises: Unavailable, BrokenBatchError, and what a command raises by mistake."""
        connection = self._connection
        try:
            if connection is None:
                connection = self._connection = connect(self._path, self._settings)
            connection.execute("BEGIN IMMEDIATE")
            try:
                results, namespaces = self._carry_out(connection, jobs)
                connection.execute("COMMIT")
            except BaseException:
                # After some errors SQLite has rolled back by itself.
                with suppress(sqlite3.Error):
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                raise
        except sqlite3.Error as error:
            raise sqlite_error(error) from error
        self._namespaces = namespaces
        return results

    def _carry_out(
        self, connection: sqlite3.Connection, jobs: list[Job]
    ) -> tuple[list[list[Outcome | Contended]], dict[str, int]]:
        namespaces = _namespace_keys(connection, self._namespaces, {job.namespace for job in jobs})
        batch = Batch(jobs, namespaces, self._execute, self._settings.clock(), self._digester)
        for share in batch.shares:
            _load(connection, share)
        if batch.purge is not None:
            _load_for_purge(connection, batch.shares[0], batch.purge)
        results = batch.decide()
        session_keys, run_keys = _keys(connection, "sessions", "session_key"), _keys(connection, "runs", "run_key")
        changes = batch.changes(lambda: next(session_keys), lambda: next(run_keys))
        _write(connection, changes)
        return results, namespaces


def _namespace_keys(connection: sqlite3.Connection, known: dict[str, int], wanted: set[str]) -> dict[str, int]:
    """Find the keys of namespaces, creating those that are new."""
    new = wanted - known.keys()
    if not new:
        return known
    found = dict(known)
    for namespace in sorted(new):
        connection.execute(for_sqlite(statements.NEW_NAMESPACE), (namespace,))
        (found[namespace],) = connection.execute(for_sqlite(statements.NAMESPACE), (namespace,)).fetchone()
    return found


def _load(connection: sqlite3.Connection, share: Share) -> None:
    """Find what the commands of a share need."""

    def find(statement: str, places: Iterable[Sequence[object]]) -> Iterator[rows.Row]:
        for place in places:
            yield from connection.execute(statement, place)

    run_keys = share.run_keys
    for row in find(_SESSION, ((share.key, session_id) for session_id in share.sessions)):
        share.found_session(row)
    for row in find(_RUN, ((share.key, run_id) for run_id in share.runs)):
        share.locked_run(row[0])
        share.found_run(row)
    keys = [(run_keys[run_id], hashed) for (run_id, _), hashed in share.records.items() if run_id in run_keys]
    for row in find(_RECORD_BY_KEY, keys):
        share.found_record(row)
    for row in find(_RECORD_AT, share.start_positions()):
        share.found_record(row)
    for row in find(_SUSPENSION, [(run_keys[run_id],) for run_id in share.suspensions if run_id in run_keys]):
        share.found_suspension(*row)


def _load_for_purge(connection: sqlite3.Connection, share: Share, purge: object) -> None:
    """Find what a purge needs besides."""
    match purge:
        case PurgeSession(session_id) if session_id in share.session_keys:
            key = share.session_keys[session_id]
            if connection.execute(for_sqlite(statements.HAS_RUNNING_RUN), (key,)).fetchone():
                share.state.load_running(session_id)
        case PurgeOneShotRun(run_id):
            keys = connection.execute(for_sqlite(statements.TREE), (share.key, run_id)).fetchall()
            for key in keys:
                share.found_run(connection.execute(_RUN_BY_KEY, key).fetchone())
            share.found_tree(run_id, [key for (key,) in keys])
        case _:
            pass


def _keys(connection: sqlite3.Connection, table: str, key: str) -> Iterator[int]:
    """Count on from the newest key; asked for only when there are new rows."""
    (newest,) = connection.execute(f"SELECT coalesce(max({key}), 0) FROM {table}").fetchone()
    yield from count(newest + 1)


def _write(connection: sqlite3.Connection, changes: Changes) -> None:
    for name, statement in _WRITES:
        written = getattr(changes, name)
        if len(written) == 1:
            connection.execute(statement, written[0])
        elif written:
            connection.executemany(statement, written)
    # The seals are written: now the triggers let everything else go.
    if changes.purged_session is not None:
        for statement in statements.PURGE_SESSION:
            connection.execute(for_sqlite(statement), (changes.purged_session,))
    for sealed in changes.purged_runs:
        for statement in statements.PURGE_RUN:
            connection.execute(for_sqlite(statement), (sealed[0],))
