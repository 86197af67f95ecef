"""Starting runs of all four kinds: what is stored, what is refused, and what a retry gets."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from runhold.commands.model import Command
from runhold.domain.errors import (
    ChildAgentIdRequired,
    ChildRunIdRequired,
    ChildSessionIdRequired,
    ContinuationConflict,
    EventConflict,
    InvalidCommand,
    ParentRunIdRequired,
    RunConflict,
    RunNotActive,
    RunNotFound,
    RunPurged,
    RunRecordOwnerMismatch,
    RunSessionMismatch,
    SessionNotFound,
    SessionPurged,
)
from runhold.domain.values import (
    NO_TIME,
    AppendResult,
    ChildStartResult,
    OneShotChildStartResult,
    OneShotStartResult,
    RootStartResult,
    RunStart,
    RunStatus,
    SessionStatus,
    StartOutcome,
)
from tests.builders import (
    AT,
    a_child_start,
    a_one_shot_child_start,
    a_one_shot_start,
    a_root_start,
    a_run,
    a_session,
    a_suspension,
    a_terminal,
    an_append,
    an_end,
)
from tests.domain.world import World

LABELS = {"a": "b", "é\0": "😀"}
STARTS = [a_root_start(), a_child_start(), a_one_shot_start(), a_one_shot_child_start()]
CHILD = a_run(run_id="r/child", parent_run_id="r")


@pytest.fixture
def world() -> World:
    """Session s with the running run r, and the running one-shot run o."""
    return World(a_session(), a_root_start(), a_one_shot_start())


def with_record(command: Any, name: str, **changes: Any) -> Any:
    """The command with one of its records changed; ``said`` changes members of its payload."""
    record = getattr(command, name)
    if said := changes.pop("said", None):
        changes["payload"] = json.dumps(json.loads(record.payload) | said)
    return replace(command, **{name: replace(record, **changes)})


def with_run(command: Any, **changes: Any) -> Any:
    """The command with its run changed, and nothing else of it."""
    return replace(command, run=replace(command.run, **changes))


class TestRoots:
    def test_a_run_of_an_active_session_proceeds(self) -> None:
        world = World(a_session())
        start = a_root_start(a_run(labels=LABELS))
        assert world.do(start) == RootStartResult(StartOutcome.PROCEED, AppendResult("1", True, "active"), None)
        run = world.run()
        assert (run.status, run.start_outcome, run.labels) == (RunStatus.RUNNING, StartOutcome.PROCEED, LABELS)
        assert (run.record_count, run.session_ordinal, run.cancellation_reason) == (1, 1, "")
        assert world.repeat(start) == RootStartResult(StartOutcome.PROCEED, AppendResult("1", False, "active"), None)

    def test_a_run_of_an_ended_session_is_stopped_and_says_why(self) -> None:
        world = World(a_session(), an_end())
        stopped = AppendResult("2", True, "ended")
        assert world.do(a_root_start()) == RootStartResult(StartOutcome.STOP, AppendResult("1", True, "ended"), stopped)
        run = world.run()
        assert (run.status, run.cancellation_reason) == (RunStatus.CANCELED, "session_ended")
        again = world.repeat(a_root_start())
        assert (again.outcome, again.started.inserted, again.canceled.inserted) == (StartOutcome.STOP, False, False)

    def test_a_retry_gets_the_first_outcome_whatever_happened_since(self, world: World) -> None:
        world.do(a_terminal())
        world.do(an_end())
        again = world.repeat(a_root_start())
        assert again == RootStartResult(StartOutcome.PROCEED, AppendResult("1", False, "ended"), None)

    def test_the_record_of_a_stop_that_did_not_happen_is_not_compared(self, world: World) -> None:
        assert world.repeat(with_record(a_root_start(), "canceled", event_key="other", turn_id="t"))

    def test_the_record_of_a_stop_that_happened_is(self) -> None:
        world = World(a_session(), an_end(), a_root_start())
        world.refuse(with_record(a_root_start(), "canceled", event_key="other"), RunConflict)
        world.refuse(with_record(a_root_start(), "canceled", turn_id="t"), EventConflict)

    @pytest.mark.parametrize(
        "other",
        [
            a_run(agent_id="b"),
            a_run(started_at=AT + 1),
            a_run(labels={"a": "b"}),
            a_run(session_id="t"),
        ],
    )
    def test_another_start_of_the_same_run_is_a_conflict(self, world: World, other: RunStart) -> None:
        world.do(a_session("t"))
        world.refuse(a_root_start(other), RunConflict)

    def test_the_same_start_under_another_key_or_with_another_record_is_a_conflict(self, world: World) -> None:
        world.refuse(with_record(a_root_start(), "started", event_key="s2"), RunConflict)
        refusal = world.refuse(with_record(a_root_start(), "started", turn_id="t"), EventConflict)
        assert refusal.members["differs"] == ["turn_id"]

    def test_a_session_that_is_not_there_is_not_found_and_a_purged_one_is_gone(self, world: World) -> None:
        world.refuse(a_root_start(a_run(run_id="q", session_id="none")), SessionNotFound)
        world.state.load_session(replace(world.session(), status=SessionStatus.PURGED))
        world.refuse(a_root_start(a_run(run_id="q")), SessionPurged)

    def test_a_purged_one_shot_run_leaves_its_id_to_nobody(self, world: World) -> None:
        world.state.load_run(replace(world.run("o"), status=RunStatus.PURGED))
        world.refuse(a_root_start(a_run(run_id="o")), RunPurged)
        world.refuse(a_one_shot_start(), RunPurged)
        world.refuse(a_one_shot_child_start(a_run(run_id="o", session_id="", parent_run_id="x")), RunPurged)


class TestContinuations:
    NEXT = a_run(run_id="r2", predecessor_run_id="r")

    def test_several_runs_may_continue_one_that_is_suspended(self, world: World) -> None:
        world.do(a_suspension())
        for name in ("r2", "r3"):
            assert world.do(a_root_start(replace(self.NEXT, run_id=name))).outcome is StartOutcome.PROCEED
        assert world.repeat(a_root_start(self.NEXT)).started.inserted is False

    def test_a_child_continues_a_child_of_the_same_parent(self, world: World) -> None:
        world.do(a_child_start())
        world.do(a_suspension(run_id="r/child"))
        assert world.do(a_child_start(a_run(run_id="c2", parent_run_id="r", predecessor_run_id="r/child"))).outcome
        world.refuse(a_root_start(a_run(run_id="c3", predecessor_run_id="r/child")), ContinuationConflict)

    def test_what_does_not_exist_cannot_be_continued(self, world: World) -> None:
        world.refuse(a_root_start(a_run(run_id="r2", predecessor_run_id="q")), RunNotFound)

    @pytest.mark.parametrize("end", [None, a_terminal(), a_terminal("failed"), a_terminal("canceled")])
    def test_only_a_suspended_run_can_be_continued(self, world: World, end: Command | None) -> None:
        if end is not None:
            world.do(end)
        world.refuse(a_root_start(self.NEXT), ContinuationConflict)

    def test_agent_and_session_stay_the_same(self, world: World) -> None:
        world.do(a_suspension())
        world.do(a_session("t"))
        world.refuse(a_root_start(replace(self.NEXT, agent_id="b")), ContinuationConflict)
        world.refuse(a_root_start(replace(self.NEXT, session_id="t")), ContinuationConflict)

    def test_the_predecessor_is_looked_at_before_the_run_itself(self, world: World) -> None:
        world.refuse(a_root_start(a_run(predecessor_run_id="q")), RunNotFound)

    def test_a_run_does_not_continue_itself(self, world: World) -> None:
        world.refuse(a_root_start(a_run(run_id="q", predecessor_run_id="q")), InvalidCommand)


class TestChildren:
    def test_the_link_is_stored_on_the_parent_and_the_child_proceeds(self, world: World) -> None:
        assert world.do(a_child_start()) == ChildStartResult(
            StartOutcome.PROCEED, AppendResult("2", True, "active"), AppendResult("1", True, "active"), None
        )
        assert (world.run("r/child").parent_run_id, world.run("r/child").link_position) == ("r", 2)
        link, started = world.record("r", "link/r/child"), world.record("r/child", "started")
        assert link is not None
        assert started is not None
        assert link.session_position < started.session_position
        assert world.repeat(a_child_start()).parent_record == AppendResult("2", False, "active")

    def test_a_retry_gets_its_answer_after_the_parent_stopped_and_the_session_ended(self, world: World) -> None:
        world.do(a_child_start())
        world.do(a_terminal())
        world.do(an_end())
        assert world.repeat(a_child_start()).outcome is StartOutcome.PROCEED

    def test_in_an_ended_session_the_child_of_a_running_parent_is_stopped(self, world: World) -> None:
        world.do(an_end())
        result = world.do(a_child_start())
        assert (result.outcome, result.canceled) == (StartOutcome.STOP, AppendResult("2", True, "ended"))

    @pytest.mark.parametrize("end", [a_terminal(), a_terminal("failed"), a_suspension()])
    def test_a_parent_that_does_not_run_has_no_new_children_even_in_an_ended_session(
        self, world: World, end: Command
    ) -> None:
        world.do(end)
        world.refuse(a_child_start(), RunNotActive)
        world.do(an_end())
        world.refuse(a_child_start(), RunNotActive)

    def test_a_parent_that_is_not_there_is_not_found(self, world: World) -> None:
        world.refuse(a_child_start(a_run(run_id="c", parent_run_id="q")), RunNotFound)

    def test_the_link_is_the_parents(self, world: World) -> None:
        world.refuse(with_record(a_child_start(), "parent_linked", agent_id="b"), RunRecordOwnerMismatch)

    def test_a_key_that_is_taken_on_the_parent_is_a_conflict(self, world: World) -> None:
        world.do(an_append())
        world.refuse(with_record(a_child_start(), "parent_linked", event_key="k"), EventConflict)

    def test_the_same_child_with_another_link_is_a_conflict(self, world: World) -> None:
        world.do(a_child_start())
        world.refuse(with_record(a_child_start(), "parent_linked", event_key="l2"), RunConflict)
        world.refuse(with_record(a_child_start(), "parent_linked", timestamp=AT + 1), EventConflict)
        world.refuse(with_record(a_child_start(), "parent_linked", agent_id="b"), RunRecordOwnerMismatch)
        world.refuse(a_root_start(a_run(run_id="r/child")), RunConflict)

    def test_what_is_missing_is_told_in_its_order(self, world: World) -> None:
        missing = {
            "run_id": ChildRunIdRequired,
            "agent_id": ChildAgentIdRequired,
            "session_id": ChildSessionIdRequired,
            "parent_run_id": ParentRunIdRequired,
        }
        names = list(missing)
        for place, (name, kind) in enumerate(missing.items()):
            world.refuse(with_run(a_child_start(), **dict.fromkeys(names[place:], "")), kind)
            world.refuse(with_run(a_child_start(), **{name: ""}), kind)

    @pytest.mark.parametrize(
        "changes",
        [
            {"run_id": "q"},
            {"session_id": "t"},
            {"type": "run_started"},
            {"event_key": ""},
            {"said": {"ChildRunID": "q"}},
            {"said": {"ChildAgentID": "q"}},
            {"said": {"ToolName": ""}},
            {"said": {"ToolCallID": None}},
            {"said": {"Other": 1}},
        ],
    )
    def test_a_link_that_does_not_fit_is_refused(self, world: World, changes: dict[str, Any]) -> None:
        world.refuse(with_record(a_child_start(), "parent_linked", **changes), InvalidCommand)

    def test_time_and_turn_of_a_link_are_free(self, world: World) -> None:
        assert world.do(with_record(a_child_start(), "parent_linked", timestamp=AT + 1, turn_id="t")).outcome


class TestOneShots:
    def test_a_run_without_a_session_is_stored(self) -> None:
        world = World()
        assert world.do(a_one_shot_start()) == OneShotStartResult(AppendResult("1", True, ""))
        assert world.repeat(a_one_shot_start()) == OneShotStartResult(AppendResult("1", False, ""))

    def test_a_child_without_a_session_is_stored(self, world: World) -> None:
        first = OneShotChildStartResult(AppendResult("2", True, ""), AppendResult("1", True, ""))
        assert world.do(a_one_shot_child_start()) == first
        world.do(a_terminal(run_id="o", session_id=""))
        again = OneShotChildStartResult(AppendResult("2", False, ""), AppendResult("1", False, ""))
        assert world.repeat(a_one_shot_child_start()) == again

    def test_a_child_needs_a_running_one_shot_parent(self, world: World) -> None:
        world.refuse(a_one_shot_child_start(a_run(run_id="c", session_id="", parent_run_id="q")), RunNotFound)
        world.refuse(a_one_shot_child_start(a_run(run_id="c", session_id="", parent_run_id="r")), RunSessionMismatch)
        world.do(a_terminal(run_id="o", session_id=""))
        # Whether it runs is looked at before whose the link is.
        world.refuse(with_record(a_one_shot_child_start(), "parent_linked", agent_id="b"), RunNotActive)

    def test_the_link_is_the_parents_and_its_key_is_free(self, world: World) -> None:
        world.do(an_append(run_id="o", session_id=""))
        world.refuse(with_record(a_one_shot_child_start(), "parent_linked", agent_id="b"), RunRecordOwnerMismatch)
        world.refuse(with_record(a_one_shot_child_start(), "parent_linked", event_key="k"), EventConflict)

    def test_link_and_start_have_keys_of_their_own(self, world: World) -> None:
        world.refuse(with_record(a_one_shot_child_start(), "parent_linked", event_key="started"), InvalidCommand)

    def test_the_names_of_sessions_parents_and_predecessors_are_for_others(self, world: World) -> None:
        world.refuse(with_run(a_one_shot_start(), session_id="s"), InvalidCommand)
        world.refuse(with_run(a_one_shot_start(), parent_run_id="r"), InvalidCommand)
        world.refuse(with_run(a_one_shot_start(), predecessor_run_id="r"), InvalidCommand)
        world.refuse(with_run(a_one_shot_child_start(), session_id="s"), InvalidCommand)
        world.refuse(with_run(a_one_shot_child_start(), predecessor_run_id="r"), InvalidCommand)
        world.refuse(with_run(a_one_shot_child_start(), parent_run_id=""), ParentRunIdRequired)
        world.refuse(with_run(a_root_start(), parent_run_id="r"), InvalidCommand)
        world.refuse(with_run(a_root_start(), session_id=""), InvalidCommand)


@pytest.mark.parametrize("start", STARTS, ids=lambda start: type(start).__name__)
class TestEveryStart:
    @pytest.mark.parametrize(
        ("changes", "kind"),
        [
            ({"run_id": "q"}, RunRecordOwnerMismatch),
            ({"agent_id": "q"}, RunRecordOwnerMismatch),
            ({"session_id": "q"}, RunRecordOwnerMismatch),
            ({"timestamp": AT + 1}, InvalidCommand),
            ({"type": "run_completed"}, InvalidCommand),
            # Type and payload are judged before the owner.
            ({"type": "usage", "run_id": "q"}, InvalidCommand),
            ({"payload": "null", "run_id": "q"}, InvalidCommand),
            ({"said": {"ParentRunID": "q"}}, InvalidCommand),
            ({"said": {"PredecessorRunID": "q"}}, InvalidCommand),
            ({"said": {"Labels": {"a": "c"}}}, InvalidCommand),
            ({"event_key": ""}, InvalidCommand),
        ],
    )
    def test_the_record_of_the_start_says_what_the_start_says(
        self, start: Any, changes: dict[str, Any], kind: Any
    ) -> None:
        World(a_session()).refuse(with_record(start, "started", **changes), kind)

    @pytest.mark.parametrize("name", ["run_id", "agent_id"])
    def test_run_and_agent_are_named(self, start: Any, name: str) -> None:
        with_child_codes = {"run_id": ChildRunIdRequired, "agent_id": ChildAgentIdRequired}
        is_child = type(start).__name__ == "StartChildRun"
        World().refuse(with_run(start, **{name: ""}), with_child_codes[name] if is_child else InvalidCommand)

    def test_the_time_of_the_start_is_told(self, start: Any) -> None:
        World().refuse(with_run(start, started_at=NO_TIME), InvalidCommand)


@pytest.mark.parametrize("start", [a_root_start(), a_child_start()], ids=lambda start: type(start).__name__)
@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"run_id": "q"}, RunRecordOwnerMismatch),
        ({"agent_id": "q"}, RunRecordOwnerMismatch),
        ({"session_id": "q"}, RunRecordOwnerMismatch),
        ({"timestamp": AT + 1}, InvalidCommand),
        ({"type": "run_started"}, InvalidCommand),
        ({"event_key": "started"}, InvalidCommand),
        ({"said": {"phase": "completed"}}, InvalidCommand),
        ({"said": {"cancellation": {"reason": "other"}}}, InvalidCommand),
        ({"said": {"labels": {"a": "c"}}}, InvalidCommand),
        ({"payload": '{"status":"success","phase":"completed"}'}, InvalidCommand),
    ],
)
def test_the_record_of_a_stop_is_checked_though_the_session_is_active(
    world: World, start: Any, changes: dict[str, Any], kind: Any
) -> None:
    world.refuse(with_record(start, "canceled", **changes), kind)
