"""A store over REST for the tasks of one event loop.

The commands that tasks send at the same time travel together in ``run_commands``; reads and the host's operations are
one request each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx

from runhold_client import answers, calls, commands
from runhold_client.calls import Call, ListOptions, Order, View
from runhold_client.commands import Command
from runhold_client.gather import Gatherer, GatherLimits
from runhold_client.http_clients import AsyncRetryingClient, client_options
from runhold_client.retries import RetryPolicy
from runhold_client.types import (
    AppendResult,
    ChildStartResult,
    OneShotChildStartResult,
    OneShotStartResult,
    Page,
    RepairResult,
    RootStartResult,
    RunMeta,
    RunPage,
    RunRecord,
    RunStart,
    RunStatus,
    RunSuspension,
    Session,
    SessionPage,
    SessionStatus,
    TerminalStatus,
)

Answer = TypeVar("Answer")


class AsyncHttpStore:
    """``AsyncStore`` and ``AsyncSessionAdmin`` over HTTP; the twin of ``HttpStore``.

    Commands of one run are applied in the order in which they were sent, also over retries: when one is given up, those
    of its run that wait behind it fail, too. Errors are those of ``HttpStore``; each command has its own, whatever
    travelled with it.
    """

    def __init__(
        self,
        base_url: str,
        token: str | None = None,
        *,
        timeout: float = 30.0,
        retries: RetryPolicy | None = None,
        gather: GatherLimits | None = None,
        connections: int = 100,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """Connect lazily to the service at ``base_url``, which may end in a path prefix.

        Args: token is sent as a bearer key; timeout is in seconds, for one attempt; gather says how much goes into one
        request; connections is how many may be open; transport replaces httpx's own.
        Raises: ValueError for a base URL or a token that cannot be used.
        """
        policy = retries or RetryPolicy()
        self._http = AsyncRetryingClient(policy, **client_options(base_url, token, timeout, transport, connections))
        self._gatherer = Gatherer(self._post, policy, gather or GatherLimits())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Wait for the answers of all commands that were sent, then close the connections."""
        try:
            await self._gatherer.close()
        finally:
            await self._http.aclose()

    async def _call(self, call: Call[Answer]) -> Answer:
        return call.read((await self._http.request(**call.request)).content)

    async def _command(self, command: Command[Answer]) -> Answer:
        return command.decode(await self._gatherer.send(command.item(), command.runs))

    async def _post(self, items: list[bytes]) -> Any:
        request = self._http.build_request(**commands.run_commands_request(items))
        return answers.decode_json((await self._http.send_once(request)).content)

    # ------------------------------------------------------------------------------------------------------------ Store

    async def start_root_run(self, run: RunStart, started: RunRecord, canceled: RunRecord) -> RootStartResult:
        """See ``Store.start_root_run``."""
        return await self._command(commands.start_root_run(run, started, canceled))

    async def start_child_run(
        self, run: RunStart, parent_linked: RunRecord, started: RunRecord, canceled: RunRecord
    ) -> ChildStartResult:
        """See ``Store.start_child_run``."""
        return await self._command(commands.start_child_run(run, parent_linked, started, canceled))

    async def start_one_shot_run(self, run: RunStart, started: RunRecord) -> OneShotStartResult:
        """See ``Store.start_one_shot_run``."""
        return await self._command(commands.start_one_shot_run(run, started))

    async def start_one_shot_child_run(
        self, run: RunStart, parent_linked: RunRecord, started: RunRecord
    ) -> OneShotChildStartResult:
        """See ``Store.start_one_shot_child_run``."""
        return await self._command(commands.start_one_shot_child_run(run, parent_linked, started))

    async def append_run_record(self, record: RunRecord) -> AppendResult:
        """See ``Store.append_run_record``."""
        return await self._command(commands.append_run_record(record))

    async def record_run_cancellation(self, run_id: str, reason: str, record: RunRecord) -> AppendResult:
        """See ``Store.record_run_cancellation``."""
        return await self._command(commands.record_run_cancellation(run_id, reason, record))

    async def record_run_suspension(self, run_id: str, suspension: RunSuspension, record: RunRecord) -> AppendResult:
        """See ``Store.record_run_suspension``."""
        return await self._command(commands.record_run_suspension(run_id, suspension, record))

    async def record_run_terminal(self, run_id: str, status: TerminalStatus, record: RunRecord) -> AppendResult:
        """See ``Store.record_run_terminal``."""
        return await self._command(commands.record_run_terminal(run_id, status, record))

    async def repair_run_suspension(self, run_id: str, suspension: RunSuspension, record: RunRecord) -> RepairResult:
        """See ``Store.repair_run_suspension``."""
        return await self._command(commands.repair_run_suspension(run_id, suspension, record))

    async def repair_run_terminal(self, run_id: str, status: TerminalStatus, record: RunRecord) -> RepairResult:
        """See ``Store.repair_run_terminal``."""
        return await self._command(commands.repair_run_terminal(run_id, status, record))

    async def load_run(self, run_id: str) -> RunMeta:
        """See ``Store.load_run``."""
        return await self._call(calls.load_run(run_id))

    async def load_run_suspension(self, run_id: str) -> RunSuspension:
        """See ``Store.load_run_suspension``."""
        return await self._call(calls.load_run_suspension(run_id))

    async def load_session_status(self, session_id: str) -> SessionStatus:
        """See ``Store.load_session_status``."""
        return await self._call(calls.load_session_status(session_id))

    async def list_run_records(
        self,
        run_id: str,
        cursor: str = "",
        limit: int = 0,
        *,
        order: Order = "asc",
        types: Sequence[str] = (),
        turn_ids: Sequence[str] = (),
        view: View = "full",
        wait_ms: int = 0,
    ) -> Page:
        """See ``Store.list_run_records``.

        Args: types and turn_ids keep only records of one of them; view ``summary`` leaves payloads out and tells their
        size; wait_ms waits that long for a first record; with order ``desc`` a cursor means "before it".
        """
        options = ListOptions(order, types, turn_ids, view, wait_ms)
        return await self._call(calls.list_run_records(run_id, cursor, limit, options))

    async def list_session_run_records(
        self,
        session_id: str,
        cursor: str = "",
        limit: int = 0,
        *,
        order: Order = "asc",
        types: Sequence[str] = (),
        turn_ids: Sequence[str] = (),
        view: View = "full",
        wait_ms: int = 0,
    ) -> Page:
        """See ``Store.list_session_run_records``; the options are those of ``list_run_records``."""
        options = ListOptions(order, types, turn_ids, view, wait_ms)
        return await self._call(calls.list_session_run_records(session_id, cursor, limit, options))

    # ----------------------------------------------------------------------------------------------------- SessionAdmin

    async def create_session(self, session_id: str, created_at: datetime | None = None) -> Session:
        """See ``SessionAdmin.create_session``."""
        return await self._call(calls.create_session(session_id, created_at))

    async def load_session(self, session_id: str) -> Session:
        """See ``SessionAdmin.load_session``."""
        return await self._call(calls.load_session(session_id))

    async def end_session(self, session_id: str, ended_at: datetime | None = None) -> Session:
        """See ``SessionAdmin.end_session``."""
        return await self._call(calls.end_session(session_id, ended_at))

    async def purge_session(self, session_id: str) -> None:
        """See ``SessionAdmin.purge_session``."""
        return await self._call(calls.purge_session(session_id))

    async def purge_one_shot_run(self, run_id: str) -> None:
        """See ``SessionAdmin.purge_one_shot_run``."""
        return await self._call(calls.purge_one_shot_run(run_id))

    async def list_sessions(
        self, statuses: Sequence[SessionStatus] = (), cursor: str = "", limit: int = 0, *, order: Order = "asc"
    ) -> SessionPage:
        """See ``SessionAdmin.list_sessions``."""
        return await self._call(calls.list_sessions(statuses, cursor, limit, order))

    async def list_runs_by_session(
        self,
        session_id: str,
        statuses: Sequence[RunStatus] = (),
        cursor: str = "",
        limit: int = 0,
        *,
        order: Order = "asc",
    ) -> RunPage:
        """See ``SessionAdmin.list_runs_by_session``."""
        return await self._call(calls.list_runs_by_session(session_id, statuses, cursor, limit, order))

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
        order: Order = "asc",
    ) -> RunPage:
        """Read runs by (started_at, id), across sessions and one-shot runs.

        Args: statuses are alternatives, all labels must hold; started_after is inclusive, started_before exclusive.
        Source: ListRuns.
        """
        return await self._call(
            calls.list_runs(
                statuses,
                cursor,
                limit,
                agent_id=agent_id,
                session_id=session_id,
                parent_run_id=parent_run_id,
                labels=labels,
                started_after=started_after,
                started_before=started_before,
                order=order,
            )
        )
