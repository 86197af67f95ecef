"""Finds out why an answer of PostgreSQL is late: the server is still at work, or the answer will never come.

A connection can die without a word: a firewall or a proxy forgets it, or the server's machine is gone and another has
taken its address. To wait for the statement's limit would stop everything for as long, and what such a session has
locked would stay locked. So the server is asked, on another connection, what it knows of the session.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress

import psycopg

from runhold.store.parameters import INT8, int8
from runhold.store.pipeline import Pipeline, Statement

log = logging.getLogger(__name__)

_LATE_AFTER_S = 1.0
"""A connection that is lent for so long is looked at."""
_SILENT_S = 0.7
"""When nothing was heard for so long in an exchange, the server is asked."""
_LOOK_EVERY_S = 0.5
_LOOK_LIMIT_S = 2.0
_LOOKS = 2
"""How often in a row the server must say that it is not at work: its answer may be on its way at the first time."""

# Behind a pooler the number that a connection was told is not that of its server process: nothing is known then.
_LOOK = Statement(
    "SELECT pg_backend_pid(), count(*) FILTER (WHERE state IS NULL OR state NOT LIKE 'idle%')"
    " FROM pg_stat_activity WHERE pid = $1",
    INT8,
)
_END = Statement(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE pid = $1 AND usename = current_user AND state LIKE 'idle%'",
    INT8,
)


class Watch:
    """Watches connections that are in use; it has a connection of its own only while an answer is late.

    Args:
        connect: makes a connection to the same server.
    """

    def __init__(self, connect: Callable[[], Awaitable[Pipeline]]) -> None:
        self._connect = connect
        self._lock = asyncio.Lock()
        self._connection: Pipeline | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    @contextmanager
    def over(self, pipeline: Pipeline) -> Iterator[None]:
        """Watch a connection while the block runs. It is hung up when the server has nothing to do for it any more."""
        task: asyncio.Task[None] | None = None

        def begin() -> None:
            nonlocal task
            task = asyncio.create_task(self._watch(pipeline), name="runhold-watch")
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

        timer = asyncio.get_running_loop().call_later(_LATE_AFTER_S, begin)
        try:
            yield
        finally:
            timer.cancel()
            if task is not None:
                task.cancel()

    async def _watch(self, pipeline: Pipeline) -> None:
        try:
            idle_looks = 0
            while True:
                silent_since = pipeline.silent_since
                if silent_since is None or time.monotonic() < silent_since + _SILENT_S:
                    idle_looks = 0
                elif await self._is_idle(pipeline.backend_pid) and pipeline.silent_since == silent_since:
                    idle_looks += 1
                else:
                    idle_looks = 0
                if idle_looks == _LOOKS:
                    log.warning("a connection to the database is dead", extra={"pid": pipeline.backend_pid})
                    await self._end(pipeline.backend_pid)
                    pipeline.hang_up()
                    return
                await asyncio.sleep(_LOOK_EVERY_S)
        finally:
            if self._connection is not None and self._tasks <= {asyncio.current_task()}:
                await self._connection.close()
                self._connection = None

    async def _is_idle(self, pid: int) -> bool:
        """Tell whether the server is surely not at work in a session."""
        async with self._lock:
            try:
                if self._connection is None or self._connection.is_lost:
                    self._connection = await self._connect()
                (((own, at_work),),) = await self._connection.run([(_LOOK, (int8(pid),))], _LOOK_LIMIT_S)
                return own == self._connection.backend_pid and not at_work
            except (psycopg.Error, TimeoutError):
                # Nothing is known; the limit of the statement holds.
                return False

    async def _end(self, pid: int) -> None:
        """End a session, which may hold locks."""
        async with self._lock:
            if self._connection is not None and not self._connection.is_lost:
                with suppress(psycopg.Error):
                    await self._connection.run([(_END, (int8(pid),))], _LOOK_LIMIT_S)
