"""Cancelling, suspending and ending runs: what is stored, what is refused, and what a retry gets."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from runhold.commands.model import Command, RecordRunCancellation, RecordRunSuspension, RecordRunTerminal
from runhold.domain.errors import (
    EventConflict,
    InvalidCommand,
    RunCancellationConflict,
    RunNotActive,
    RunNotFound,
    RunRecordOwnerMismatch,
    RunSuspensionConflict,
    RunTerminalConflict,
)
from runhold.domain.values import AppendResult, RunStatus, RunSuspension
from tests.builders import (
    AT,
    a_cancellation,
    a_completed_payload,
    a_root_start,
    a_run,
    a_session,
    a_suspension,
    a_terminal,
    an_append,
    an_end,
)
from tests.domain.world import World

STOPPED = AppendResult("2", True, "active")
ENDS = {"success": RunStatus.COMPLETED, "failed": RunStatus.FAILED, "canceled": RunStatus.CANCELED}


@pytest.fixture
def world() -> World:
    """Session s with the running run r."""
    return World(a_session(), a_root_start())


def with_payload(command: Any, **changes: Any) -> Any:
    """The command with some members of its record's payload replaced."""
    payload = json.loads(command.record.payload) | changes
    return replace(command, record=replace(command.record, payload=json.dumps(payload)))


class TestCancellation:
    def test_the_reason_is_stored_with_its_record_and_the_run_goes_on(self, world: World) -> None:
        assert world.do(a_cancellation()) == STOPPED
        assert (world.run().status, world.run().cancellation_reason) == (RunStatus.RUNNING, "enough")
        assert world.do(an_append()).id == "3"

    def test_the_exact_retry_gets_the_first_answer_also_after_the_run_stopped(self, world: World) -> None:
        world.do(a_cancellation())
        assert world.repeat(a_cancellation()) == AppendResult("2", False, "active")
        world.do(a_terminal())
        assert world.repeat(a_cancellation()) == AppendResult("2", False, "active")

    def test_the_first_reason_stays(self, world: World) -> None:
        world.do(a_cancellation())
        world.refuse(a_cancellation("other", event_key="c2"), RunCancellationConflict)
        # Also under the key of the first, and under any that is taken: the reason is looked at before the key.
        world.refuse(a_cancellation("other"), RunCancellationConflict)
        world.refuse(a_cancellation("other", event_key="started"), RunCancellationConflict)

    def test_the_same_reason_under_another_key_is_a_conflict(self, world: World) -> None:
        world.do(a_cancellation())
        world.refuse(a_cancellation(event_key="c2"), RunCancellationConflict)
        world.refuse(a_cancellation(event_key="started"), EventConflict)
        world.refuse(a_cancellation(timestamp=AT + 1), EventConflict)

    @pytest.mark.parametrize("end", [a_terminal(), a_terminal("failed"), a_terminal("canceled"), a_suspension()])
    def test_a_run_that_has_stopped_is_not_cancelled_any_more(self, world: World, end: Command) -> None:
        world.do(end)
        world.refuse(a_cancellation(), RunNotActive)
        world.refuse(a_cancellation(event_key="started"), EventConflict)

    def test_what_does_not_hold_together_is_refused_in_its_order(self, world: World) -> None:
        world.refuse(a_cancellation(run_id="q"), RunNotFound)
        world.refuse(a_cancellation("", event_key=""), InvalidCommand)
        world.refuse(a_cancellation(event_key=""), InvalidCommand)
        # Here, unlike elsewhere, the owner is looked at before type and payload.
        world.refuse(a_cancellation(agent_id="b", type="usage"), RunRecordOwnerMismatch)
        world.refuse(replace(a_cancellation(run_id="q"), run_id="r"), RunRecordOwnerMismatch)
        world.refuse(a_cancellation(type="usage"), InvalidCommand)
        world.refuse(a_cancellation(payload='{"reason":"other"}'), InvalidCommand)
        world.refuse(a_cancellation(payload='{"reason":"enough","reason":"enough"}'), InvalidCommand)
        assert world.do(a_cancellation(payload='{"by":[1,{}],"reason":"enough"}')) == STOPPED

    def test_half_an_emoji_in_the_record_reads_as_the_replacement_character(self, world: World) -> None:
        command = RecordRunCancellation("r", "\ufffd", a_cancellation(payload='{"reason":"\\ud83d"}').record)
        assert world.do(command) == STOPPED
        assert world.run().cancellation_reason == "\ufffd"


class TestSuspension:
    def test_the_checkpoint_is_stored_with_its_record_and_the_run_stops(self, world: World) -> None:
        assert world.do(a_suspension()) == STOPPED
        assert world.run().status is RunStatus.SUSPENDED
        assert world.state.suspension("r") == RunSuspension("p", b"\x00\xff")
        world.refuse(an_append(), RunNotActive)

    def test_the_exact_retry_gets_the_first_answer(self, world: World) -> None:
        world.do(a_suspension())
        world.do(an_end())
        assert world.repeat(a_suspension()) == AppendResult("2", False, "ended")

    def test_another_checkpoint_is_a_conflict_before_the_key_is_looked_at(self, world: World) -> None:
        world.do(a_suspension())
        world.refuse(a_suspension(b"\x00"), RunSuspensionConflict)
        world.refuse(a_suspension(b"\x00", event_key="started"), RunSuspensionConflict)
        other = with_payload(a_suspension(), SuspensionID="q")
        world.refuse(replace(other, suspension=RunSuspension("q", b"\x00\xff")), RunSuspensionConflict)

    def test_the_same_checkpoint_under_another_key_is_a_conflict(self, world: World) -> None:
        world.do(a_suspension())
        world.refuse(a_suspension(event_key="s2"), RunSuspensionConflict)
        world.refuse(a_suspension(event_key="started"), EventConflict)
        world.refuse(a_suspension(turn_id="t"), EventConflict)

    @pytest.mark.parametrize("end", ENDS)
    def test_a_run_that_ended_is_not_suspended(self, world: World, end: str) -> None:
        world.do(a_terminal(end))
        world.refuse(a_suspension(), RunTerminalConflict)
        world.refuse(a_suspension(event_key="end"), RunTerminalConflict)

    def test_a_taken_key_is_a_conflict(self, world: World) -> None:
        world.refuse(a_suspension(event_key="started"), EventConflict)

    def test_what_does_not_hold_together_is_refused_in_its_order(self, world: World) -> None:
        whole = a_suspension()
        world.refuse(a_suspension(run_id="q"), RunNotFound)
        world.refuse(replace(whole, suspension=RunSuspension("", b"x")), InvalidCommand)
        world.refuse(a_suspension(b""), InvalidCommand)
        # The payload is judged before the owner.
        world.refuse(a_suspension(agent_id="b", payload="{"), InvalidCommand)
        world.refuse(a_suspension(agent_id="b"), RunRecordOwnerMismatch)
        world.refuse(with_payload(whole, SuspensionID="q"), InvalidCommand)
        world.refuse(RecordRunSuspension("r", RunSuspension("q", b"x"), whole.record), InvalidCommand)


class TestTerminal:
    @pytest.mark.parametrize(("said", "status"), ENDS.items())
    def test_the_run_ends_and_its_record_is_stored(self, world: World, said: str, status: RunStatus) -> None:
        assert world.do(a_terminal(said)) == STOPPED
        assert world.run().status is status
        assert world.repeat(a_terminal(said)) == AppendResult("2", False, "active")

    @pytest.mark.parametrize("first", ENDS)
    @pytest.mark.parametrize("second", ENDS)
    def test_a_run_ends_once(self, world: World, first: str, second: str) -> None:
        world.do(a_terminal(first))
        world.refuse(a_terminal(second, event_key="end 2"), RunTerminalConflict)
        # The way it ended is looked at before the key.
        world.refuse(a_terminal(second, event_key="started"), EventConflict if first == second else RunTerminalConflict)

    def test_the_same_end_with_any_difference_is_a_conflict(self, world: World) -> None:
        world.do(a_terminal("failed"))
        world.refuse(a_terminal("failed", timestamp=AT + 1), EventConflict)
        world.refuse(with_payload(a_terminal("failed"), failure={"message": "m", "kind": "k"}), EventConflict)

    def test_a_suspended_run_does_not_end(self, world: World) -> None:
        world.do(a_suspension())
        world.refuse(a_terminal(), RunTerminalConflict)

    @pytest.mark.parametrize("said", ENDS)
    def test_a_cancelled_run_may_end_in_any_way(self, world: World, said: str) -> None:
        world.do(a_cancellation())
        assert world.do(a_terminal(said, reason="enough")).id == "3"
        assert world.run().cancellation_reason == "enough"

    def test_a_canceled_end_gives_the_reason_that_is_recorded(self, world: World) -> None:
        world.refuse(a_terminal("canceled", reason="enough"), InvalidCommand)
        world.do(a_cancellation())
        world.refuse(a_terminal("canceled", reason="other"), InvalidCommand)
        world.refuse(a_terminal("canceled"), InvalidCommand)
        assert world.do(a_terminal("canceled", reason="enough")).inserted

    def test_a_canceled_end_without_a_recorded_reason_is_the_engines(self, world: World) -> None:
        world.do(a_terminal("canceled", reason="engine_canceled"))
        assert (world.run().status, world.run().cancellation_reason) == (RunStatus.CANCELED, "")

    def test_an_end_carries_the_runs_labels(self) -> None:
        labels = {"a": "b", "\0": "é"}
        world = World(a_session(), a_root_start(a_run(labels=labels)))
        world.refuse(a_terminal(), InvalidCommand)
        world.refuse(with_payload(a_terminal(), labels={"a": "b"}), InvalidCommand)
        assert world.do(with_payload(a_terminal(), labels=dict(reversed(labels.items())))).inserted

    def test_what_does_not_hold_together_is_refused_in_its_order(self, world: World) -> None:
        whole = a_terminal()
        world.refuse(a_terminal(run_id="q"), RunNotFound)
        world.refuse(a_terminal(event_key=""), InvalidCommand)
        # The payload is judged before the owner.
        world.refuse(a_terminal(agent_id="b", type="usage"), InvalidCommand)
        world.refuse(a_terminal(agent_id="b"), RunRecordOwnerMismatch)
        for status in (RunStatus.FAILED, RunStatus.CANCELED):
            world.refuse(RecordRunTerminal("r", status, whole.record), InvalidCommand)
        for phase in ("failed", "planning", ""):
            world.refuse(with_payload(whole, phase=phase), InvalidCommand)
        world.refuse(a_terminal(payload=json.dumps(a_completed_payload("failed"))), InvalidCommand)
