"""Whole lists, a page at a time.

Every page must move forward: a cursor that comes back is an ``UnexpectedAnswer``, never an endless loop. A list may be
read while others write to it; what is stored behind the place that was reached is still seen.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Protocol, TypeVar

from runhold_client.errors import UnexpectedAnswer
from runhold_client.store import AsyncSessionAdmin, AsyncStore, SessionAdmin, Store
from runhold_client.types import Page, RunMeta, RunPage, RunStatus, Session, SessionPage, SessionStatus, StoredRecord

AnyPage = TypeVar("AnyPage", Page, SessionPage, RunPage)


class RunLister(Protocol):
    """What ``iter_runs`` needs of a store."""

    def list_runs(
        self,
        statuses: Sequence[RunStatus] = (),
        cursor: str = "",
        limit: int = 0,
        *,
        agent_id: str = "",
        session_id: str = "",
        parent_run_id: str = "",
        labels: Mapping[str, str] | None = None,
        started_after: datetime | None = None,
        started_before: datetime | None = None,
    ) -> RunPage:
        """Read runs by (started_at, id)."""
        ...


class AsyncRunLister(Protocol):
    """What ``aiter_runs`` needs of a store."""

    async def list_runs(
        self,
        statuses: Sequence[RunStatus] = (),
        cursor: str = "",
        limit: int = 0,
        *,
        agent_id: str = "",
        session_id: str = "",
        parent_run_id: str = "",
        labels: Mapping[str, str] | None = None,
        started_after: datetime | None = None,
        started_before: datetime | None = None,
    ) -> RunPage:
        """Read runs by (started_at, id)."""
        ...


def iter_run_records(store: Store, run_id: str, after: str = "", *, page_size: int = 0) -> Iterator[StoredRecord]:
    """Read a run's records by position, those after the cursor ``after`` (a record's id)."""

    def read(cursor: str) -> Page:
        return store.list_run_records(run_id, cursor, page_size)

    for page in _pages(read, after):
        yield from page.records


async def aiter_run_records(
    store: AsyncStore, run_id: str, after: str = "", *, page_size: int = 0
) -> AsyncIterator[StoredRecord]:
    """See ``iter_run_records``."""

    async def read(cursor: str) -> Page:
        return await store.list_run_records(run_id, cursor, page_size)

    async for page in _apages(read, after):
        for record in page.records:
            yield record


def iter_session_run_records(
    store: Store, session_id: str, after: str = "", *, page_size: int = 0
) -> Iterator[StoredRecord]:
    """Read a session's records in commit order, those after the cursor ``after`` (a page's ``end_cursor``)."""

    def read(cursor: str) -> Page:
        return store.list_session_run_records(session_id, cursor, page_size)

    for page in _pages(read, after):
        yield from page.records


async def aiter_session_run_records(
    store: AsyncStore, session_id: str, after: str = "", *, page_size: int = 0
) -> AsyncIterator[StoredRecord]:
    """See ``iter_session_run_records``."""

    async def read(cursor: str) -> Page:
        return await store.list_session_run_records(session_id, cursor, page_size)

    async for page in _apages(read, after):
        for record in page.records:
            yield record


def iter_sessions(
    store: SessionAdmin, statuses: Sequence[SessionStatus] = (), *, page_size: int = 0
) -> Iterator[Session]:
    """Read sessions by (created_at, id)."""

    def read(cursor: str) -> SessionPage:
        return store.list_sessions(statuses, cursor, page_size)

    for page in _pages(read, ""):
        yield from page.sessions


async def aiter_sessions(
    store: AsyncSessionAdmin, statuses: Sequence[SessionStatus] = (), *, page_size: int = 0
) -> AsyncIterator[Session]:
    """See ``iter_sessions``."""

    async def read(cursor: str) -> SessionPage:
        return await store.list_sessions(statuses, cursor, page_size)

    async for page in _apages(read, ""):
        for session in page.sessions:
            yield session


def iter_runs_by_session(
    store: SessionAdmin, session_id: str, statuses: Sequence[RunStatus] = (), *, page_size: int = 0
) -> Iterator[RunMeta]:
    """Read a session's runs in the order in which their starts committed."""

    def read(cursor: str) -> RunPage:
        return store.list_runs_by_session(session_id, statuses, cursor, page_size)

    for page in _pages(read, ""):
        yield from page.runs


async def aiter_runs_by_session(
    store: AsyncSessionAdmin, session_id: str, statuses: Sequence[RunStatus] = (), *, page_size: int = 0
) -> AsyncIterator[RunMeta]:
    """See ``iter_runs_by_session``."""

    async def read(cursor: str) -> RunPage:
        return await store.list_runs_by_session(session_id, statuses, cursor, page_size)

    async for page in _apages(read, ""):
        for run in page.runs:
            yield run


def iter_runs(
    store: RunLister,
    statuses: Sequence[RunStatus] = (),
    *,
    agent_id: str = "",
    session_id: str = "",
    parent_run_id: str = "",
    labels: Mapping[str, str] | None = None,
    started_after: datetime | None = None,
    started_before: datetime | None = None,
    page_size: int = 0,
) -> Iterator[RunMeta]:
    """Read runs by (started_at, id), those that all filters let through; see ``HttpStore.list_runs``."""

    def read(cursor: str) -> RunPage:
        return store.list_runs(
            statuses,
            cursor,
            page_size,
            agent_id=agent_id,
            session_id=session_id,
            parent_run_id=parent_run_id,
            labels=labels,
            started_after=started_after,
            started_before=started_before,
        )

    for page in _pages(read, ""):
        yield from page.runs


async def aiter_runs(
    store: AsyncRunLister,
    statuses: Sequence[RunStatus] = (),
    *,
    agent_id: str = "",
    session_id: str = "",
    parent_run_id: str = "",
    labels: Mapping[str, str] | None = None,
    started_after: datetime | None = None,
    started_before: datetime | None = None,
    page_size: int = 0,
) -> AsyncIterator[RunMeta]:
    """See ``iter_runs``."""

    async def read(cursor: str) -> RunPage:
        return await store.list_runs(
            statuses,
            cursor,
            page_size,
            agent_id=agent_id,
            session_id=session_id,
            parent_run_id=parent_run_id,
            labels=labels,
            started_after=started_after,
            started_before=started_before,
        )

    async for page in _apages(read, ""):
        for run in page.runs:
            yield run


def _pages(read: Callable[[str], AnyPage], cursor: str) -> Iterator[AnyPage]:
    seen = {cursor}
    while True:
        page = read(cursor)
        yield page
        if not page.next_cursor:
            return
        cursor = _new(page.next_cursor, seen)


async def _apages(read: Callable[[str], Awaitable[AnyPage]], cursor: str) -> AsyncIterator[AnyPage]:
    seen = {cursor}
    while True:
        page = await read(cursor)
        yield page
        if not page.next_cursor:
            return
        cursor = _new(page.next_cursor, seen)


def _new(cursor: str, seen: set[str]) -> str:
    if cursor in seen:
        raise UnexpectedAnswer("a list does not move forward: its cursor came back")
    seen.add(cursor)
    return cursor
