"""Starts, children, suspension, continuation, cancellation and ends, each repeated as an activity repeats them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from runhold_client import (
    ContinuationConflict,
    InvalidCommand,
    RunCancellationConflict,
    RunConflict,
    RunNotActive,
    RunNotFound,
    RunRecord,
    RunStart,
    RunStatus,
    RunSuspensionConflict,
    RunTerminalConflict,
    SessionNotFound,
    StartOutcome,
)
from runhold_client.recorder import CANCELLATION_KEY, COMPLETED_KEY, STARTED_KEY, STOPPED_KEY, Failure, StepMismatch
from tests.worker.recorder.conftest import AT, Meddling, World

CHILD = {"agent_id": "svc.child", "tool_name": "ask", "tool_call_id": "call/1"}


def test_a_start_that_the_ended_session_stopped_is_stopped_at_every_opening(world: World) -> None:
    world.admin("end_session", world.session_id)

    async def story() -> None:
        for _ in range(2):
            async with world.run() as run:
                assert run.outcome is StartOutcome.STOP
                assert run.has_stopped
                with pytest.raises(RunNotActive):
                    await run.step("model-1", lambda: "never")
                await run.finish_canceled()
        stored = await world.records()
        assert [s.record.event_key for s in stored] == [STARTED_KEY, STOPPED_KEY]

    world.play(story())


def test_a_run_that_began_goes_on_after_its_session_ended(world: World) -> None:
    async def story() -> None:
        async with world.run():
            pass
        world.admin("end_session", world.session_id)
        async with world.run() as run:
            assert run.outcome is StartOutcome.PROCEED
            await run.step("model-1", lambda: "on")
            await run.finish()
        assert world.admin("load_run", world.run_id).status is RunStatus.COMPLETED

    world.play(story())


def test_a_run_without_its_session_is_not_opened(world: World) -> None:
    async def story() -> None:
        with pytest.raises(SessionNotFound):
            async with world.run(session_id="nowhere " + world.session_id):
                pass
        with pytest.raises(RunNotFound):
            async with world.recorder().reopen(world.run_id):
                pass

    world.play(story())


@pytest.mark.parametrize("one_shot", [False, True])
def test_a_child_is_linked_once_and_is_the_same_child_in_every_repetition(world: World, one_shot: bool) -> None:
    session = "" if one_shot else world.session_id

    async def activity() -> Any:
        async with world.run(session_id=session) as run:
            async with run.child("ask-1", **CHILD, labels={"kind": "child"}) as child:
                answer = await child.step("model-1", lambda: "from the child")
                await child.finish()
            assert child.run_id == f"{world.run_id}/agent/ask/call/1"
            assert await run.step("model-1", lambda: answer) == "from the child"
            await run.finish()
            return child.run_id

    async def story() -> None:
        child_id = await activity()
        before = await world.records(), await world.records(child_id)
        assert await activity() == child_id
        assert (await world.records(), await world.records(child_id)) == before
        assert [s.record.type for s in before[0]] == ["run_started", "child_run_linked", "step", "run_completed"]
        link = before[0][1].record
        assert json.loads(link.payload) == {
            "ToolName": "ask",
            "ToolCallID": "call/1",
            "ChildRunID": child_id,
            "ChildAgentID": "svc.child",
        }
        meta = world.admin("load_run", child_id)
        assert (meta.parent_run_id, meta.session_id, meta.labels) == (world.run_id, session, {"kind": "child"})

    world.play(story())


def test_a_stopped_run_has_no_new_children(world: World) -> None:
    async def story() -> None:
        async with world.run() as run:
            await run.finish()
            with pytest.raises(RunNotActive):
                async with run.child("ask-1", **CHILD):
                    pass

    world.play(story())


def test_a_key_that_holds_a_step_is_no_childs_link(world: World) -> None:
    async def story() -> None:
        async with world.run() as run:
            await run.step("ask-1", lambda: "a step")
            with pytest.raises(StepMismatch, match="not the start of a child run"):
                async with run.child("ask-1", **CHILD):
                    pass
            async with run.child("ask-2", **CHILD):
                pass
        assert len(await world.records()) == 3

    world.play(story())


def test_a_child_in_a_worker_of_its_own_is_reopened_by_its_id(world: World) -> None:
    async def story() -> None:
        async with world.run() as run, run.child("ask-1", **CHILD) as child:
            started = child.start
        async with world.recorder().reopen(child.run_id) as same:
            assert same.start == started
            await same.step("model-1", lambda: "done elsewhere")
            await same.finish()
        assert world.admin("load_run", child.run_id).status is RunStatus.COMPLETED

    world.play(story())


def test_a_suspended_run_is_continued_by_another_that_reads_its_checkpoint(world: World) -> None:
    data = bytes(range(256))
    second = world.run_id + " continued"

    async def story() -> None:
        for _ in range(2):
            async with world.run() as run:
                await run.step("model-1", lambda: "ask the user")
                await run.suspend("pause-1", data, version="1", pending_count=1, required_tools=["confirm"])
                assert run.has_stopped
        for _ in range(2):
            async with world.run(run_id=second, predecessor_run_id=world.run_id) as run:
                checkpoint = await run.checkpoint()
                assert (checkpoint.id, checkpoint.data) == ("pause-1", data)
                await run.finish()
        stored = [(s.record.event_key, json.loads(s.record.payload)) for s in await world.records()]
        assert stored[-1] == (
            "run/suspended",
            {"SuspensionID": "pause-1", "Version": "1", "PendingCount": 1, "RequiredTools": ["confirm"]},
        )
        async with world.recorder().reopen(second) as run:
            assert run.start.predecessor_run_id == world.run_id

    world.play(story())


def test_a_run_is_suspended_with_one_checkpoint_and_not_ended_after(world: World) -> None:
    async def story() -> None:
        async with world.run() as run:
            await run.suspend("pause-1", b"one")
            with pytest.raises(RunSuspensionConflict):
                await run.suspend("pause-1", b"two")
            with pytest.raises(RunTerminalConflict):
                await run.finish()
        with pytest.raises(ContinuationConflict):
            async with world.run(run_id=world.run_id + " 2", predecessor_run_id=world.run_id, agent_id="svc.other"):
                pass

    world.play(story())


def test_a_run_is_completed_once_and_only_so(world: World) -> None:
    async def story() -> None:
        for _ in range(2):
            async with world.run(labels={"a": "b"}) as run:
                await run.finish()
                await run.finish()
                with pytest.raises(RunTerminalConflict):
                    await run.finish(Failure(message="it broke", kind="internal"))
        assert [s.record.event_key for s in await world.records()] == [STARTED_KEY, COMPLETED_KEY]

    world.play(story())


def test_a_failure_is_stored_with_all_it_says(world: World) -> None:
    failure = Failure(message="no", kind="provider", provider="bedrock", code="529", http_status=529, retryable=True)

    async def story() -> None:
        for _ in range(2):
            async with world.run() as run:
                await run.finish(failure)
        said = json.loads((await world.records())[-1].record.payload)
        assert said["failure"]["http_status"] == 529
        assert (said["status"], said["phase"], said["failure"]["retryable"]) == ("failed", "failed", True)

    world.play(story())


def test_a_cancellation_is_a_wish_that_the_worker_sees_and_ends_by(world: World) -> None:
    async def story() -> None:
        async with world.run() as worker, world.run() as other:
            assert await worker.cancellation_reason() == ""
            await other.cancel("the user left")
            await other.cancel("the user left")
            with pytest.raises(RunCancellationConflict):
                await other.cancel("no, another reason")
            assert await worker.cancellation_reason() == "the user left"
            await worker.step("model-1", lambda: "finished what it did")
            await worker.finish_canceled()
            await worker.finish_canceled()
        async with world.run() as worker:
            await worker.cancel("the user left")
            await worker.finish_canceled()
        stored = await world.records()
        assert [s.record.event_key for s in stored] == [STARTED_KEY, CANCELLATION_KEY, "model-1", COMPLETED_KEY]
        assert json.loads(stored[-1].record.payload)["cancellation"] == {"reason": "the user left"}

    world.play(story())


def test_a_run_that_the_engine_canceled_says_so(world: World) -> None:
    async def story() -> None:
        async with world.run() as run:
            await run.finish_canceled()
        said = json.loads((await world.records())[-1].record.payload)
        assert said["cancellation"] == {"reason": "engine_canceled"}

    world.play(story())


def test_a_cancellation_that_comes_just_before_the_end_is_named_by_it(world: World) -> None:
    store = Meddling(world.new_store())

    async def story() -> None:
        async with world.run(world.recorder(store)) as run:

            def somebody_cancels(operation: str) -> None:
                if operation == "record_run_terminal" and not world.admin("load_run", world.run_id).cancellation_reason:
                    record = RunRecord(
                        event_key="elsewhere",
                        run_id=world.run_id,
                        agent_id="svc.agent",
                        session_id=world.session_id,
                        type="runtime.cancellation_intent",
                        payload='{"reason":"late"}',
                        timestamp=AT,
                    )
                    world.admin("record_run_cancellation", world.run_id, "late", record)

            store.before = somebody_cancels
            await run.finish_canceled()
        assert json.loads((await world.records())[-1].record.payload)["cancellation"] == {"reason": "late"}

    world.play(story())


def test_an_end_that_breaks_a_rule_is_refused_as_the_store_refuses_it(world: World) -> None:
    async def story() -> None:
        async with world.run() as run:
            with pytest.raises(InvalidCommand):
                await run.cancel("")
            with pytest.raises(InvalidCommand):
                await run.suspend("", b"data")
        assert len(await world.records()) == 1

    world.play(story())


def test_a_run_that_another_worker_began_under_keys_of_its_own_is_gone_on_with(world: World) -> None:
    started = RunRecord(
        event_key="evt/0",
        run_id=world.run_id,
        agent_id="svc.agent",
        session_id=world.session_id,
        turn_id="t",
        type="run_started",
        payload='{ "Labels": {"a": "b"} }',
        timestamp=AT,
    )
    end = '{"status":"canceled","phase":"canceled","cancellation":{"reason":"session_ended"},"labels":{"a":"b"}}'
    canceled = RunRecord("evt/1", world.run_id, "svc.agent", "run_completed", end, AT, world.session_id)
    start = RunStart("svc.agent", world.run_id, AT, world.session_id, labels={"a": "b"})

    async def story() -> None:
        world.admin("start_root_run", start, started, canceled)
        async with world.run(labels={"a": "b"}) as run:
            assert run.start == start
            await run.step("model-1", lambda: "x")
        stored = await world.records()
        assert [s.record.event_key for s in stored] == ["evt/0", "model-1"]
        assert stored[0].record == started
        with pytest.raises(RunConflict):
            async with world.run(labels={"a": "c"}):
                pass

    world.play(story())
