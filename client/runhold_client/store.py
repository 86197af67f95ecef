"""The two typed protocols of a runtime store, and the two of a session administrator.

A method is named as its operation in the contract. ``HttpStore``/``AsyncHttpStore`` keep them over REST; the service's
``open_local_store``/``open_async_local_store`` keep them in process. Every method raises the ``ContractError`` of the
rule that refused it, and a ``TemporaryError`` when there was no final answer after the last attempt.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

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


class Store(Protocol):
    """What a worker does, synchronously."""

    def start_root_run(self, run: RunStart, started: RunRecord, canceled: RunRecord) -> RootStartResult:
        """Start a run of a session; ``canceled`` is stored instead of work when the session has ended."""
        ...

    def start_child_run(
        self, run: RunStart, parent_linked: RunRecord, started: RunRecord, canceled: RunRecord
    ) -> ChildStartResult:
        """Start a run under a running parent of the same session, with the link on the parent's log."""
        ...

    def start_one_shot_run(self, run: RunStart, started: RunRecord) -> OneShotStartResult:
        """Start a run that belongs to no session."""
        ...

    def start_one_shot_child_run(
        self, run: RunStart, parent_linked: RunRecord, started: RunRecord
    ) -> OneShotChildStartResult:
        """Start a run under a running one-shot run."""
        ...

    def append_run_record(self, record: RunRecord) -> AppendResult:
        """Store one ordinary record on a running run."""
        ...

    def record_run_cancellation(self, run_id: str, reason: str, record: RunRecord) -> AppendResult:
        """Store, once, why the run should stop; the run goes on until it ends."""
        ...

    def record_run_suspension(self, run_id: str, suspension: RunSuspension, record: RunRecord) -> AppendResult:
        """Store the checkpoint and its record, and suspend the run."""
        ...

    def record_run_terminal(self, run_id: str, status: TerminalStatus, record: RunRecord) -> AppendResult:
        """End the run."""
        ...

    def repair_run_suspension(self, run_id: str, suspension: RunSuspension, record: RunRecord) -> RepairResult:
        """Suspend the run if it is still running; tell what was found otherwise."""
        ...

    def repair_run_terminal(self, run_id: str, status: TerminalStatus, record: RunRecord) -> RepairResult:
        """End the run if it is still running; tell what was found otherwise."""
        ...

    def load_run(self, run_id: str) -> RunMeta:
        """Read a run's state."""
        ...

    def load_run_suspension(self, run_id: str) -> RunSuspension:
        """Read a suspended run's checkpoint."""
        ...

    def load_session_status(self, session_id: str) -> SessionStatus:
        """Read whether a session is active."""
        ...

    def list_run_records(self, run_id: str, cursor: str = "", limit: int = 0) -> Page:
        """Read a run's records by position; ``limit`` 0 is the service's default of 100."""
        ...

    def list_session_run_records(self, session_id: str, cursor: str = "", limit: int = 0) -> Page:
        """Read a session's records in commit order across its runs."""
        ...


class AsyncStore(Protocol):
    """What a worker does, for tasks of one event loop; the twin of ``Store``."""

    async def start_root_run(self, run: RunStart, started: RunRecord, canceled: RunRecord) -> RootStartResult:
        """See ``Store.start_root_run``."""
        ...

    async def start_child_run(
        self, run: RunStart, parent_linked: RunRecord, started: RunRecord, canceled: RunRecord
    ) -> ChildStartResult:
        """See ``Store.start_child_run``."""
        ...

    async def start_one_shot_run(self, run: RunStart, started: RunRecord) -> OneShotStartResult:
        """See ``Store.start_one_shot_run``."""
        ...

    async def start_one_shot_child_run(
        self, run: RunStart, parent_linked: RunRecord, started: RunRecord
    ) -> OneShotChildStartResult:
        """See ``Store.start_one_shot_child_run``."""
        ...

    async def append_run_record(self, record: RunRecord) -> AppendResult:
        """See ``Store.append_run_record``."""
        ...

    async def record_run_cancellation(self, run_id: str, reason: str, record: RunRecord) -> AppendResult:
        """See ``Store.record_run_cancellation``."""
        ...

    async def record_run_suspension(self, run_id: str, suspension: RunSuspension, record: RunRecord) -> AppendResult:
        """See ``Store.record_run_suspension``."""
        ...

    async def record_run_terminal(self, run_id: str, status: TerminalStatus, record: RunRecord) -> AppendResult:
        """See ``Store.record_run_terminal``."""
        ...

    async def repair_run_suspension(self, run_id: str, suspension: RunSuspension, record: RunRecord) -> RepairResult:
        """See ``Store.repair_run_suspension``."""
        ...

    async def repair_run_terminal(self, run_id: str, status: TerminalStatus, record: RunRecord) -> RepairResult:
        """See ``Store.repair_run_terminal``."""
        ...

    async def load_run(self, run_id: str) -> RunMeta:
        """See ``Store.load_run``."""
        ...

    async def load_run_suspension(self, run_id: str) -> RunSuspension:
        """See ``Store.load_run_suspension``."""
        ...

    async def load_session_status(self, session_id: str) -> SessionStatus:
        """See ``Store.load_session_status``."""
        ...

    async def list_run_records(self, run_id: str, cursor: str = "", limit: int = 0) -> Page:
        """See ``Store.list_run_records``."""
        ...

    async def list_session_run_records(self, session_id: str, cursor: str = "", limit: int = 0) -> Page:
        """See ``Store.list_session_run_records``."""
        ...


class SessionAdmin(Protocol):
    """What the host application does, synchronously."""

    def create_session(self, session_id: str, created_at: datetime | None = None) -> Session:
        """Create a session, or return the active one of that id unchanged."""
        ...

    def load_session(self, session_id: str) -> Session:
        """Read a session."""
        ...

    def end_session(self, session_id: str, ended_at: datetime | None = None) -> Session:
        """End a session; the first ``ended_at`` stays. Running runs go on."""
        ...

    def purge_session(self, session_id: str) -> None:
        """Delete an ended session's runs, checkpoints and records, and seal its id for ever."""
        ...

    def list_sessions(self, statuses: Sequence[SessionStatus] = (), cursor: str = "", limit: int = 0) -> SessionPage:
        """Read sessions by (created_at, id)."""
        ...

    def list_runs_by_session(
        self, session_id: str, statuses: Sequence[RunStatus] = (), cursor: str = "", limit: int = 0
    ) -> RunPage:
        """Read a session's runs in the order in which their starts committed."""
        ...

    def purge_one_shot_run(self, run_id: str) -> None:
        """Delete a one-shot run with its tree and seal the run ids."""
        ...


class AsyncSessionAdmin(Protocol):
    """What the host application does, for tasks of one event loop; the twin of ``SessionAdmin``."""

    async def create_session(self, session_id: str, created_at: datetime | None = None) -> Session:
        """See ``SessionAdmin.create_session``."""
        ...

    async def load_session(self, session_id: str) -> Session:
        """See ``SessionAdmin.load_session``."""
        ...

    async def end_session(self, session_id: str, ended_at: datetime | None = None) -> Session:
        """See ``SessionAdmin.end_session``."""
        ...

    async def purge_session(self, session_id: str) -> None:
        """See ``SessionAdmin.purge_session``."""
        ...

    async def list_sessions(
        self, statuses: Sequence[SessionStatus] = (), cursor: str = "", limit: int = 0
    ) -> SessionPage:
        """See ``SessionAdmin.list_sessions``."""
        ...

    async def list_runs_by_session(
        self, session_id: str, statuses: Sequence[RunStatus] = (), cursor: str = "", limit: int = 0
    ) -> RunPage:
        """See ``SessionAdmin.list_runs_by_session``."""
        ...

    async def purge_one_shot_run(self, run_id: str) -> None:
        """See ``SessionAdmin.purge_one_shot_run``."""
        ...
