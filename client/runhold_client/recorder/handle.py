"""What an opened run knows, whichever way its store is asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Generic, TypeVar

from runhold_client.recorder.log import RunLog
from runhold_client.recorder.opening import Link, start_run
from runhold_client.store import AsyncStore, Store
from runhold_client.types import NO_TIME, RunRecord, RunStart, StartOutcome

if TYPE_CHECKING:
    from runhold_client.recorder.recorder import Opening


AnyStore = TypeVar("AnyStore", bound=Store | AsyncStore)


class RunHandle(Generic[AnyStore]):
    """A run that was opened: its start, and its records as this recorder knows them."""

    def __init__(self, store: AnyStore, log: RunLog) -> None:
        self._store = store
        self._log = log

    @property
    def run_id(self) -> str:
        """The run's id."""
        return self._log.start.run_id

    @property
    def start(self) -> RunStart:
        """How the run was started, with the stored time of its start."""
        return self._log.start

    @property
    def outcome(self) -> StartOutcome:
        """What the start said: ``stop`` when the session had ended, and the run with it."""
        return self._log.outcome

    @property
    def has_stopped(self) -> bool:
        """Whether the run was suspended or has ended. Its stored steps can still be asked for; new ones are refused."""
        return self._log.ending is not None

    @property
    def records(self) -> tuple[RunRecord, ...]:
        """The run's records in stored order: those read on opening, and those stored since by this recorder.

        What others add meanwhile (the record of a cancellation, say) is not among them.
        """
        return self._log.records

    def child(
        self,
        event_key: str,
        *,
        agent_id: str,
        tool_name: str,
        tool_call_id: str,
        run_id: str = "",
        labels: Mapping[str, str] | None = None,
        predecessor_run_id: str = "",
        turn_id: str = "",
    ) -> Opening:
        """A run under this one, to be opened as this one was; its link is stored on this run under the key.

        A child that is started again by a repeated activity is the same child, also when this run has stopped since.

        Args:
            event_key: names the link within this run.
            agent_id: the agent of the child.
            tool_name: the tool whose call the child answers.
            tool_call_id: the id of that call.
            run_id: the child; ``{this run}/agent/{tool_name}/{tool_call_id}`` unless told.
            labels: the child's labels, for good.
            predecessor_run_id: the suspended child that this one continues.
            turn_id: the turn of the child's records that name none; that of this opening unless told.

        Opening raises: RunConflict, RecorderConflict and StepMismatch, as with runs and steps; RunNotActive for a new
        child when this run has stopped.
        """
        from runhold_client.recorder.recorder import Opening  # it opens handles, and a handle opens children

        parent = self._log
        start = RunStart(
            agent_id=agent_id,
            run_id=run_id or f"{parent.start.run_id}/agent/{tool_name}/{tool_call_id}",
            started_at=NO_TIME,
            session_id=parent.start.session_id,
            parent_run_id=parent.start.run_id,
            predecessor_run_id=predecessor_run_id,
            labels=dict(labels or {}),
        )
        link = Link(parent, event_key, tool_name, tool_call_id)
        return Opening(self._store, lambda: start_run(start, parent.clock, turn_id or parent.turn_id, link))
