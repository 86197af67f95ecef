"""Reading pages for the local stores: limits, cursors and queries, as the API reads them from a query string."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec.structs import replace

import runhold_client as client
from runhold.domain import paging
from runhold.domain.paging import RecordPage, RecordQuery, RunPage, RunQuery, SessionQuery
from runhold.domain.values import RunStatus, SessionStatus
from runhold.local.values import run_time, to_record, to_run, to_session
from runhold.store.postgresql import PostgresqlStore
from runhold.store.sqlite import SqliteStore


def _limit(limit: int) -> int:
    return paging.parse_limit(str(limit) if limit else "")


class Lists:
    """The lists of one namespace."""

    def __init__(self, store: PostgresqlStore | SqliteStore, namespace: str) -> None:
        self._reader = store.reader
        self._namespace = namespace

    async def run_records(self, run_id: str, cursor: str, limit: int) -> client.Page:
        """Read a run's records by position."""
        query = RecordQuery(limit=_limit(limit), after=paging.parse_run_cursor(cursor))
        page = await self._reader.list_run_records(self._namespace, run_id, query)
        return _page(page, query, cursor, paging.run_cursor(page.end))

    async def session_records(self, session_id: str, cursor: str, limit: int) -> client.Page:
        """Read a session's records in commit order."""
        query = RecordQuery(limit=_limit(limit))
        tag = paging.session_records_tag(self._namespace, session_id, query)
        query = replace(query, after=paging.parse_position_cursor(cursor, tag))
        page = await self._reader.list_session_run_records(self._namespace, session_id, query)
        return _page(page, query, cursor, paging.position_cursor(page.end, tag))

    async def sessions(self, statuses: Sequence[client.SessionStatus], cursor: str, limit: int) -> client.SessionPage:
        """Read sessions by (created_at, id)."""
        query = SessionQuery(tuple(SessionStatus(status.value) for status in statuses), limit=_limit(limit))
        tag = paging.sessions_tag(self._namespace, query)
        query = replace(query, after=paging.parse_key_cursor(cursor, tag))
        page = await self._reader.list_sessions(self._namespace, query)
        return client.SessionPage(
            tuple(to_session(session) for session in page.sessions), paging.key_cursor(page.next_after, tag)
        )

    async def session_runs(
        self, session_id: str, statuses: Sequence[client.RunStatus], cursor: str, limit: int
    ) -> client.RunPage:
        """Read a session's runs in the order of their starts."""
        query = RunQuery(_run_statuses(statuses), limit=_limit(limit))
        tag = paging.session_runs_tag(self._namespace, session_id, query)
        query = replace(query, after=paging.parse_key_cursor(cursor, tag))
        return _runs(await self._reader.list_runs_by_session(self._namespace, session_id, query), tag)

    async def runs(
        self,
        statuses: Sequence[client.RunStatus],
        cursor: str,
        limit: int,
        *,
        agent_id: str,
        session_id: str,
        parent_run_id: str,
        labels: Mapping[str, str] | None,
        started_after: datetime | None,
        started_before: datetime | None,
    ) -> client.RunPage:
        """Read runs by (started_at, id)."""
        query = RunQuery(
            _run_statuses(statuses),
            limit=_limit(limit),
            agent_id=agent_id,
            session_id=session_id,
            parent_run_id=parent_run_id,
            labels=tuple((labels or {}).items()),
            started_after=None if started_after is None else run_time(started_after, "started_after"),
            started_before=None if started_before is None else run_time(started_before, "started_before"),
        )
        tag = paging.runs_tag(self._namespace, query)
        query = replace(query, after=paging.parse_key_cursor(cursor, tag))
        return _runs(await self._reader.list_runs(self._namespace, query), tag)


def _run_statuses(statuses: Sequence[client.RunStatus]) -> tuple[RunStatus, ...]:
    return tuple(RunStatus(status.value) for status in statuses)


def _page(page: RecordPage, query: RecordQuery, given: str, written: str) -> client.Page:
    end = written if page.end != query.after else given
    return client.Page(tuple(to_record(stored) for stored in page.records), end if page.has_more else "", end)


def _runs(page: RunPage, tag: bytes) -> client.RunPage:
    return client.RunPage(tuple(to_run(run) for run in page.runs), paging.key_cursor(page.next_after, tag))
