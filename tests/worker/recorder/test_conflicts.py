"""Two recorders on one run, work done at the same time, and answers that were lost on the way."""

from __future__ import annotations

import asyncio
import threading

import pytest

from runhold_client import AsyncHttpStore, Unavailable
from runhold_client.recorder import RecorderConflict, RunRecorder, StepUnderWay
from tests.worker.recorder.conftest import Meddling, World
from tests.worker.recorder.test_steps import Calls

CHILD = {"agent_id": "svc.child", "tool_name": "ask", "tool_call_id": "1"}


def test_two_live_recorders_end_in_a_conflict_and_the_later_one_writes_no_more(world: World) -> None:
    async def story() -> None:
        async with world.run() as first, world.run() as second:
            assert await first.step("model-1", lambda: "one") == "one"
            with pytest.raises(RecorderConflict) as conflict:
                await second.step("model-1", lambda: "two")
            assert (conflict.value.run_id, conflict.value.event_key) == (world.run_id, "model-1")
            for use in (second.step("model-2", lambda: "x"), second.step("model-1", lambda: "x"), second.finish()):
                with pytest.raises(RecorderConflict):
                    await use
            await first.step("model-2", lambda: "one goes on")
        async with world.run() as third:
            assert await third.step("model-1", lambda: "three") == "one"
        assert len(await world.records()) == 3

    world.play(story())


def test_of_two_recorders_that_start_a_run_at_once_one_is_told(world: World) -> None:
    store = Meddling(world.new_store())

    async def story() -> None:
        def another_starts(operation: str) -> None:
            if operation.startswith("start"):
                store.before = lambda _: None
                thread = threading.Thread(target=asyncio.run, args=(_start_run(world),))
                thread.start()
                thread.join()

        store.before = another_starts
        with pytest.raises(RecorderConflict, match="another recorder"):
            async with world.run(world.recorder(store)):
                pass
        assert len(await world.records()) == 1

    world.play(story())


async def _start_run(world: World) -> None:
    async with (
        AsyncHttpStore(world.server.url) as store,
        RunRecorder(store).run(world.run_id, agent_id="svc.agent", session_id=world.session_id),
    ):
        pass


def test_a_child_that_another_recorder_started_meanwhile_is_a_conflict_on_the_parent(world: World) -> None:
    async def story() -> None:
        async with world.run() as first, world.run() as second:
            async with first.child("ask-1", **CHILD):
                pass
            with pytest.raises(RecorderConflict) as conflict:
                async with second.child("ask-1", **CHILD):
                    pass
            assert conflict.value.run_id == world.run_id
            with pytest.raises(RecorderConflict):
                await second.step("model-1", lambda: "x")

    world.play(story())


def test_a_link_key_that_another_recorder_used_meanwhile_is_a_conflict_on_the_parent(world: World) -> None:
    async def story() -> None:
        async with world.run() as first, world.run() as second:
            await first.step("ask-1", lambda: "a step")
            with pytest.raises(RecorderConflict) as conflict:
                async with second.child("ask-1", **CHILD):
                    pass
            assert (conflict.value.run_id, conflict.value.event_key) == (world.run_id, "ask-1")

    world.play(story())


@pytest.mark.parametrize("lost", ["before it was stored", "after it was stored"])
def test_a_step_whose_answer_was_lost_is_sent_again_and_not_called_again(world: World, lost: str) -> None:
    store = Meddling(world.new_store())
    model = Calls("reply")

    def lose(operation: str) -> None:
        if operation == "append_run_record":
            raise Unavailable("the answer was lost")

    async def story() -> None:
        async with world.run(world.recorder(store)) as run:
            setattr(store, lost.split(maxsplit=1)[0], lose)
            for _ in range(2):
                with pytest.raises(Unavailable):
                    await run.step("model-1", model)
            store.before = store.after = lambda _: None
            assert await run.step("model-1", model) == "reply"
            assert model.count == 1
        assert [s.record.event_key for s in (await world.records())[1:]] == ["model-1"]

    world.play(story())


def test_a_child_whose_start_was_not_answered_is_started_by_the_next_attempt(world: World) -> None:
    store = Meddling(world.new_store())

    def lose(operation: str) -> None:
        if operation.startswith("start"):
            store.after = lambda _: None
            raise Unavailable("the answer was lost")

    async def story() -> None:
        async with world.run(world.recorder(store)) as run:
            store.after = lose
            with pytest.raises(Unavailable):
                async with run.child("ask-1", **CHILD):
                    pass
            async with run.child("ask-1", **CHILD) as child:
                await child.finish()
            assert [record.type for record in run.records] == ["run_started", "child_run_linked"]
        assert len(await world.records()) == 2

    world.play(story())


@pytest.mark.parametrize("way", ["async on sqlite", "threads on postgresql"], indirect=True)
def test_steps_of_one_run_may_run_at_the_same_time_but_not_one_step_twice(world: World) -> None:
    async def story() -> None:
        release = asyncio.Event()

        async def wait() -> str:
            await release.wait()
            return "waited"

        async with world.run() as run:
            slow = asyncio.create_task(run.step("slow", wait))
            assert await run.step("quick", lambda: "at once") == "at once"
            with pytest.raises(StepUnderWay):
                await run.step("slow", wait)
            release.set()
            assert await slow == "waited"
            assert await run.step("slow", wait) == "waited"
        assert [s.record.event_key for s in (await world.records())[1:]] == ["quick", "slow"]

    world.play(story())


@pytest.mark.parametrize("way", ["blocking on sqlite"], indirect=True)
def test_threads_may_share_a_blocking_run_but_not_run_one_step_twice(world: World) -> None:
    with RunRecorder(world.new_store()).run(world.run_id, agent_id="a", session_id=world.session_id) as run:
        release = threading.Event()
        slow = threading.Thread(target=run.step, args=("slow", lambda: release.wait(30)))
        slow.start()
        assert run.step("quick", lambda: "at once") == "at once"
        with pytest.raises(StepUnderWay):
            run.step("slow", lambda: "never")
        release.set()
        slow.join()
        assert run.step("slow", lambda: "never") is True


@pytest.mark.parametrize("way", ["async on sqlite", "threads on postgresql"], indirect=True)
def test_a_step_that_was_canceled_while_it_was_stored_is_settled_by_the_next(world: World) -> None:
    model = Calls("reply")

    async def story() -> None:
        async with world.run() as run:
            task = asyncio.create_task(run.step("model-1", model))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert await run.step("model-1", model) == "reply"
            assert model.count == 1

    world.play(story())


def test_the_way_of_opening_fits_the_store() -> None:
    recorder = RunRecorder(AsyncHttpStore("http://127.0.0.1:1"))
    with pytest.raises(TypeError, match="async with"), recorder.run("r", agent_id="a"):
        pass


@pytest.mark.parametrize("way", ["blocking on sqlite"], indirect=True)
def test_a_blocking_run_takes_no_coroutines(world: World) -> None:
    async def coroutine() -> str:
        return "x"

    with RunRecorder(world.new_store()).run(world.run_id, agent_id="a", session_id=world.session_id) as run:
        with pytest.raises(TypeError, match="ordinary function"):
            run.step("model-1", coroutine)
        assert len(run.records) == 1
