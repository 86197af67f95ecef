"""Reads on SQLite, each in one transaction on a connection of its own, so that it sees one state of the database."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from runhold.domain.paging import RecordPage, RecordQuery, RunPage, RunQuery, SessionPage, SessionQuery
from runhold.domain.sessions import require_session
from runhold.domain.values import Milliseconds, Run, RunSuspension, Session
from runhold.store import lists, pages, rows, statements
from runhold.store.database import sqlite_error
from runhold.store.settings import StoreSettings
from runhold.store.sqlite_writer import connect
from runhold.store.statements import for_sqlite

_Result = TypeVar("_Result")
_NOWHERE = 0
"""The key that no namespace has."""


class SqliteReads:
    """What is read on one connection, by one thread at a time.

    ``namespaces`` holds the keys found so far; a namespace's key never changes.
    """

    def __init__(self, connection: sqlite3.Connection, namespaces: dict[str, int]) -> None:
        self._connection = connection
        self._namespaces = namespaces

    @classmethod
    def opened(cls, path: Path, settings: StoreSettings, namespaces: dict[str, int]) -> SqliteReads:
        """Open a connection that writes nothing. Raises: Unavailable."""
        try:
            connection = connect(path, settings)
            connection.execute("PRAGMA query_only = ON")
        except sqlite3.Error as error:
            raise sqlite_error(error) from error
        return cls(connection, namespaces)

    def close(self) -> None:
        """Give the connection back."""
        self._connection.close()

    def read(self, work: Callable[[SqliteReads], _Result]) -> _Result:
        """Do some reading in one transaction. Raises: Unavailable, and what ``work`` raises."""
        try:
            self._connection.execute("BEGIN")
            try:
                return work(self)
            finally:
                self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise sqlite_error(error) from error

    def revision(self) -> str | None:
        """Read the revision of the schema."""
        row = self._connection.execute("SELECT version_num FROM alembic_version").fetchone()
        return None if row is None else str(row[0])

    def running_runs(self) -> tuple[int, Milliseconds | None]:
        """Count the running runs of all namespaces; the start of the oldest, None without any."""
        count, oldest = self._connection.execute(statements.RUNNING_RUNS).fetchone()
        return count, oldest

    def load_session(self, namespace: str, session_id: str) -> Session:
        """Read a session. Raises: SessionNotFound, SessionPurged."""
        return self._session(namespace, session_id)[1]

    def load_run(self, namespace: str, run_id: str) -> Run:
        """Read a run. Raises: RunNotFound."""
        return self._run(namespace, run_id)[1]

    def load_run_suspension(self, namespace: str, run_id: str) -> RunSuspension:
        """Read a checkpoint. Raises: RunNotFound, RunSuspensionNotFound."""
        found = self._one(statements.RUN_SUSPENSION, self._namespace_key(namespace), run_id)
        return rows.found_suspension(found, run_id)

    def list_run_records(self, namespace: str, run_id: str, query: RecordQuery) -> RecordPage:
        """Read a run's records by position. Raises: RunNotFound."""
        run_key, run = self._run(namespace, run_id)
        return self._records("run", run_key, run.record_count, query)

    def list_session_run_records(self, namespace: str, session_id: str, query: RecordQuery) -> RecordPage:
        """Read a session's records in commit order. Raises: SessionNotFound, SessionPurged."""
        session_key, session = self._session(namespace, session_id)
        return self._records("session", session_key, session.record_count, query)

    def list_sessions(self, namespace: str, query: SessionQuery) -> SessionPage:
        """Read sessions by (created_at, id)."""
        return lists.session_page(
            self._ask(lists.sessions_question("sqlite", self._namespace_key(namespace), query)), query
        )

    def list_runs_by_session(self, namespace: str, session_id: str, query: RunQuery) -> RunPage:
        """Read a session's runs in the order of their starts. Raises: SessionNotFound, SessionPurged."""
        session_key, _ = self._session(namespace, session_id)
        return lists.run_page(
            self._ask(lists.session_runs_question("sqlite", session_key, query)), query, by_ordinal=True
        )

    def list_runs(self, namespace: str, query: RunQuery) -> RunPage:
        """Read runs by (started_at, id)."""
        key = self._namespace_key(namespace)
        driver, fewest = "", lists.PROBED + 1
        for name in lists.drivers(query):
            ((found,),) = self._ask(lists.probe_question("sqlite", key, query, name))
            if found < fewest:
                driver, fewest = name, found
        return lists.run_page(self._ask(lists.runs_question("sqlite", key, query, driver)), query)

    def _namespace_key(self, namespace: str) -> int:
        key = self._namespaces.get(namespace)
        if key is None:
            row = self._one(statements.NAMESPACE, namespace)
            if row is None:
                return _NOWHERE
            key = self._namespaces[namespace] = int(row[0])
        return key

    def _session(self, namespace: str, session_id: str) -> tuple[int, Session]:
        row = self._one(statements.SESSION, self._namespace_key(namespace), session_id)
        session = require_session(None if row is None else rows.session_value(row), session_id)
        return (0 if row is None else row[0]), session

    def _run(self, namespace: str, run_id: str) -> tuple[int, Run]:
        row = self._one(statements.RUN, self._namespace_key(namespace), run_id)
        return (0 if row is None else row[0]), rows.found_run(row, run_id)

    def _records(self, owner: str, key: int, head: int, query: RecordQuery) -> RecordPage:
        filtered = (bool(query.types), bool(query.turn_ids))
        filters = [json.dumps(values) for values in (query.types, query.turn_ids) if values]
        start = pages.bound(query)
        # The sizes first, without reading the payloads: a page then loads what it returns and no more.
        sizes = self._connection.execute(
            _sizes_sql(owner, query.descending, *filtered), (key, start, *filters, query.limit + 1)
        ).fetchall()
        count, last, has_more = pages.fitting(sizes, query)
        records = []
        if count:
            found = self._connection.execute(
                _records_sql(owner, query.descending, query.summary, *filtered), (key, start, *filters, last)
            )
            for row in found:
                payload = "" if query.summary else row[8].decode()
                records.append(pages.stored_record(row, row[9], row[10], row[11] or "", payload))
        summary = [size for _, size in sizes[:count]] if query.summary else []
        return pages.record_page(records, summary, query, last=last, has_more=has_more, head=head)

    def _one(self, statement: str, *parameters: object) -> rows.Row | None:
        row: rows.Row | None = self._connection.execute(for_sqlite(statement), parameters).fetchone()
        return row

    def _ask(self, question: lists.Question) -> list[rows.Row]:
        sql, parameters = question
        return self._connection.execute(sql.text, parameters).fetchall()


@lru_cache(64)
def _sizes_sql(owner: str, descending: bool, by_type: bool, by_turn: bool) -> str:
    place = "position" if owner == "run" else "session_position"
    return (
        f"SELECT c.{place}, length(c.payload) FROM records c WHERE {_range(owner, descending, by_type, by_turn)}"
        f" ORDER BY c.{place} {'DESC' if descending else 'ASC'} LIMIT ?"
    )


@lru_cache(64)
def _records_sql(owner: str, descending: bool, summary: bool, by_type: bool, by_turn: bool) -> str:
    place = "position" if owner == "run" else "session_position"
    return (
        "SELECT c.position, c.session_position, c.timestamp, c.stored_at, c.digest, c.event_key, c.turn_id, c.type,"
        f" {'NULL' if summary else 'c.payload'}, r.run_id, r.agent_id, s.session_id"
        " FROM records c CROSS JOIN runs r ON r.run_key = c.run_key"
        " LEFT JOIN sessions s ON s.session_key = c.session_key"
        f" WHERE {_range(owner, descending, by_type, by_turn)} AND c.{place} {'>=' if descending else '<='} ?"
        f" ORDER BY c.{place} {'DESC' if descending else 'ASC'}"
    )


def _range(owner: str, descending: bool, by_type: bool, by_turn: bool) -> str:
    key, place = ("run_key", "position") if owner == "run" else ("session_key", "session_position")
    conditions = [f"c.{key} = ?", f"c.{place} {'<' if descending else '>'} ?"]
    # A unary plus keeps SQLite from looking for another index than the one in the page's order.
    conditions += ["+c.type IN (SELECT value FROM json_each(?))"] * by_type
    conditions += ["+c.turn_id IN (SELECT value FROM json_each(?))"] * by_turn
    return " AND ".join(conditions)
