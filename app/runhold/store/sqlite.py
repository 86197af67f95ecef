"""The store on SQLite: a thread that writes, and a few that read, so that the event loop never waits for the disk."""

from __future__ import annotations

import asyncio
import queue
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from runhold.commands.outcomes import Contended, Execute, Job, Outcome
from runhold.domain.errors import Unavailable
from runhold.domain.paging import RecordPage, RecordQuery, RunPage, RunQuery, SessionPage, SessionQuery
from runhold.domain.values import Milliseconds, Run, RunSuspension, Session
from runhold.store.database import StartUpError
from runhold.store.migrate import check_revision
from runhold.store.settings import StoreSettings
from runhold.store.sqlite_reader import SqliteReads
from runhold.store.sqlite_writer import SqliteWriter

_Result = TypeVar("_Result")


class SqliteStore:
    """Batches of commands, and reads, on one file."""

    def __init__(self, path: Path, settings: StoreSettings, execute: Execute) -> None:
        self._settings = settings
        self._writer = SqliteWriter(path, settings, execute)
        self._thread = ThreadPoolExecutor(1, "runhold-writer")
        self.reader = SqliteReader(path, settings)
        """What is read outside of commands."""

    async def open(self) -> None:
        """Connect. Raises: StartUpError."""
        try:
            await _in(self._thread, self._writer.open)
            check_revision(await self.reader.revision())
        except (sqlite3.Error, Unavailable) as error:
            await self.close()
            raise StartUpError(f"SQLite's file cannot be used: {error}") from error
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Give every connection back."""
        with suppress(RuntimeError):  # closed before
            await _in(self._thread, self._writer.close)
        self._thread.shutdown()
        await self.reader.close()

    async def run_batch(
        self,
        jobs: list[Job],
        *,
        wait: bool,  # noqa: ARG002 - the file's one lock is always waited for
    ) -> list[list[Outcome | Contended]]:
        """Lock, load, decide and commit; see ``CommandStore.run_batch``. Nothing is ever contended here."""
        return await _in(self._thread, lambda: self._writer.run(jobs))

    async def check_ready(self) -> None:
        """Look whether the database answers with the right schema. Raises: Unavailable."""
        try:
            async with asyncio.timeout(self._settings.ready_timeout_ms / 1000):
                check_revision(await self.reader.revision())
        except (TimeoutError, StartUpError) as error:
            raise Unavailable(str(error) or "the database does not answer") from error


class SqliteReader:
    """Reads, a few at a time; the rest wait for a connection. All raise ``Unavailable``."""

    def __init__(self, path: Path, settings: StoreSettings) -> None:
        self._path = path
        self._settings = settings
        self._threads = ThreadPoolExecutor(settings.readers, "runhold-reader")
        self._namespaces: dict[str, int] = {}
        self._idle: queue.SimpleQueue[SqliteReads] = queue.SimpleQueue()
        self._busy = 0

    async def close(self) -> None:
        """Give every connection back."""
        await asyncio.to_thread(self._threads.shutdown)
        with suppress(queue.Empty):
            while True:
                self._idle.get_nowait().close()

    async def revision(self) -> str | None:
        """Read the revision of the schema."""
        return await self._read(lambda reads: reads.revision())

    @property
    def pool(self) -> tuple[int, int]:
        """How many connections there may be, and how many are in use."""
        return self._settings.readers, min(self._busy, self._settings.readers)

    async def running_runs(self) -> tuple[int, Milliseconds | None]:
        """Count the running runs of all namespaces; the start of the oldest, None without any."""
        return await self._read(lambda reads: reads.running_runs())

    async def load_session(self, namespace: str, session_id: str) -> Session:
        """Read a session. Raises: SessionNotFound, SessionPurged."""
        return await self._read(lambda reads: reads.load_session(namespace, session_id))

    async def load_run(self, namespace: str, run_id: str) -> Run:
        """Read a run. Raises: RunNotFound."""
        return await self._read(lambda reads: reads.load_run(namespace, run_id))

    async def load_run_suspension(self, namespace: str, run_id: str) -> RunSuspension:
        """Read a checkpoint. Raises: RunNotFound, RunSuspensionNotFound."""
        return await self._read(lambda reads: reads.load_run_suspension(namespace, run_id))

    async def list_run_records(self, namespace: str, run_id: str, query: RecordQuery) -> RecordPage:
        """Read a run's records by position. Raises: RunNotFound."""
        return await self._read(lambda reads: reads.list_run_records(namespace, run_id, query))

    async def list_session_run_records(self, namespace: str, session_id: str, query: RecordQuery) -> RecordPage:
        """Read a session's records in commit order. Raises: SessionNotFound, SessionPurged."""
        return await self._read(lambda reads: reads.list_session_run_records(namespace, session_id, query))

    async def list_sessions(self, namespace: str, query: SessionQuery) -> SessionPage:
        """Read sessions by (created_at, id)."""
        return await self._read(lambda reads: reads.list_sessions(namespace, query))

    async def list_runs_by_session(self, namespace: str, session_id: str, query: RunQuery) -> RunPage:
        """Read a session's runs in the order of their starts. Raises: SessionNotFound, SessionPurged."""
        return await self._read(lambda reads: reads.list_runs_by_session(namespace, session_id, query))

    async def list_runs(self, namespace: str, query: RunQuery) -> RunPage:
        """Read runs by (started_at, id)."""
        return await self._read(lambda reads: reads.list_runs(namespace, query))

    async def _read(self, work: Callable[[SqliteReads], _Result]) -> _Result:
        self._busy += 1
        try:
            return await _in(self._threads, lambda: self._borrowed(work))
        finally:
            self._busy -= 1

    def _borrowed(self, work: Callable[[SqliteReads], _Result]) -> _Result:
        try:
            reads = self._idle.get_nowait()
        except queue.Empty:
            reads = SqliteReads.opened(self._path, self._settings, self._namespaces)
        try:
            return reads.read(work)
        finally:
            self._idle.put(reads)


async def _in(threads: ThreadPoolExecutor, work: Callable[[], _Result]) -> _Result:
    return await asyncio.get_running_loop().run_in_executor(threads, work)
