"""``AsyncLocalStore``: the asynchronous store in process."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Self, TypeVar

import runhold_client as client
from runhold.commands import model
from runhold.domain import values
from runhold.domain.errors import Unavailable
from runhold.domain.values import CommandResult
from runhold.local.lists import Lists
from runhold.local.values import (
    checked_id,
    checked_reason,
    client_errors,
    run_record,
    run_start,
    run_suspension,
    session_time,
    to_append,
    to_optional_append,
    to_repair,
    to_run,
    to_session,
)
from runhold.store import StoreSettings, open_store
from runhold.store.migrate import migrate
from runhold.store.postgresql import PostgresqlStore
from runhold.store.sqlite import SqliteStore
from runhold.writer import Writer

Result = TypeVar("Result")


class AsyncLocalStore:
    """``AsyncStore`` and ``AsyncSessionAdmin`` without a service: ``async with open_async_local_store(url) as store``.

    It belongs to the event loop in which it was opened. Methods raise what those of ``AsyncHttpStore`` raise.
    """

    def __init__(self, settings: StoreSettings, namespace: str) -> None:
        self._settings = settings
        self._namespace = namespace
        self._store: PostgresqlStore | SqliteStore | None = None
        self._writer: Writer | None = None
        self._lists: Lists | None = None

    async def open(self) -> Self:
        """Bring the schema up to date, connect, and start taking commands.

        Raises:
            StartUpError: the database cannot be used, with the reason in one line.
        """
        await asyncio.to_thread(migrate, self._settings.url)
        self._store = await open_store(self._settings)
        self._lists = Lists(self._store, self._namespace)
        self._writer = Writer(self._store)
        await self._writer.open()
        return self

    async def aclose(self) -> None:
        """Answer the commands under way and give every connection back."""
        writer, store = self._writer, self._store
        self._writer = self._store = self._lists = None
        if writer is not None:
            await writer.close()
        if store is not None:
            await store.close()

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def start_root_run(
        self, run: client.RunStart, started: client.RunRecord, canceled: client.RunRecord
    ) -> client.RootStartResult:
        """See ``Store.start_root_run``."""
        with client_errors():
            command = model.StartRootRun(
                run_start(run), run_record(started, "/started"), run_record(canceled, "/canceled")
            )
            result = await self._submit(command, values.RootStartResult)
        return client.RootStartResult(
            client.StartOutcome(result.outcome.value), to_append(result.started), to_optional_append(result.canceled)
        )

    async def start_child_run(
        self,
        run: client.RunStart,
        parent_linked: client.RunRecord,
        started: client.RunRecord,
        canceled: client.RunRecord,
    ) -> client.ChildStartResult:
        """See ``Store.start_child_run``."""
        with client_errors():
            command = model.StartChildRun(
                run_start(run),
                run_record(parent_linked, "/parent_linked"),
                run_record(started, "/started"),
                run_record(canceled, "/canceled"),
            )
            result = await self._submit(command, values.ChildStartResult)
        return client.ChildStartResult(
            client.StartOutcome(result.outcome.value),
            to_append(result.parent_record),
            to_append(result.started),
            to_optional_append(result.canceled),
        )

    async def start_one_shot_run(self, run: client.RunStart, started: client.RunRecord) -> client.OneShotStartResult:
        """See ``Store.start_one_shot_run``."""
        with client_errors():
            command = model.StartOneShotRun(run_start(run), run_record(started, "/started"))
            result = await self._submit(command, values.OneShotStartResult)
        return client.OneShotStartResult(to_append(result.record))

    async def start_one_shot_child_run(
        self, run: client.RunStart, parent_linked: client.RunRecord, started: client.RunRecord
    ) -> client.OneShotChildStartResult:
        """See ``Store.start_one_shot_child_run``."""
        with client_errors():
            command = model.StartOneShotChildRun(
                run_start(run), run_record(parent_linked, "/parent_linked"), run_record(started, "/started")
            )
            result = await self._submit(command, values.OneShotChildStartResult)
        return client.OneShotChildStartResult(to_append(result.parent_record), to_append(result.started))

    async def append_run_record(self, record: client.RunRecord) -> client.AppendResult:
        """See ``Store.append_run_record``."""
        with client_errors():
            return await self._append(model.AppendRunRecord(record.run_id, run_record(record, "")))

    async def record_run_cancellation(self, run_id: str, reason: str, record: client.RunRecord) -> client.AppendResult:
        """See ``Store.record_run_cancellation``."""
        with client_errors():
            command = model.RecordRunCancellation(
                checked_id(run_id, "/run_id"), checked_reason(reason), run_record(record, "/record")
            )
            return await self._append(command)

    async def record_run_suspension(
        self, run_id: str, suspension: client.RunSuspension, record: client.RunRecord
    ) -> client.AppendResult:
        """See ``Store.record_run_suspension``."""
        with client_errors():
            command = model.RecordRunSuspension(
                checked_id(run_id, "/run_id"), run_suspension(suspension), run_record(record, "/record")
            )
            return await self._append(command)

    async def record_run_terminal(
        self, run_id: str, status: client.TerminalStatus, record: client.RunRecord
    ) -> client.AppendResult:
        """See ``Store.record_run_terminal``."""
        with client_errors():
            command = model.RecordRunTerminal(
                checked_id(run_id, "/run_id"), values.RunStatus(status.value), run_record(record, "/record")
            )
            return await self._append(command)

    async def repair_run_suspension(
        self, run_id: str, suspension: client.RunSuspension, record: client.RunRecord
    ) -> client.RepairResult:
        """See ``Store.repair_run_suspension``."""
        with client_errors():
            command = model.RepairRunSuspension(
                checked_id(run_id, "/run_id"), run_suspension(suspension), run_record(record, "/record")
            )
            return to_repair(await self._submit(command, values.RepairResult))

    async def repair_run_terminal(
        self, run_id: str, status: client.TerminalStatus, record: client.RunRecord
    ) -> client.RepairResult:
        """See ``Store.repair_run_terminal``."""
        with client_errors():
            command = model.RepairRunTerminal(
                checked_id(run_id, "/run_id"), values.RunStatus(status.value), run_record(record, "/record")
            )
            return to_repair(await self._submit(command, values.RepairResult))

    async def load_run(self, run_id: str) -> client.RunMeta:
        """See ``Store.load_run``."""
        with client_errors():
            return to_run(await self._open_store().reader.load_run(self._namespace, checked_id(run_id, "run_id")))

    async def load_run_suspension(self, run_id: str) -> client.RunSuspension:
        """See ``Store.load_run_suspension``."""
        with client_errors():
            found = await self._open_store().reader.load_run_suspension(self._namespace, checked_id(run_id, "run_id"))
        return client.RunSuspension(found.id, found.data)

    async def load_session_status(self, session_id: str) -> client.SessionStatus:
        """See ``Store.load_session_status``."""
        return (await self.load_session(session_id)).status

    async def list_run_records(self, run_id: str, cursor: str = "", limit: int = 0) -> client.Page:
        """See ``Store.list_run_records``."""
        with client_errors():
            return await self._open_lists().run_records(checked_id(run_id, "run_id"), cursor, limit)

    async def list_session_run_records(self, session_id: str, cursor: str = "", limit: int = 0) -> client.Page:
        """See ``Store.list_session_run_records``."""
        with client_errors():
            return await self._open_lists().session_records(checked_id(session_id, "session_id"), cursor, limit)

    async def create_session(self, session_id: str, created_at: datetime | None = None) -> client.Session:
        """See ``SessionAdmin.create_session``."""
        with client_errors():
            command = model.CreateSession(
                checked_id(session_id, "/session_id"), session_time(created_at, "/created_at")
            )
            return to_session(await self._submit(command, values.Session))

    async def load_session(self, session_id: str) -> client.Session:
        """See ``SessionAdmin.load_session``."""
        with client_errors():
            checked = checked_id(session_id, "session_id")
            return to_session(await self._open_store().reader.load_session(self._namespace, checked))

    async def end_session(self, session_id: str, ended_at: datetime | None = None) -> client.Session:
        """See ``SessionAdmin.end_session``."""
        with client_errors():
            command = model.EndSession(checked_id(session_id, "/session_id"), session_time(ended_at, "/ended_at"))
            return to_session(await self._submit(command, values.Session))

    async def purge_session(self, session_id: str) -> None:
        """See ``SessionAdmin.purge_session``."""
        with client_errors():
            await self._submit(model.PurgeSession(checked_id(session_id, "/session_id")), values.Purge)

    async def purge_one_shot_run(self, run_id: str) -> None:
        """See ``SessionAdmin.purge_one_shot_run``."""
        with client_errors():
            await self._submit(model.PurgeOneShotRun(checked_id(run_id, "/run_id")), values.Purge)

    async def list_sessions(
        self, statuses: Sequence[client.SessionStatus] = (), cursor: str = "", limit: int = 0
    ) -> client.SessionPage:
        """See ``SessionAdmin.list_sessions``."""
        with client_errors():
            return await self._open_lists().sessions(statuses, cursor, limit)

    async def list_runs_by_session(
        self, session_id: str, statuses: Sequence[client.RunStatus] = (), cursor: str = "", limit: int = 0
    ) -> client.RunPage:
        """See ``SessionAdmin.list_runs_by_session``."""
        with client_errors():
            checked = checked_id(session_id, "session_id")
            return await self._open_lists().session_runs(checked, statuses, cursor, limit)

    async def list_runs(
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
        with client_errors():
            return await self._open_lists().runs(
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

    async def _append(self, command: model.Command) -> client.AppendResult:
        return to_append(await self._submit(command, values.AppendResult))

    async def _submit(self, command: model.Command, kind: type[Result]) -> Result:
        if self._writer is None:
            raise Unavailable("the store is not open")
        result: CommandResult = await self._writer.submit(self._namespace, command)
        if not isinstance(result, kind):
            raise TypeError(f"{type(command).__name__} answered {type(result).__name__}")
        return result

    def _open_store(self) -> PostgresqlStore | SqliteStore:
        if self._store is None:
            raise Unavailable("the store is not open")
        return self._store

    def _open_lists(self) -> Lists:
        if self._lists is None:
            raise Unavailable("the store is not open")
        return self._lists
