"""The service against the independent model: thousands of commands, valid and not, one by one and many in a request.

Short by default and the same at every run. ``TEST_PROFILE=full`` plays other examples each time, and for minutes.
"""

from __future__ import annotations

import uuid

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.model.choose import Seeded
from tests.model.generator import EXACT, Generator, Pools, pools_for
from tests.model.machine import ServiceAndModel
from tests.model.model import Model
from tests.model.pair import Pair, all_lists_agree
from tests.model.profile import FULL
from tests.model.wire import Wire
from tests.support.server import Server

EXAMPLES, STEPS = (1500, 60) if FULL else (60, 30)
WALKS, WALK_STEPS = (40, 6000) if FULL else (3, 2000)
CHAPTER_STEPS = 150
"""So many steps a walk stays with one set of ids; by then most of its runs have ended."""


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
