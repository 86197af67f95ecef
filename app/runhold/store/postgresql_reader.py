"""Reads on PostgreSQL, on a few connections of their own. Each sees one state of the database."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from functools import lru_cache
from operator import itemgetter
from typing import TypeVar

import psycopg

from runhold.commands.outcomes import DatabaseFailedError
from runhold.domain.errors import RunNotFound, Unavailable
from runhold.domain.paging import RecordPage, RecordQuery, RunPage, RunQuery, SessionPage, SessionQuery
from runhold.domain.sessions import require_session
from runhold.domain.values import Milliseconds, Run, RunRecord, RunSuspension, Session, SessionStatus, StoredRecord
from runhold.store import lists, pages, rows, statements
from runhold.store.database import nothing_stored_yet, postgresql_error
from runhold.store.parameters import INT8, TEXT, TEXT_ARRAY, int8, text, text_array
from runhold.store.pipeline import BEGIN_SNAPSHOT, COMMIT, Pipeline, Statement, Step
from runhold.store.pool import Pool
from runhold.store.settings import StoreSettings

log = logging.getLogger(__name__)

_Result = TypeVar("_Result")
_NOWHERE = 0
"""The key that no namespace has."""

_NAMESPACE = Statement(statements.NAMESPACE, TEXT)
_SESSION = Statement(statements.NEAREST_SESSION, INT8, TEXT)
_RUN = Statement(statements.NEAREST_RUN, INT8, TEXT)
_RUN_SUSPENSION = Statement(statements.NEAREST_RUN_SUSPENSION, INT8, TEXT)
_RUNNING_RUNS = Statement(statements.RUNNING_RUNS)
_REVISION = Statement("SELECT version_num::text FROM alembic_version")


class PostgresqlReader:
    """Reads, a few at a time; the rest wait for a connection. All raise ``Unavailable``."""

    def __init__(self, connections: Pool, settings: StoreSettings, local: Statement) -> None:
        self._connections = connections
        self._before: list[Step] = [(local, ())] if settings.transaction_pooler else []
        self._namespaces: dict[str, int] = {}

    async def close(self) -> None:
        """Give every connection back."""
        await self._connections.close()

    async def revision(self) -> str | None:
        """Read the revision of the schema, None when there is none."""
        try:
            return str((await self._rows(_REVISION))[0][0])
        except psycopg.errors.UndefinedTable:
            return None

    @property
    def pool(self) -> tuple[int, int]:
        """How many connections there may be, and how many are in use."""
        return self._connections.size, self._connections.lent

    async def running_runs(self) -> tuple[int, Milliseconds | None]:
        """Count the running runs of all namespaces; the start of the oldest, None without any."""
        ((count, oldest),) = await self._rows(_RUNNING_RUNS)
        return count, oldest

    async def load_session(self, namespace: str, session_id: str) -> Session:
        """Read a session. Raises: SessionNotFound, SessionPurged."""
        key = await self._namespace_key(namespace)
        return _session(await self._rows(_SESSION, int8(key), text(session_id)), session_id)

    async def load_run(self, namespace: str, run_id: str) -> Run:
        """Read a run. Raises: RunNotFound."""
        key = await self._namespace_key(namespace)
        return rows.found_run(_first(await self._rows(_RUN, int8(key), text(run_id))), run_id)

    async def load_run_suspension(self, namespace: str, run_id: str) -> RunSuspension:
        """Read a checkpoint. Raises: RunNotFound, RunSuspensionNotFound."""
        key = await self._namespace_key(namespace)
        return rows.found_suspension(_first(await self._rows(_RUN_SUSPENSION, int8(key), text(run_id))), run_id)

    async def list_run_records(self, namespace: str, run_id: str, query: RecordQuery) -> RecordPage:
        """Read a run's records by position. Raises: RunNotFound."""
        found = await self._page("run", namespace, run_id, query)
        if not found:
            raise RunNotFound(f"there is no run {run_id!r}")
        head, _, agent_id, session_id = found[0][:4]
        return _record_page(found, head, query, (run_id, agent_id, session_id or ""))

    async def list_session_run_records(self, namespace: str, session_id: str, query: RecordQuery) -> RecordPage:
        """Read a session's records in commit order. Raises: SessionNotFound, SessionPurged."""
        found = await self._page("session", namespace, session_id, query)
        if not found or found[0][1] == "purged":
            require_session(None if not found else Session(session_id, SessionStatus.PURGED, 0, None), session_id)
        return _record_page(found, found[0][0], query, ("", "", session_id))

    async def list_sessions(self, namespace: str, query: SessionQuery) -> SessionPage:
        """Read sessions by (created_at, id)."""
        key = await self._namespace_key(namespace)
        found = await self._rows(*_asked(lists.sessions_question("postgresql", key, query)))
        return lists.session_page(found, query)

    async def list_runs_by_session(self, namespace: str, session_id: str, query: RunQuery) -> RunPage:
        """Read a session's runs in the order of their starts. Raises: SessionNotFound, SessionPurged."""
        key = await self._namespace_key(namespace)

        async def read(pipeline: Pipeline) -> RunPage:
            begin: list[Step] = [(BEGIN_SNAPSHOT, ()), *self._before]
            results = await pipeline.run([*begin, (_SESSION, (int8(key), text(session_id)))])
            found = results[-1]
            require_session(rows.session_value(found[0]) if found else None, session_id)
            statement, *parameters = _asked(lists.session_runs_question("postgresql", found[0][0], query))
            results = await pipeline.run([(statement, parameters), (COMMIT, ())])
            return lists.run_page(results[0], query, by_ordinal=True)

        return await self._read(read)

    async def list_runs(self, namespace: str, query: RunQuery) -> RunPage:
        """Read runs by (started_at, id)."""
        key = await self._namespace_key(namespace)
        driver, fewest = "", lists.PROBED + 1
        for name in lists.drivers(query):
            ((found,),) = await self._rows(*_asked(lists.probe_question("postgresql", key, query, name)))
            if found < fewest:
                driver, fewest = name, found
        return lists.run_page(await self._rows(*_asked(lists.runs_question("postgresql", key, query, driver))), query)

    async def _namespace_key(self, namespace: str) -> int:
        key = self._namespaces.get(namespace)
        if key is None:
            found = await self._rows(_NAMESPACE, text(namespace))
            if not found:
                return _NOWHERE
            key = self._namespaces[namespace] = int(found[0][0])
        return key

    async def _page(self, owner: str, namespace: str, name: str, query: RecordQuery) -> list[rows.Row]:
        key = await self._namespace_key(namespace)
        shape = (owner, query.descending, query.summary, bool(query.types), bool(query.turn_ids))
        parameters = [int8(key), text(name), int8(pages.bound(query)), int8(query.limit + 1)]
        if not query.summary:
            parameters.append(int8(query.max_payload_bytes))
        parameters += [text_array(values) for values in (query.types, query.turn_ids) if values]
        found = await self._rows(_page_statement(*shape), *parameters)
        if found and not query.summary and (found[0][_TOTAL] or 0) > query.max_payload_bytes:
            found = await self._rows(_page_statement(*shape, long=True), *parameters)
        if len(found) > 1:
            # The rows come in order by the way they are found, but without a sort nothing promises it.
            found.sort(key=itemgetter(_POSITION if owner == "run" else _SESSION_POSITION), reverse=query.descending)
        return found

    async def _rows(self, statement: Statement, *parameters: bytes) -> list[rows.Row]:
        """Run one statement."""
        steps: list[Step] = [(statement, parameters)]
        if self._before:
            steps = [(BEGIN_SNAPSHOT, ()), *self._before, *steps, (COMMIT, ())]

        async def read(pipeline: Pipeline) -> list[rows.Row]:
            results = await pipeline.run(steps)
            return results[0] if len(steps) == 1 else results[-2]

        return await self._read(read)

    async def _read(self, work: Callable[[Pipeline], Awaitable[_Result]]) -> _Result:
        async def read(pipeline: Pipeline) -> _Result:
            with nothing_stored_yet():
                return await work(pipeline)

        try:
            return await self._connections.use(read)
        except psycopg.errors.UndefinedTable:
            raise
        except psycopg.Error as error:
            found = postgresql_error(error)
            if isinstance(found, DatabaseFailedError):
                log.warning("the database failed", extra={"reason": str(found)})
                raise Unavailable("the database failed to read") from error
            raise found from error


def _first(found: list[rows.Row]) -> rows.Row | None:
    return found[0] if found else None


def _session(found: list[rows.Row], session_id: str) -> Session:
    return require_session(rows.session_value(found[0]) if found else None, session_id)


def _asked(question: lists.Question) -> tuple[Statement, *tuple[bytes, ...]]:
    """Turn a question into a statement whose parameters are text, of types that the server infers."""
    sql, parameters = question
    return _inferred(sql.text, len(parameters)), *(str(value).encode() for value in parameters)


@lru_cache(512)
def _inferred(sql: str, count: int) -> Statement:
    return Statement(sql, count=count)


_OWNERS = {
    "run": (
        "SELECT r.run_key AS owner, r.record_count AS head, r.status, r.agent_id, s.session_id"
        f" FROM {statements.RUN_OF_ID} r LEFT JOIN sessions s ON s.session_key = r.session_key"
        " WHERE r.run_id = $2 AND r.status <> 'purged'"
    ),
    "session": (
        "SELECT s.session_key AS owner, s.record_count AS head, s.status, NULL::text AS agent_id,"
        f" NULL::text AS session_id FROM {statements.SESSION_OF_ID} s WHERE s.session_id = $2"
    ),
}
_COLUMNS = rows.RECORD_READ[:-1]
# Where a page's rows hold what, after the four columns of the owner.
_TOTAL, _POSITION, _SESSION_POSITION, _TIMESTAMP, _STORED_AT, _DIGEST, _KEY, _TURN, _TYPE = range(4, 13)
_SIZE, _PAYLOAD, _RUN_ID, _AGENT_ID = range(13, 17)


@lru_cache(128)
def _page_statement(
    owner: str, descending: bool, summary: bool, by_type: bool, by_turn: bool, long: bool = False
) -> Statement:
    """The statement for a page of records.

    Each row starts with the owner's own columns (its ids on the first row only), so that existence, the newest position
    and the records are of one snapshot. The rows are those of the page and, when more follow, one more. When they hold
    more payload than a page may, only the total comes back, and the statement that is ``long`` has to choose.
    """
    key, place = ("run_key", "position") if owner == "run" else ("session_key", "session_position")
    direction = "DESC" if descending else "ASC"
    types = [INT8, TEXT, INT8, INT8, *([] if summary else [INT8])]
    conditions = [f"c.{key} = o.owner", f"c.{place} {'<' if descending else '>'} $3"]
    for column in ("type",) * by_type + ("turn_id",) * by_turn:
        types.append(TEXT_ARRAY)
        conditions.append(f"c.{column} = ANY (${len(types)})")
    records = f"FROM records c WHERE {' AND '.join(conditions)}"
    order = f"ORDER BY c.{place} {direction}"
    columns = ", ".join(f"c.{name}" for name in _COLUMNS) + ", octet_length(c.payload) AS size"
    first = f"{'max' if descending else 'min'}(x.{place}) AS first"
    sizes = f"(SELECT c.{place}, octet_length(c.payload) AS size {records} {order} LIMIT $4) x"
    totals = f"(SELECT sum(x.size)::bigint AS total, {first} FROM {sizes})"
    if summary:
        page = f"(SELECT {columns}, NULL::bytea AS payload {records} {order} LIMIT $4)"
    elif long:
        # The sizes decide, without the payloads being read: a page loads what it returns and no more.
        window = f"WINDOW page AS ({order} ROWS UNBOUNDED PRECEDING)"
        numbered = (
            f"{columns}, c.payload, row_number() OVER page AS place, sum(octet_length(c.payload)) OVER page AS total"
        )
        whole = f"(SELECT {numbered} {records} {window} {order} LIMIT $4) f"
        own = ", ".join(f"f.{name}" for name in _COLUMNS)
        payload = "CASE WHEN f.place < $4 AND (f.place = 1 OR f.total <= $5) THEN f.payload END AS payload"
        page = f"(SELECT {own}, f.size, {payload} FROM {whole} WHERE f.place <= 2 OR f.total - f.size <= $5)"
    else:
        page = f"(SELECT {columns}, c.payload {records} AND t.total <= $5 {order} LIMIT $4)"
    names = ", r.run_id, r.agent_id" if owner == "session" else ""
    runs = "LEFT JOIN runs r ON r.run_key = c.run_key" if owner == "session" else ""
    shown = ", ".join(f"c.{name}" for name in [*_COLUMNS[1:], "size", "payload"])
    is_first = f"c.{place} IS NULL OR c.{place} = t.first"
    return Statement(
        f"SELECT o.head, o.status, CASE WHEN {is_first} THEN o.agent_id END,"
        f" CASE WHEN {is_first} THEN o.session_id END, t.total, {shown}{names}"
        f" FROM ({_OWNERS[owner]}) o LEFT JOIN LATERAL {totals} t ON true LEFT JOIN LATERAL {page} c ON true {runs}",
        *types,
    )


def _record_page(found: list[rows.Row], head: int, query: RecordQuery, owner: tuple[str, str, str]) -> RecordPage:
    if found[0][_POSITION] is None:
        found = []
    has_more = len(found) > query.limit or (bool(found) and not query.summary and found[-1][_PAYLOAD] is None)
    run_id, agent_id, session_id = owner
    is_run = bool(run_id)
    if has_more:
        found = found[:-1]
    records = []
    for row in found:
        if not is_run:
            run_id, agent_id = row[_RUN_ID], row[_AGENT_ID]
        payload = "" if query.summary else row[_PAYLOAD].decode()
        record = RunRecord(row[_KEY], run_id, agent_id, session_id, row[_TURN], row[_TYPE], payload, row[_TIMESTAMP])
        records.append(StoredRecord(record, row[_POSITION], row[_SESSION_POSITION] or 0, row[_STORED_AT], row[_DIGEST]))
    last = found[-1][_POSITION if is_run else _SESSION_POSITION] if found else 0
    sizes = [row[_SIZE] for row in found] if query.summary else []
    return pages.record_page(records, sizes, query, last=last, has_more=has_more, head=head)
