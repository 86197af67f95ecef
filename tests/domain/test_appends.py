"""Appending ordinary records: what is stored, what is refused, and what a retry gets."""

from __future__ import annotations

import pytest

from runhold.commands.model import AppendRunRecord, Command
from runhold.domain.errors import EventConflict, InvalidCommand, RunNotActive, RunNotFound, RunRecordOwnerMismatch
from runhold.domain.payloads import LIFECYCLE_TYPES
from runhold.domain.values import NO_TIME, AppendResult
from tests.builders import (
    AT,
    a_one_shot_start,
    a_record,
    a_root_start,
    a_session,
    a_suspension,
    a_terminal,
    an_append,
    an_end,
)
from tests.domain.world import World


@pytest.fixture
def world() -> World:
    """Session s with the running run r."""
    return World(a_session(), a_root_start())


def test_a_record_is_stored_behind_the_last_one_of_its_run_and_of_its_session(world: World) -> None:
    assert world.do(an_append()) == AppendResult("2", True, "active")
    assert world.do(an_append(event_key="k2")) == AppendResult("3", True, "active")
    stored = world.record("r", "k2")
    assert stored is not None
    assert (stored.position, stored.session_position, stored.record) == (3, 3, a_record(event_key="k2"))
    assert (world.run().record_count, world.run().head_digest) == (3, stored.digest)
    assert world.session().record_count == 3


def test_an_append_does_not_move_updated_at(world: World) -> None:
    before = world.run().updated_at
    world.state.now += 5_000
    world.do(an_append())
    assert world.run().updated_at == before


def test_a_record_of_a_one_shot_run_has_no_place_in_a_session() -> None:
    world = World(a_one_shot_start())
    assert world.do(an_append(run_id="o", session_id="")) == AppendResult("2", True, "")
    stored = world.record("o", "k")
    assert stored is not None
    assert stored.session_position == 0


def test_a_running_run_of_an_ended_session_goes_on(world: World) -> None:
    world.do(an_end())
    assert world.do(an_append()) == AppendResult("2", True, "ended")


def test_the_exact_retry_gets_the_first_id_and_the_sessions_status_of_now(world: World) -> None:
    world.do(an_append())
    assert world.repeat(an_append()) == AppendResult("2", False, "active")
    world.do(an_end())
    assert world.repeat(an_append()) == AppendResult("2", False, "ended")


@pytest.mark.parametrize("end", [a_terminal(), a_terminal("failed"), a_suspension()])
def test_a_retry_after_the_run_stopped_gets_the_first_answer_and_new_work_is_refused(
    world: World, end: Command
) -> None:
    world.do(an_append())
    world.do(end)
    assert world.repeat(an_append()) == AppendResult("2", False, "active")
    world.refuse(an_append(event_key="k2"), RunNotActive)
    # A taken key with other content is a conflict even now.
    world.refuse(an_append(turn_id="t"), EventConflict)


@pytest.mark.parametrize(
    ("name", "value"),
    [("turn_id", "t"), ("type", "usage"), ("payload", '{"note": "hi"}'), ("timestamp", AT + 1)],
)
def test_the_same_key_with_any_difference_is_a_conflict_that_names_it(world: World, name: str, value: object) -> None:
    world.do(an_append())
    refusal = world.refuse(an_append(**{name: value}), EventConflict)
    assert refusal.members == {"run_id": "r", "event_key": "k", "differs": [name]}


def test_the_key_of_any_record_of_the_run_is_taken(world: World) -> None:
    refusal = world.refuse(an_append(event_key="started"), EventConflict)
    assert refusal.members["differs"] == ["type", "payload"]


def test_keys_are_compared_code_point_by_code_point(world: World) -> None:
    for position, key in enumerate(["é", "e\u0301", "É", " é", "é "], 2):
        assert world.do(an_append(event_key=key)) == AppendResult(str(position), True, "active")


def test_a_record_of_another_owner_is_refused_before_its_key_is_looked_at(world: World) -> None:
    world.do(an_append())
    world.refuse(an_append(agent_id="b"), RunRecordOwnerMismatch)
    world.refuse(an_append(session_id="t"), RunRecordOwnerMismatch)
    world.refuse(an_append(session_id="", event_key="k2"), RunRecordOwnerMismatch)


def test_a_run_that_is_not_there_is_not_found(world: World) -> None:
    world.refuse(an_append(run_id="q", agent_id="b"), RunNotFound)


@pytest.mark.parametrize("name", ["run_id", "agent_id", "event_key", "type", "payload"])
def test_a_record_is_whole_or_refused_before_the_run_is_looked_for(world: World, name: str) -> None:
    refusal = world.refuse(an_append(**{"run_id": "q", name: ""}), InvalidCommand)
    assert refusal.members["errors"] == [{"pointer": f"/{name}", "detail": "must be present"}]


def test_a_record_has_a_time(world: World) -> None:
    assert world.refuse(an_append(timestamp=NO_TIME), InvalidCommand).members["errors"] == [
        {"pointer": "/timestamp", "detail": "must be present"}
    ]
    assert world.do(an_append(timestamp=NO_TIME + 1)).inserted


@pytest.mark.parametrize("kind", sorted(LIFECYCLE_TYPES))
def test_a_lifecycle_type_is_stored_by_its_own_command_only(world: World, kind: str) -> None:
    world.refuse(an_append(type=kind), InvalidCommand)
    assert world.do(an_append(type=kind.upper())).inserted


def test_the_path_names_the_run_of_the_record(world: World) -> None:
    world.refuse(AppendRunRecord("q", a_record()), InvalidCommand)
