"""Repairs: a run that still runs is ended, and of one that has stopped it is told how."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from runhold.commands.model import (
    Command,
    RecordRunSuspension,
    RecordRunTerminal,
    RepairRunSuspension,
    RepairRunTerminal,
)
from runhold.domain.errors import EventConflict, InvalidCommand, RunNotFound, RunRecordOwnerMismatch
from runhold.domain.values import AppendResult, RepairOutcome, RepairResult, RunStatus, RunSuspension
from tests.builders import AT, a_cancellation, a_root_start, a_session, a_suspension, a_terminal, an_end
from tests.domain.world import World

FIRST, AGAIN = AppendResult("2", True, "active"), AppendResult("2", False, "active")
ENDS = {"success": RunStatus.COMPLETED, "failed": RunStatus.FAILED, "canceled": RunStatus.CANCELED}


def repair(command: RecordRunSuspension | RecordRunTerminal) -> Command:
    """The same command as a repair."""
    if isinstance(command, RecordRunTerminal):
        return RepairRunTerminal(command.run_id, command.status, command.record)
    return RepairRunSuspension(command.run_id, command.suspension, command.record)


def different(status: RunStatus) -> RepairResult:
    return RepairResult(RepairOutcome.DIFFERENT_TERMINAL, status, None)


@pytest.fixture
def world() -> World:
    """Session s with the running run r."""
    return World(a_session(), a_root_start())


@pytest.mark.parametrize(("said", "status"), ENDS.items())
def test_a_running_run_is_ended(world: World, said: str, status: RunStatus) -> None:
    command = repair(a_terminal(said))
    assert world.do(command) == RepairResult(RepairOutcome.STORED, status, FIRST)
    assert world.run().status is status
    assert world.repeat(command) == RepairResult(RepairOutcome.ALREADY_STORED, status, AGAIN)
    # What a repair stored is what the command itself would have stored.
    assert world.repeat(a_terminal(said)) == AGAIN


def test_a_running_run_is_suspended(world: World) -> None:
    command = repair(a_suspension())
    assert world.do(command) == RepairResult(RepairOutcome.STORED, RunStatus.SUSPENDED, FIRST)
    assert (world.run().status, world.state.suspension("r")) == (RunStatus.SUSPENDED, RunSuspension("p", b"\x00\xff"))
    assert world.repeat(command) == RepairResult(RepairOutcome.ALREADY_STORED, RunStatus.SUSPENDED, AGAIN)
    assert world.repeat(a_suspension()) == AGAIN


@pytest.mark.parametrize("end", [a_terminal(), a_terminal("failed"), a_terminal("canceled"), a_suspension()])
def test_what_the_command_stored_is_already_stored(world: World, end: Any) -> None:
    world.do(end)
    world.do(an_end())
    status = end.status if isinstance(end, RecordRunTerminal) else RunStatus.SUSPENDED
    expected = RepairResult(RepairOutcome.ALREADY_STORED, status, AppendResult("2", False, "ended"))
    assert world.repeat(repair(end)) == expected


@pytest.mark.parametrize("first", [a_terminal(), a_terminal("failed"), a_terminal("canceled"), a_suspension()])
@pytest.mark.parametrize("second", [a_terminal(), a_terminal("failed"), a_terminal("canceled"), a_suspension()])
def test_any_other_end_is_told_with_the_status_that_is_stored(world: World, first: Any, second: Any) -> None:
    world.do(first)
    status = first.status if isinstance(first, RecordRunTerminal) else RunStatus.SUSPENDED
    other = replace(second, record=replace(second.record, event_key="another key"))
    assert world.repeat(repair(other)) == different(status)
    late = replace(second, record=replace(second.record, timestamp=AT + 1))
    assert world.repeat(repair(late)) == different(status)
    taken = replace(second, record=replace(second.record, event_key="started"))
    assert world.repeat(repair(taken)) == different(status)


def test_another_checkpoint_is_another_end(world: World) -> None:
    world.do(a_suspension())
    assert world.repeat(repair(a_suspension(b"other"))) == different(RunStatus.SUSPENDED)


def test_a_taken_key_of_a_running_run_is_a_conflict(world: World) -> None:
    world.refuse(repair(a_terminal(event_key="started")), EventConflict)
    world.refuse(repair(a_suspension(event_key="started")), EventConflict)


@pytest.mark.parametrize("before", [[], [a_terminal("failed")], [a_suspension()]])
def test_a_repair_is_checked_as_its_command_is_whatever_the_run_does(world: World, before: list[Command]) -> None:
    for command in before:
        world.do(command)
    world.refuse(repair(a_terminal(run_id="q")), RunNotFound)
    world.refuse(repair(a_suspension(run_id="q")), RunNotFound)
    world.refuse(repair(a_terminal(agent_id="b")), RunRecordOwnerMismatch)
    world.refuse(repair(a_suspension(session_id="t")), RunRecordOwnerMismatch)
    world.refuse(repair(a_terminal(payload="{}")), InvalidCommand)
    world.refuse(repair(a_suspension(b"")), InvalidCommand)
    world.refuse(repair(a_terminal("canceled", reason="not recorded")), InvalidCommand)


def test_a_cancelled_run_whose_worker_is_gone_is_repaired_with_its_reason(world: World) -> None:
    world.do(a_cancellation())
    result = world.do(repair(a_terminal("canceled", reason="enough")))
    assert (result.outcome, result.status, result.record.id) == (RepairOutcome.STORED, RunStatus.CANCELED, "3")
    assert world.repeat(repair(a_terminal(event_key="late"))) == different(RunStatus.CANCELED)
