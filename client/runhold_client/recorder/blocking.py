"""``BlockingRecordedRun``: a run opened by ``with``; the twin of ``RecordedRun``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, overload

from runhold_client.recorder import endings, flows
from runhold_client.recorder.codecs import JSON, Codec
from runhold_client.recorder.driving import drive_blocking
from runhold_client.recorder.handle import RunHandle
from runhold_client.recorder.payloads import Failure
from runhold_client.recorder.types import STEP
from runhold_client.store import Store
from runhold_client.types import RunRecord, RunSuspension

Value = TypeVar("Value")


class BlockingRecordedRun(RunHandle[Store]):
    """A run that this task writes; others of the same event loop may share it.

    Every method may be repeated, in the same opening and in a later one: what is stored stays as it is. All raise
    ``RecorderConflict`` when another recorder turns out to write the run, ``RecorderClosed`` after the block, and what
    the store raises. After a ``TemporaryError`` the same method with the same key sends the same record again.
    """

    @overload
    def step(
        self,
        event_key: str,
        call: Callable[[], Value],
        *,
        codec: Codec[Value],
        record_type: str = ...,
        turn_id: str | None = ...,
    ) -> Value: ...

    @overload
    def step(
        self,
        event_key: str,
        call: Callable[[], Any],
        *,
        record_type: str = ...,
        turn_id: str | None = ...,
    ) -> Any: ...

    def step(
        self,
        event_key: str,
        call: Callable[[], Any],
        *,
        codec: Codec[Any] = JSON,
        record_type: str = STEP,
        turn_id: str | None = None,
    ) -> Any:
        """Do a piece of work once, and keep what came of it.

        Args:
            event_key: names the step within the run; the record is stored under it.
            call: does the work, and is called only when the step is not stored. What it raises is passed on, and
                nothing is stored. When the process dies between call and storing, the next opening calls again.
            codec: how the value becomes the record's payload; any JSON value unless told.
            record_type: the record's type, any but the five of the lifecycle.
            turn_id: the record's turn, that of the opening unless told.

        Returns: what the stored record says, decoded; the first time, too.

        Raises: StepMismatch when the stored record has another type or does not decode; RunNotActive, before calling,
        when the run has stopped; StepUnderWay when the step is running already.
        """
        return self._drive(flows.step(self._log, event_key, call, record_type, codec, turn_id))

    def record(
        self, event_key: str, record_type: str, value: Any, *, codec: Codec[Any] = JSON, turn_id: str | None = None
    ) -> RunRecord:
        """Store a fact that is known without calling anything.

        Returns: the stored record.

        Raises: EventConflict when the key holds something else; RunNotActive when the run has stopped.
        """
        return self._drive(flows.fact(self._log, event_key, record_type, codec.encode(value), turn_id))

    def checkpoint(self) -> RunSuspension:
        """The checkpoint of the suspended run that this one continues. Raises: RunSuspensionNotFound."""
        return self._drive(endings.checkpoint(self._log))

    def suspend(
        self,
        suspension_id: str,
        data: bytes,
        *,
        version: str = "",
        pending_count: int = 0,
        required_tools: Sequence[str] = (),
    ) -> None:
        """Store the checkpoint and suspend the run.

        Raises: RunSuspensionConflict when the run is suspended with another checkpoint; RunTerminalConflict when it
        ended.
        """
        suspension = RunSuspension(suspension_id, data)
        self._drive(endings.suspend(self._log, suspension, version, pending_count, required_tools))

    def cancel(self, reason: str) -> None:
        """Record why the run should stop; it goes on until it ends.

        Raises: RunCancellationConflict when another reason is recorded.
        """
        self._drive(endings.cancel(self._log, reason))

    def cancellation_reason(self) -> str:
        """Ask the store whether the run should stop, and why; ``""`` when nobody wishes so."""
        return self._drive(endings.cancellation_reason(self._log))

    def finish(self, failure: Failure | None = None) -> None:
        """End the run: completed, or failed. Raises: RunTerminalConflict when it ended in another way."""
        self._drive(endings.finish(self._log, failure))

    def finish_canceled(self) -> None:
        """End the run as canceled, for the recorded reason, or ``engine_canceled``. Raises: RunTerminalConflict."""
        self._drive(endings.finish_canceled(self._log))

    def _drive(self, flow: flows.Flow[Value]) -> Value:
        return drive_blocking(self._store, flow)
