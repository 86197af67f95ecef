"""What each operation does with a request that passed the checks before it: one command, one query, one answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from msgspec.structs import replace

from runhold.api import encoding, queries
from runhold.api.decoding import decode_command
from runhold.api.queries import Query
from runhold.api.requests import Request
from runhold.api.service import Service
from runhold.commands.model import PurgeOneShotRun, PurgeSession
from runhold.domain import paging
from runhold.domain.errors import SessionNotFound
from runhold.domain.paging import RecordPage, RecordQuery, RunQuery, SessionQuery

Handler = Callable[[Service, Request], Awaitable[bytes]]
"""Answers the body of a success. Raises: RefusalError."""


def command(operation: str) -> Handler:
    """Carry out the command that a body describes."""

    async def handle(service: Service, request: Request) -> bytes:
        parsed = decode_command(operation, request.path_id, request.body, request.body_bytes)
        return encoding.encode_result(await service.writer.submit(request.namespace, parsed, request.share))

    return handle


async def purge_session(service: Service, request: Request) -> bytes:
    """Delete an ended session for ever."""
    return encoding.encode_result(
        await service.writer.submit(request.namespace, PurgeSession(request.path_id), request.share)
    )


async def purge_one_shot_run(service: Service, request: Request) -> bytes:
    """Delete a one-shot run and its tree for ever."""
    return encoding.encode_result(
        await service.writer.submit(request.namespace, PurgeOneShotRun(request.path_id), request.share)
    )


async def load_session(service: Service, request: Request) -> bytes:
    """Read a session."""
    return encoding.encode_session(await service.reader.load_session(request.namespace, request.path_id))


async def load_session_status(service: Service, request: Request) -> bytes:
    """Read whether a session is active."""
    if not request.path_id:
        raise SessionNotFound("there is no session without an id")
    return encoding.encode_session_status(await service.reader.load_session(request.namespace, request.path_id))


async def load_run(service: Service, request: Request) -> bytes:
    """Read a run's state."""
    return encoding.encode_run(await service.reader.load_run(request.namespace, request.path_id))


async def load_run_suspension(service: Service, request: Request) -> bytes:
    """Read a suspended run's checkpoint."""
    return encoding.encode_suspension(await service.reader.load_run_suspension(request.namespace, request.path_id))


async def list_sessions(service: Service, request: Request) -> bytes:
    """Read sessions by (created_at, id)."""
    query = Query(request.query_string, queries.SESSION_LIST)
    asked = SessionQuery(query.session_statuses, descending=query.descending)
    limit = paging.parse_limit(query.text("limit"))
    tag = paging.sessions_tag(request.namespace, asked)
    asked = replace(asked, limit=limit, after=paging.parse_key_cursor(query.text("cursor"), tag))
    page = await service.reader.list_sessions(request.namespace, asked)
    return encoding.encode_sessions(page.sessions, paging.key_cursor(page.next_after, tag))


async def list_runs_by_session(service: Service, request: Request) -> bytes:
    """Read a session's runs in the order in which their starts committed."""
    query = Query(request.query_string, queries.SESSION_RUN_LIST)
    asked = RunQuery(query.run_statuses, descending=query.descending)
    limit = paging.parse_limit(query.text("limit"))
    tag = paging.session_runs_tag(request.namespace, request.path_id, asked)
    asked = replace(asked, limit=limit, after=paging.parse_key_cursor(query.text("cursor"), tag))
    page = await service.reader.list_runs_by_session(request.namespace, request.path_id, asked)
    return encoding.encode_runs(page.runs, paging.key_cursor(page.next_after, tag))


async def list_runs(service: Service, request: Request) -> bytes:
    """Read runs by (started_at, id)."""
    query = Query(request.query_string, queries.RUN_LIST)
    asked = RunQuery(
        query.run_statuses,
        descending=query.descending,
        agent_id=query.id("agent_id"),
        session_id=query.id("session_id"),
        parent_run_id=query.id("parent_run_id"),
        labels=query.labels,
        started_after=query.run_time("started_after"),
        started_before=query.run_time("started_before"),
    )
    limit = paging.parse_limit(query.text("limit"))
    tag = paging.runs_tag(request.namespace, asked)
    asked = replace(asked, limit=limit, after=paging.parse_key_cursor(query.text("cursor"), tag))
    page = await service.reader.list_runs(request.namespace, asked)
    return encoding.encode_runs(page.runs, paging.key_cursor(page.next_after, tag))


async def list_run_records(service: Service, request: Request) -> bytes:
    """Read a run's records by position."""
    query, asked, wait_ms = _record_query(request)
    limit = paging.parse_limit(query.text("limit"))
    given = query.text("cursor")
    asked = replace(asked, limit=limit, after=paging.parse_run_cursor(given))
    page = await _first_records(
        service, wait_ms, asked, lambda now: service.reader.list_run_records(request.namespace, request.path_id, now)
    )
    return _records(page, asked, given, paging.run_cursor)


async def list_session_run_records(service: Service, request: Request) -> bytes:
    """Read a session's records in commit order across its runs."""
    query, asked, wait_ms = _record_query(request)
    limit = paging.parse_limit(query.text("limit"))
    given = query.text("cursor")
    tag = paging.session_records_tag(request.namespace, request.path_id, asked)
    asked = replace(asked, limit=limit, after=paging.parse_position_cursor(given, tag))
    page = await _first_records(
        service,
        wait_ms,
        asked,
        lambda now: service.reader.list_session_run_records(request.namespace, request.path_id, now),
    )
    return _records(page, asked, given, lambda position: paging.position_cursor(position, tag))


def _record_query(request: Request) -> tuple[Query, RecordQuery, int]:
    """Read everything but limit and cursor, which are judged after all else: also how long to wait, in ms."""
    query = Query(request.query_string, queries.RECORD_LIST)
    asked = RecordQuery(
        descending=query.descending,
        types=query.ids("type"),
        turn_ids=query.ids("turn_id"),
        summary=query.summary,
    )
    return query, asked, query.wait_ms


async def _first_records(
    service: Service,
    wait_ms: int,
    asked: RecordQuery,
    read: Callable[[RecordQuery], Awaitable[RecordPage]],
) -> RecordPage:
    """Read a page; an empty one again until it holds a record or the time is over. Nothing is held while waiting."""
    page = await read(asked)
    if page.records or not wait_ms:
        return page
    clock = asyncio.get_running_loop().time
    end = clock() + wait_ms / 1000
    while not page.records and not service.is_draining and (left := end - clock()) > 0:
        await service.wait_for_records(left)
        page = await read(asked if asked.descending else replace(asked, after=page.end))
    return page


def _records(page: RecordPage, asked: RecordQuery, given: str, write: Callable[[int], str]) -> bytes:
    end = write(page.end) if page.end != asked.after else given
    return encoding.encode_records(
        page.records, end if page.has_more else "", end, page.payload_bytes if asked.summary else None
    )
