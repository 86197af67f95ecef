"""The service against the independent model: thousands of commands, valid and not, one by one and many in a request.

Short by default and the same at every run. ``TEST_PROFILE=full`` plays other examples each time, and for minutes.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from tests.model.choose import Drawn, Seeded
from tests.model.generator import EXACT, Generator, Pools, pools_for
from tests.model.model import Call, Model
from tests.model.pair import Pair, all_lists_agree
from tests.model.profile import FULL
from tests.model.wire import Wire
from tests.support.server import Server

EXAMPLES, STEPS = (1500, 60) if FULL else (60, 30)
WALKS, WALK_STEPS = (40, 6000) if FULL else (3, 2000)
CHAPTER_STEPS = 150
"""So many steps a walk stays with one set of ids; by then most of its runs have ended."""


class ServiceAndModel(RuleBasedStateMachine):
    """One example: ids of its own, a model of its own, and a connection to the shared service."""

    base_url: str

    def __init__(self) -> None:
        super().__init__()
        self.pair = Pair(Wire(self.base_url))
        self.generator: Generator | None = None
        self.agrees = True

    @initialize(data=st.data())
    def ids(self, data: st.DataObject) -> None:
        choose = Drawn(data)
        pools = pools_for(choose, f"{uuid.uuid4().hex[:8]}-")
        self.generator = Generator(choose, pools, self.pair.model, cursors=self.pair.cursors)

    def _step(self, data: st.DataObject, make: Callable[[Generator], Call], plain: bool = False) -> None:
        assert self.generator
        self.generator.choose = Drawn(data)
        call = make(self.generator)
        self.agrees = False
        self.pair.step(call, plain)
        self.agrees = True

    @rule(data=st.data(), plain=st.booleans())
    def command(self, data: st.DataObject, plain: bool) -> None:
        self._step(data, Generator.command, plain)

    @rule(data=st.data(), plain=st.booleans())
    def another_command(self, data: st.DataObject, plain: bool) -> None:
        self._step(data, Generator.command, plain)

    @rule(data=st.data())
    def many_commands_in_one_request(self, data: st.DataObject) -> None:
        self._step(data, Generator.batch)

    @rule(data=st.data(), plain=st.booleans())
    def read(self, data: st.DataObject, plain: bool) -> None:
        self._step(data, Generator.read, plain)

    def teardown(self) -> None:
        with self.pair.wire:
            if self.generator and self.agrees:
                pools = self.generator.pools
                all_lists_agree(self.pair, list(pools.sessions), list(pools.runs), alone=False)


def test_service_and_model_give_the_same_answers_to_any_commands(server: Server) -> None:
    machine = type("Machine", (ServiceAndModel,), {"base_url": server.url})
    phases = [Phase.explicit, Phase.generate, Phase.shrink]
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=STEPS,
            derandomize=not FULL,
            database=None,
            deadline=None,
            phases=phases,
            suppress_health_check=list(HealthCheck),
            print_blob=True,
        ),
    )


@pytest.mark.timeout(3600 if FULL else 300)
@pytest.mark.parametrize("seed", range(WALKS))
def test_a_long_walk_with_ids_that_are_route_words_dots_and_slashes(own_server: Server, seed: int) -> None:
    """One model for a whole database, so that the lists of all sessions and all runs are compared, too."""
    start = uuid.uuid4().int if FULL else seed
    walk(own_server.url, start, WALK_STEPS)


def walk(base_url: str, seed: int, steps: int) -> None:
    """Random steps against an empty database. The seed, which a failure names, gives the same walk again."""
    choose = Seeded(seed)
    with Wire(base_url) as wire:
        pair = Pair(wire, Model())
        pools = Pools(EXACT[:4], EXACT, ("agent", "агент"), is_alone=True)
        sessions, runs = list(pools.sessions), list(pools.runs)
        generator = Generator(choose, pools, pair.model, cursors=pair.cursors)
        try:
            for number in range(steps):
                if number and number % CHAPTER_STEPS == 0:
                    found = pools_for(choose, f"chapter {number}-")
                    generator.pools = Pools(found.sessions, found.runs, found.agents, is_alone=True)
                    generator.sent.clear()
                    sessions += found.sessions
                    runs += found.runs
                way = choose.pick([generator.command, generator.command, generator.batch, generator.read])
                pair.step(way(), plain=choose.chance(50))
            all_lists_agree(pair, sessions, runs, alone=True)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}, step {pair.steps}: {error}") from error
