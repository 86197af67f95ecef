"""Sessions and purges: what the host may do, what is refused, and what a repetition gets."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from runhold.commands.model import CreateSession, EndSession, PurgeOneShotRun, PurgeSession
from runhold.domain.errors import (
    InvalidCommand,
    RunNotFound,
    RunSessionMismatch,
    RunTreeActive,
    SessionActive,
    SessionEnded,
    SessionHasActiveRuns,
    SessionNotFound,
    SessionPurged,
)
from runhold.domain.values import Purge, RunStatus, Session, SessionStatus
from tests.builders import (
    AT,
    a_child_start,
    a_one_shot_child_start,
    a_one_shot_start,
    a_root_start,
    a_session,
    a_suspension,
    a_terminal,
    an_append,
    an_end,
)
from tests.domain.world import World

ACTIVE = Session("s", SessionStatus.ACTIVE, AT * 1000, None)


class TestCreate:
    def test_a_new_session_is_active_from_the_time_that_is_given(self) -> None:
        world = World()
        assert world.do(a_session()) == ACTIVE
        assert world.session() == ACTIVE

    def test_without_a_time_it_is_the_services_clock(self) -> None:
        world = World()
        world.state.now_microseconds = 1_234_567
        assert world.do(CreateSession("s", None)).created_at == 1_234_567

    @pytest.mark.parametrize("created_at", [AT * 1000, 5, None])
    def test_an_active_session_is_found_unchanged(self, created_at: int | None) -> None:
        assert World(a_session()).repeat(CreateSession("s", created_at)) == ACTIVE

    def test_an_id_that_was_used_up_is_refused(self) -> None:
        world = World(a_session(), an_end())
        world.refuse(a_session(), SessionEnded)
        world.do(PurgeSession("s"))
        world.refuse(a_session(), SessionPurged)

    def test_a_session_has_an_id(self) -> None:
        World().refuse(CreateSession("", None), InvalidCommand)


class TestEnd:
    def test_the_first_end_stays(self) -> None:
        world = World(a_session())
        ended = world.do(EndSession("s", AT * 1000 + 7))
        assert ended == replace(ACTIVE, status=SessionStatus.ENDED, ended_at=AT * 1000 + 7)
        assert world.repeat(EndSession("s", 5)) == ended
        assert world.repeat(EndSession("s", None)) == ended

    def test_it_may_precede_the_beginning(self) -> None:
        assert World(a_session()).do(EndSession("s", -1)).ended_at == -1

    def test_without_a_time_it_is_the_services_clock(self) -> None:
        world = World(a_session())
        world.state.now_microseconds = 1_234_567
        assert world.do(EndSession("s", None)).ended_at == 1_234_567

    def test_running_runs_go_on(self) -> None:
        world = World(a_session(), a_root_start(), an_end())
        assert world.run().status is RunStatus.RUNNING
        assert world.do(an_append()).session_status == "ended"
        assert world.do(a_terminal()).inserted

    def test_what_is_not_there_cannot_end(self) -> None:
        world = World(a_session(), an_end(), PurgeSession("s"))
        world.refuse(an_end("t"), SessionNotFound)
        world.refuse(an_end(), SessionPurged)


class TestPurge:
    def test_an_ended_session_is_sealed_and_what_it_held_is_forgotten(self) -> None:
        world = World(a_session(), a_root_start(), a_terminal(), an_end())
        assert world.do(PurgeSession("s")) == Purge()
        assert world.state.purged_sessions == ["s"]
        sealed = world.session()
        assert (sealed.status, sealed.record_count, sealed.run_count) == (SessionStatus.PURGED, 0, 0)
        assert world.repeat(PurgeSession("s")) == Purge()

    def test_a_session_that_is_active_or_not_there_is_refused(self) -> None:
        world = World(a_session())
        world.refuse(PurgeSession("s"), SessionActive)
        world.refuse(PurgeSession("t"), SessionNotFound)
        # That it is active is told before what runs in it.
        world.do(a_root_start())
        world.state.load_running("s")
        world.refuse(PurgeSession("s"), SessionActive)

    def test_a_session_with_a_running_run_is_refused(self) -> None:
        world = World(a_session(), a_root_start(), an_end())
        world.state.load_running("s")
        world.refuse(PurgeSession("s"), SessionHasActiveRuns)


class TestPurgeOfOneShots:
    def with_tree(self, *ends: str) -> World:
        """The one-shot run o with a child; those that are named have ended. The store finds the tree."""
        world = World(a_one_shot_start(), a_one_shot_child_start())
        for run_id in ends:
            world.do(a_terminal(run_id=run_id, session_id=""))
        world.state.load_tree("o", [world.run("o"), world.run("o/child")])
        return world

    def test_a_tree_that_has_stopped_is_sealed(self) -> None:
        world = self.with_tree("o", "o/child")
        assert world.do(PurgeOneShotRun("o")) == Purge()
        for run_id in ("o", "o/child"):
            run = world.run(run_id)
            assert run.status is RunStatus.PURGED
            assert (run.agent_id, run.parent_run_id, run.labels, run.record_count, run.started_at) == ("", "", {}, 0, 0)
        assert world.repeat(PurgeOneShotRun("o")) == Purge()
        world.refuse(an_append(run_id="o", session_id=""), RunNotFound)

    @pytest.mark.parametrize("ends", [(), ("o",), ("o/child",)])
    def test_a_tree_in_which_a_run_is_running_is_refused(self, ends: tuple[str, ...]) -> None:
        self.with_tree(*ends).refuse(PurgeOneShotRun("o"), RunTreeActive)

    def test_a_suspended_run_has_stopped(self) -> None:
        world = World(a_one_shot_start(), a_suspension(run_id="o", session_id=""))
        world.state.load_tree("o", [world.run("o")])
        assert world.do(PurgeOneShotRun("o")) == Purge()

    def test_only_the_top_of_a_tree_can_be_named(self) -> None:
        world = self.with_tree("o", "o/child")
        world.refuse(PurgeOneShotRun("o/child"), InvalidCommand)

    def test_a_run_of_a_session_is_purged_with_it(self) -> None:
        world = World(a_session(), a_root_start(), a_child_start(), a_terminal())
        world.refuse(PurgeOneShotRun("r"), RunSessionMismatch)
        world.refuse(PurgeOneShotRun("r/child"), RunSessionMismatch)

    def test_a_run_that_is_not_there_is_not_found(self) -> None:
        World().refuse(PurgeOneShotRun("o"), RunNotFound)
