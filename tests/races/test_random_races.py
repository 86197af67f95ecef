"""Races that nobody thought of: callers with random commands on a handful of rows, held against the model."""

from __future__ import annotations

import random
import uuid

from tests.model import commands as make
from tests.model.choose import Seeded
from tests.model.generator import Generator, Pools
from tests.model.model import Model
from tests.model.profile import FULL
from tests.races.histories import Callers, History
from tests.races.serial_order import assert_serial
from tests.races.test_races import Race
from tests.support.server import Server

CALLERS, CALLS, BEFORE = 5, 3, 14
ROUNDS = 1500 if FULL else 60


def random_round(callers: Callers, seed: int) -> History:
    """Some commands one by one, then some of each caller at the same time, then everything is read."""
    choose, u = Seeded(seed), f"{uuid.uuid4().hex[:10]}-"
    pools = Pools([u + "s", u + "t"], [u + "1", u + "2", u + "3", u + "4"], [u + "a", u + "b"], is_alone=False)
    generator, history = Generator(choose, pools, Model()), History()
    before = [make.create(session) for session in pools.sessions]
    for number in range(BEFORE):
        call = before[number] if number < len(before) else generator.command()
        callers.alone(history, [call])
        generator.model.call(call.operation, call.path, call.query, call.body)
    makers = [generator.command] * 5 + [generator.batch] * 2 + [generator.read]
    callers.together(history, [[choose.pick(makers)() for _ in range(CALLS)] for _ in range(CALLERS)])
    callers.alone(history, Race((), (), pools.runs, pools.sessions).reads())
    return history


def test_random_commands_at_the_same_time_have_the_outcome_of_some_serial_order(servers: list[Server]) -> None:
    first = random.randrange(10**9) if FULL else 0
    with Callers(servers, CALLERS) as callers:
        for seed in range(first, first + ROUNDS):
            history = random_round(callers, seed)
            try:
                assert_serial(history)
            except AssertionError as error:
                raise AssertionError(f"seed {seed}: {error}") from error
