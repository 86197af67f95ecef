"""The parts that answer requests, joined: opened at start-up, drained at the end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from runhold.api.identity import Identity
from runhold.domain.paging import RecordPage, RecordQuery, RunPage, RunQuery, SessionPage, SessionQuery
from runhold.domain.values import Milliseconds, Run, RunSuspension, Session
from runhold.logs import Observer
from runhold.metrics import Metrics
from runhold.settings import Settings
from runhold.tracing import Tracing
from runhold.writer import Writer

_LOOK_AGAIN_S = 0.25
"""How often a reader that waits for a first record looks for it."""


class Reader(Protocol):
    """What is read outside of commands. Every method raises ``Unavailable`` when the database does not answer."""

    async def load_session(self, namespace: str, session_id: str) -> Session:
        """Read a session. Raises: SessionNotFound, SessionPurged."""
        ...

    async def load_run(self, namespace: str, run_id: str) -> Run:
        """Read a run. Raises: RunNotFound."""
        ...

    async def load_run_suspension(self, namespace: str, run_id: str) -> RunSuspension:
        """Read a checkpoint. Raises: RunNotFound, RunSuspensionNotFound."""
        ...

    async def list_run_records(self, namespace: str, run_id: str, query: RecordQuery) -> RecordPage:
        """Read a run's records by position. Raises: RunNotFound."""
        ...

    async def list_session_run_records(self, namespace: str, session_id: str, query: RecordQuery) -> RecordPage:
        """Read a session's records in commit order. Raises: SessionNotFound, SessionPurged."""
        ...

    async def list_sessions(self, namespace: str, query: SessionQuery) -> SessionPage:
        """Read sessions by (created_at, id)."""
        ...

    async def list_runs_by_session(self, namespace: str, session_id: str, query: RunQuery) -> RunPage:
        """Read a session's runs in the order of their starts. Raises: SessionNotFound, SessionPurged."""
        ...

    async def list_runs(self, namespace: str, query: RunQuery) -> RunPage:
        """Read runs by (started_at, id)."""
        ...

    async def running_runs(self) -> tuple[int, Milliseconds | None]:
        """Count the running runs of all namespaces; the start of the oldest, None without any."""
        ...

    @property
    def pool(self) -> tuple[int, int]:
        """How many connections for reading there may be, and how many are in use."""
        ...


class Database(Protocol):
    """The open database, seen from here."""

    @property
    def reader(self) -> Reader:
        """What is read outside of commands."""
        ...

    async def check_ready(self) -> None:
        """Look whether the database answers with the right schema. Raises: Unavailable."""
        ...

    async def close(self) -> None:
        """Give every connection back."""
        ...


class RequestObserver(Observer, Protocol):
    """An observer that keeps notes for a moment."""

    def flush(self) -> None:
        """Write what waits."""
        ...


class Service:
    """What handlers work with, from start-up to the end."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        writer: Writer,
        identity: Identity,
        observer: RequestObserver,
        tracing: Tracing | None = None,
    ) -> None:
        self.settings = settings
        self.database = database
        self.reader = database.reader
        self.writer = writer
        self.identity = identity
        self.observer = observer
        self.tracing = tracing
        self.metrics = Metrics(self._gauges, self.reader.running_runs)
        writer.observe = self.metrics.batch
        self._draining = asyncio.Event()

    @property
    def is_draining(self) -> bool:
        """Whether the service is about to stop."""
        return self._draining.is_set()

    def drain(self) -> None:
        """Be no longer ready, and let no reader wait on."""
        self._draining.set()

    async def wait_for_records(self, seconds: float) -> None:
        """Return when it is worth looking for new records again: soon, after ``seconds``, or when the service stops."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._draining.wait(), min(seconds, _LOOK_AGAIN_S))

    def _gauges(self) -> dict[str, float]:
        size, lent = self.reader.pool
        return {
            "runhold_queue_commands": self.writer.queued_commands,
            "runhold_queue_bytes": self.writer.queued_bytes,
            "runhold_pool_size": size,
            "runhold_pool_lent": lent,
        }

    async def close(self) -> None:
        """Answer the accepted commands and give everything back."""
        self.drain()
        await self.writer.close(self.settings.drain_timeout_ms / 1000)
        await self.database.close()
        self.observer.flush()
        if self.tracing is not None:
            await asyncio.to_thread(self.tracing.close)


Services = Callable[[], Service]
"""Finds the service, which exists once start-up is over."""
