"""``RunRecorder``: the way into a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import TracebackType

from runhold_client.recorder.asynchronous import RecordedRun
from runhold_client.recorder.blocking import BlockingRecordedRun
from runhold_client.recorder.driving import drive, drive_blocking, is_synchronous
from runhold_client.recorder.flows import Flow
from runhold_client.recorder.log import Clock, RunLog, system_clock
from runhold_client.recorder.opening import reopen_run, start_run
from runhold_client.store import AsyncStore, Store
from runhold_client.types import NO_TIME, RunStart


class Opening:
    """A run about to be opened: ``async with`` over any store, ``with`` over a synchronous one.

    Leaving the block writes nothing, whatever the reason: a run ends by ``finish`` and its kind, and goes on otherwise.
    """

    def __init__(self, store: Store | AsyncStore, open_log: Callable[[], Flow[RunLog]]) -> None:
        self._store = store
        self._open_log = open_log
        self._log: RunLog | None = None

    async def __aenter__(self) -> RecordedRun:
        self._log = await drive(self._store, self._open_log())
        return RecordedRun(self._store, self._log)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def __enter__(self) -> BlockingRecordedRun:
        store = self._store
        if not is_synchronous(store):
            raise TypeError("a run over an asynchronous store is opened by `async with`")
        self._log = drive_blocking(store, self._open_log())
        return BlockingRecordedRun(store, self._log)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def _close(self) -> None:
        if self._log is not None:
            self._log.close()


class RunRecorder:
    """Opens runs of one store, new ones and begun ones.

    That only one recorder writes a run at a time is for the workflow engine to see to. Two that do are told apart by
    their first differing record: the later one gets a ``RecorderConflict`` and writes no more.

    Args:
        store: synchronous or asynchronous. In an event loop a synchronous one is asked in threads.
        clock: answers the present instant with its time zone, for what is new; stored times are never computed again.
    """

    def __init__(self, store: Store | AsyncStore, *, clock: Clock = system_clock) -> None:
        self._store = store
        self._clock = clock

    def run(
        self,
        run_id: str,
        *,
        agent_id: str,
        session_id: str = "",
        labels: Mapping[str, str] | None = None,
        predecessor_run_id: str = "",
        turn_id: str = "",
    ) -> Opening:
        """A run without a parent: started when it is new, else read and started again exactly as it was.

        Args:
            run_id: the run.
            agent_id: the agent that runs.
            session_id: ``""`` for a one-shot run.
            labels: the run's labels, for good.
            predecessor_run_id: the suspended run that this one continues.
            turn_id: the turn of new records that name none.

        Opening raises: RunConflict when the run was started differently; RecorderConflict when another recorder starts
        it at the same time; what a start raises (SessionNotFound, SessionPurged, ContinuationConflict, …).
        """
        start = RunStart(agent_id, run_id, NO_TIME, session_id, "", predecessor_run_id, dict(labels or {}))
        return Opening(self._store, lambda: start_run(start, self._clock, turn_id))

    def reopen(self, run_id: str, *, turn_id: str = "") -> Opening:
        """A run that exists, whoever started it: a child in a worker of its own, say. Opening raises: RunNotFound."""
        return Opening(self._store, lambda: reopen_run(run_id, self._clock, turn_id))
