"""``LocalStore``: the synchronous store in process, safe for many threads.

The asynchronous store does the work, in an event loop of its own in a thread of its own.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any, Self, TypeVar

import runhold_client as client
from runhold.domain.errors import Unavailable
from runhold.local.asynchronous import AsyncLocalStore
from runhold.local.values import client_error

Answer = TypeVar("Answer")


class LocalStore:
    """``Store`` and ``SessionAdmin`` without a service: ``with open_local_store(url) as store``.

    Methods raise what those of ``HttpStore`` raise.
    """

    def __init__(self, store: AsyncLocalStore) -> None:
        """Open ``store`` in a thread of its own.

        Raises:
            StartUpError: the database cannot be used, with the reason in one line.
        """
        self._store = store
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="runhold-local-store", daemon=True)
        self._thread.start()
        self._closing = threading.Lock()
        try:
            self._wait(store.open())
        except BaseException:
            self._stop()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Answer the commands under way and give every connection back; more than once does nothing."""
        with self._closing:
            if self._thread.is_alive():
                self._wait(self._store.aclose())
                self._stop()

    def _stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _wait(self, coroutine: Coroutine[Any, Any, Answer]) -> Answer:
        if self._loop.is_closed():
            coroutine.close()
            raise client_error(Unavailable("the store is not open"))
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    def start_root_run(
        self, run: client.RunStart, started: client.RunRecord, canceled: client.RunRecord
    ) -> client.RootStartResult:
        """See ``Store.start_root_run``."""
        return self._wait(self._store.start_root_run(run, started, canceled))

    def start_child_run(
        self,
        run: client.RunStart,
        parent_linked: client.RunRecord,
        started: client.RunRecord,
        canceled: client.RunRecord,
    ) -> client.ChildStartResult:
        """See ``Store.start_child_run``."""
        return self._wait(self._store.start_child_run(run, parent_linked, started, canceled))

    def start_one_shot_run(self, run: client.RunStart, started: client.RunRecord) -> client.OneShotStartResult:
        """See ``Store.start_one_shot_run``."""
        return self._wait(self._store.start_one_shot_run(run, started))

    def start_one_shot_child_run(
        self, run: client.RunStart, parent_linked: client.RunRecord, started: client.RunRecord
    ) -> client.OneShotChildStartResult:
        """See ``Store.start_one_shot_child_run``."""
        return self._wait(self._store.start_one_shot_child_run(run, parent_linked, started))

    def append_run_record(self, record: client.RunRecord) -> client.AppendResult:
        """See ``Store.append_run_record``."""
        return self._wait(self._store.append_run_record(record))

    def record_run_cancellation(self, run_id: str, reason: str, record: client.RunRecord) -> client.AppendResult:
        """See ``Store.record_run_cancellation``."""
        return self._wait(self._store.record_run_cancellation(run_id, reason, record))

    def record_run_suspension(
        self, run_id: str, suspension: client.RunSuspension, record: client.RunRecord
    ) -> client.AppendResult:
        """See ``Store.record_run_suspension``."""
        return self._wait(self._store.record_run_suspension(run_id, suspension, record))

    def record_run_terminal(
        self, run_id: str, status: client.TerminalStatus, record: client.RunRecord
    ) -> client.AppendResult:
        """See ``Store.record_run_terminal``."""
        return self._wait(self._store.record_run_terminal(run_id, status, record))

    def repair_run_suspension(
        self, run_id: str, suspension: client.RunSuspension, record: client.RunRecord
    ) -> client.RepairResult:
        """See ``Store.repair_run_suspension``."""
        return self._wait(self._store.repair_run_suspension(run_id, suspension, record))

    def repair_run_terminal(
        self, run_id: str, status: client.TerminalStatus, record: client.RunRecord
    ) -> client.RepairResult:
        """See ``Store.repair_run_terminal``."""
        return self._wait(self._store.repair_run_terminal(run_id, status, record))

    def load_run(self, run_id: str) -> client.RunMeta:
        """See ``Store.load_run``."""
        return self._wait(self._store.load_run(run_id))

    def load_run_suspension(self, run_id: str) -> client.RunSuspension:
        """See ``Store.load_run_suspension``."""
        return self._wait(self._store.load_run_suspension(run_id))

    def load_session_status(self, session_id: str) -> client.SessionStatus:
        """See ``Store.load_session_status``."""
        return self._wait(self._store.load_session_status(session_id))

    def list_run_records(self, run_id: str, cursor: str = "", limit: int = 0) -> client.Page:
        """See ``Store.list_run_records``."""
        return self._wait(self._store.list_run_records(run_id, cursor, limit))

    def list_session_run_records(self, session_id: str, cursor: str = "", limit: int = 0) -> client.Page:
        """See ``Store.list_session_run_records``."""
        return self._wait(self._store.list_session_run_records(session_id, cursor, limit))

    def create_session(self, session_id: str, created_at: datetime | None = None) -> client.Session:
        """See ``SessionAdmin.create_session``."""
        return self._wait(self._store.create_session(session_id, created_at))

    def load_session(self, session_id: str) -> client.Session:
        """See ``SessionAdmin.load_session``."""
        return self._wait(self._store.load_session(session_id))

    def end_session(self, session_id: str, ended_at: datetime | None = None) -> client.Session:
        """See ``SessionAdmin.end_session``."""
        return self._wait(self._store.end_session(session_id, ended_at))

    def purge_session(self, session_id: str) -> None:
        """See ``SessionAdmin.purge_session``."""
        self._wait(self._store.purge_session(session_id))

    def purge_one_shot_run(self, run_id: str) -> None:
        """See ``SessionAdmin.purge_one_shot_run``."""
        self._wait(self._store.purge_one_shot_run(run_id))

    def list_sessions(
        self, statuses: Sequence[client.SessionStatus] = (), cursor: str = "", limit: int = 0
    ) -> client.SessionPage:
        """See ``SessionAdmin.list_sessions``."""
        return self._wait(self._store.list_sessions(statuses, cursor, limit))

    def list_runs_by_session(
        self, session_id: str, statuses: Sequence[client.RunStatus] = (), cursor: str = "", limit: int = 0
    ) -> client.RunPage:
        """See ``SessionAdmin.list_runs_by_session``."""
        return self._wait(self._store.list_runs_by_session(session_id, statuses, cursor, limit))

    def list_runs(
        self,
        statuses: Sequence[client.RunStatus] = (),
        cursor: str = "",
        limit: int = 0,
        *,
        agent_id: str = "",
        session_id: str = "",
        parent_run_id: str = "",
        labels: Mapping[str, str] | None = None,
        started_after: datetime | None = None,
        started_before: datetime | None = None,
    ) -> client.RunPage:
        """See ``HttpStore.list_runs``."""
        return self._wait(
            self._store.list_runs(
                statuses,
                cursor,
                limit,
                agent_id=agent_id,
                session_id=session_id,
                parent_run_id=parent_run_id,
                labels=labels,
                started_after=started_after,
                started_before=started_before,
            )
        )
