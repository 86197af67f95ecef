"""A few connections that many tasks share.

Whoever finds none idle connects for itself, so that the first reader after an outage succeeds as soon as the database
answers; the driver's own pool connects in the background, and waits longer and longer between its attempts.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext
from typing import TypeVar

import psycopg

from runhold.domain.errors import Unavailable
from runhold.store.database import StaleConnection, wants_new_connection
from runhold.store.pipeline import Pipeline, Statement
from runhold.store.watch import Watch

_CHECK_AFTER_S = 1.0
"""A connection that was idle for longer is tried before it is lent."""
_CHECK_LIMIT_S = 2.0
_CHECK = Statement("SELECT 1")

_FIRST_BACKOFF_S = 0.05
_LAST_BACKOFF_S = 1.0

_Result = TypeVar("_Result")


class Pool:
    """Connections, made when they are needed and kept for the next.

    While the database is away every call fails at once, except for one attempt to connect now and then.
    """

    def __init__(
        self, connect: Callable[[], Awaitable[Pipeline]], size: int, timeout_ms: int, watch: Watch | None = None
    ) -> None:
        self._connect = connect
        self._watch = watch
        self._timeout = timeout_ms / 1000
        self._slots = asyncio.Semaphore(size)
        self._idle: list[Pipeline] = []
        self._closed = False
        self._not_before = 0.0
        self._backoff = _FIRST_BACKOFF_S
        self.size = size
        self.lent = 0
        """How many are in use."""

    async def use(self, work: Callable[[Pipeline], Awaitable[_Result]]) -> _Result:
        """Do some work on a connection, again on a new one when it proves stale.

        Raises:
            Unavailable: none became free in time, or none can be made; psycopg.Error, and what ``work`` raises.
        """
        try:
            async with self.borrow() as pipeline:
                return await work(pipeline)
        except StaleConnection:
            # The database was restarted, say: the others will be no better.
            await self._drop_idle()
            async with self.borrow() as pipeline:
                return await work(pipeline)

    @asynccontextmanager
    async def borrow(self) -> AsyncIterator[Pipeline]:
        """Lend a connection for a block. A connection that broke in it is not lent again.

        Raises:
            Unavailable: none became free in time, or none can be made; psycopg.Error.
        """
        await self._take_slot()
        pipeline: Pipeline | None = None
        try:
            pipeline = await self._idle_one() or await self._new_one()
            with nullcontext() if self._watch is None else self._watch.over(pipeline):
                yield pipeline
        except psycopg.Error as error:
            if pipeline is not None and wants_new_connection(error):
                await pipeline.close()
            raise
        finally:
            if pipeline is not None and not pipeline.is_lost:
                if self._closed or not pipeline.is_idle:
                    await pipeline.close()
                else:
                    self._idle.append(pipeline)
            self.lent -= 1
            self._slots.release()

    async def close(self) -> None:
        """Close the idle ones now and the lent ones when they come back."""
        self._closed = True
        await self._drop_idle()

    async def _drop_idle(self) -> None:
        while self._idle:
            await self._idle.pop().close()

    async def _take_slot(self) -> None:
        if self._slots.locked():
            try:
                async with asyncio.timeout(self._timeout):
                    await self._slots.acquire()
            except TimeoutError:
                raise Unavailable("every connection to the database is in use") from None
        else:
            await self._slots.acquire()
        self.lent += 1

    async def _new_one(self) -> Pipeline:
        if time.monotonic() < self._not_before:
            raise Unavailable("the database cannot answer now (no connection)")
        try:
            pipeline = await self._connect()
        except (psycopg.Error, TimeoutError) as error:
            self._not_before = time.monotonic() + self._backoff
            self._backoff = min(2 * self._backoff, _LAST_BACKOFF_S)
            if isinstance(error, TimeoutError):
                raise Unavailable("the database does not answer") from error
            raise
        self._backoff = _FIRST_BACKOFF_S
        return pipeline

    async def _idle_one(self) -> Pipeline | None:
        # The last one used comes first: it is the likeliest to work, and the others may age.
        while self._idle:
            pipeline = self._idle.pop()
            if time.monotonic() - pipeline.used_at < _CHECK_AFTER_S:
                return pipeline
            try:
                await pipeline.run([(_CHECK, ())], _CHECK_LIMIT_S)
            except psycopg.Error:
                await pipeline.close()
                # The others were idle for longer still; to wait for each of them would take too long.
                await self._drop_idle()
            else:
                return pipeline
        return None
