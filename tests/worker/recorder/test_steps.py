"""Steps: called once, stored, and given back from what is stored."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any

import pytest

from runhold_client import EventConflict, InvalidCommand, PayloadTooLarge, RunConflict, RunNotActive
from runhold_client.recorder import STARTED_KEY, RecorderClosed, StepMismatch, Typed
from tests.worker.recorder.conftest import Meddling, Ticks, World


class Calls:
    """Work that counts how often it was done."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self.count = 0

    def __call__(self) -> Any:
        self.count += 1
        return self.value


def test_a_step_is_called_once_and_given_back_by_every_later_opening(world: World) -> None:
    model = Calls({"text": "hello", "tokens": 12})

    async def story() -> None:
        for _ in range(3):
            async with world.run() as run:
                assert await run.step("model-1", model) == {"text": "hello", "tokens": 12}
                assert await run.step("model-1", model) == {"text": "hello", "tokens": 12}
        stored = await world.records()
        assert [(s.record.event_key, s.record.type) for s in stored] == [
            (STARTED_KEY, "run_started"),
            ("model-1", "step"),
        ]
        assert json.loads(stored[1].record.payload) == model.value

    world.play(story())
    assert model.count == 1


def test_the_first_time_too_a_step_gives_what_its_record_says(world: World) -> None:
    async def story() -> None:
        async with world.run() as run:
            first = await run.step("pair", lambda: (1, {2: "two"}))
        async with world.run() as run:
            again = await run.step("pair", lambda: None)
        assert first == again == [1, {"2": "two"}]

    world.play(story())


def test_stored_times_and_turns_are_kept_whatever_the_clock_and_the_turn_say_later(world: World) -> None:
    async def story() -> None:
        async with world.run(world.recorder(clock=Ticks()), turn_id="turn-1") as run:
            await run.step("model-1", lambda: "a")
            await run.record("note-1", "planner_note", {"note": "n"})
        before = await world.records()
        later = Ticks(now=before[-1].record.timestamp.replace(year=2031))
        async with world.run(world.recorder(clock=later), turn_id="turn-2") as run:
            await run.step("model-1", lambda: "b")
            await run.record("note-1", "planner_note", {"note": "n"})
            await run.step("model-2", lambda: "c")
        after = await world.records()
        assert after[:3] == before
        assert [s.record.turn_id for s in after] == ["turn-1", "turn-1", "turn-1", "turn-2"]
        assert after[3].record.timestamp.year == 2031

    world.play(story())


def test_a_call_that_fails_stores_nothing_and_may_be_tried_again(world: World) -> None:
    def fail() -> Any:
        raise ConnectionError("the model is away")

    async def story() -> None:
        async with world.run() as run:
            with pytest.raises(ConnectionError, match="the model is away"):
                await run.step("model-1", fail)
            assert len(await world.records()) == 1
            assert await run.step("model-1", lambda: "back") == "back"

    world.play(story())


def test_values_of_a_type_of_ones_own_come_back_as_that_type(world: World) -> None:
    @dataclass(frozen=True)
    class Reply:
        text: str
        scores: list[float]

    reply = Reply("half \ud83d of an emoji", [0.5])
    model = Calls(reply)

    async def story() -> None:
        for _ in range(2):
            async with world.run() as run:
                assert await run.step("model-1", model, codec=Typed(Reply)) == reply

    world.play(story())
    assert model.count == 1


def test_a_step_of_another_type_or_form_than_stored_is_refused_without_calling(world: World) -> None:
    @dataclass
    class Reply:
        text: str

    call = Calls(Reply("x"))

    async def story() -> None:
        async with world.run() as run:
            await run.step("model-1", lambda: {"text": 7}, record_type="assistant_message")
            with pytest.raises(StepMismatch, match="'assistant_message', not 'step'") as wrong_type:
                await run.step("model-1", call)
            assert (wrong_type.value.run_id, wrong_type.value.event_key) == (world.run_id, "model-1")
            with pytest.raises(StepMismatch, match="does not decode"):
                await run.step("model-1", call, codec=Typed(Reply), record_type="assistant_message")

    world.play(story())
    assert call.count == 0


def test_what_has_no_json_form_is_an_error_and_stores_nothing(world: World) -> None:
    async def story() -> None:
        async with world.run() as run:
            with pytest.raises(ValueError, match="float"):
                await run.step("nan", lambda: float("nan"))
            with pytest.raises(TypeError):
                await run.step("object", object)
        assert len(await world.records()) == 1

    world.play(story())


def test_a_value_that_the_store_refuses_is_calculated_again(world: World) -> None:
    async def story() -> None:
        async with world.run() as run:
            with pytest.raises(PayloadTooLarge):
                await run.step("model-1", lambda: "x" * (8 * 1024 * 1024))
            assert await run.step("model-1", lambda: "short") == "short"
            with pytest.raises(InvalidCommand):
                await run.step("model-2", lambda: "x", record_type="run_completed")

    world.play(story())


def test_a_fact_may_be_recorded_again_but_not_differently(world: World) -> None:
    async def story() -> None:
        async with world.run() as run:
            first = await run.record("note-1", "planner_note", {"note": "a"})
        async with world.run() as run:
            assert await run.record("note-1", "planner_note", {"note": "a"}) == first
            with pytest.raises(EventConflict) as conflict:
                await run.record("note-1", "thinking_block", {"note": "b"}, turn_id="t")
            assert conflict.value.differs == ("type", "payload", "turn_id")
            assert (conflict.value.run_id, conflict.value.event_key) == (world.run_id, "note-1")
        assert len(await world.records()) == 2

    world.play(story())


def test_a_stopped_run_gives_back_its_steps_and_refuses_new_ones_before_calling(world: World) -> None:
    call = Calls("new")

    async def story() -> None:
        async with world.run() as run:
            await run.step("model-1", lambda: "old")
            await run.finish()
        async with world.run() as run:
            assert run.has_stopped
            assert await run.step("model-1", call) == "old"
            with pytest.raises(RunNotActive):
                await run.step("model-2", call)
            with pytest.raises(RunNotActive):
                await run.record("note-1", "planner_note", {})

    world.play(story())
    assert call.count == 0


def test_a_run_that_was_left_takes_nothing_more(world: World) -> None:
    async def story() -> None:
        async with world.run() as run:
            await run.step("model-1", lambda: "a")
        for use in (
            run.step("model-1", lambda: "b"),
            run.record("note-1", "planner_note", {}),
            run.finish(),
            run.cancel("enough"),
            run.suspend("s-1", b""),
        ):
            with pytest.raises(RecorderClosed):
                await use

    world.play(story())


def test_a_run_is_not_opened_with_another_start_than_it_had(world: World) -> None:
    async def story() -> None:
        async with world.run(labels={"tier": "gold"}) as run:
            assert run.start.labels == {"tier": "gold"}
        for other in ({"labels": {"tier": "silver"}}, {"labels": {"tier": "gold"}, "agent_id": "svc.other"}):
            with pytest.raises(RunConflict):
                async with world.run(**other):
                    pass
        assert len(await world.records()) == 1

    world.play(story())


def test_a_long_run_is_read_whole(world: World) -> None:
    count = 1_003 if world.kind == "async" else 3  # the reading is the same for all, and only this one gathers

    async def story() -> None:
        async with world.run() as run:
            await asyncio.gather(*(run.record(f"note-{number}", "planner_note", number) for number in range(count)))
        async with world.run() as run:
            assert list(run.records) == [stored.record for stored in await world.records()]
            assert len(run.records) == count + 1
            call = Calls("x")
            assert await run.step(f"note-{count - 1}", call, record_type="planner_note") == count - 1
            assert call.count == 0

    world.play(story())


def test_an_opening_reads_the_log_once_and_sends_an_exact_retry_of_the_start(world: World) -> None:
    store = Meddling(world.new_store())
    asked: list[str] = []
    store.before = asked.append

    async def activity() -> None:
        async with world.run(world.recorder(store)) as run:
            for number in range(3):
                await run.step(f"model-{number}", lambda: "x")
            await run.finish()

    async def story() -> None:
        await activity()
        once = ["list_run_records", "start_root_run"]
        assert asked == [*once, *["append_run_record"] * 3, "record_run_terminal"]
        before = world.admin("load_run", world.run_id)
        asked.clear()
        await activity()
        assert asked == [*once, "record_run_terminal"]
        assert world.admin("load_run", world.run_id) == before

    world.play(story())
