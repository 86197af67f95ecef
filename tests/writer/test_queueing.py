"""The queue on its own: turns by what was served, room for newcomers, and order for what locks the same rows."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runhold.commands.outcomes import Job
from runhold.domain.errors import Overloaded, RateLimited
from runhold.queueing import FairQueue, Waiting
from tests import builders as a

MANY = 100_000_000


def a_job(*keys: str, commands: int = 1, size: int = 0) -> Job:
    return Job("default", [a.an_append()] * commands, [frozenset(keys or {"k"})] * commands, size)


def push(queue: FairQueue, share: str, job: Job) -> Waiting:
    queue.accept(share, job)
    waiting = Waiting(job, share, False, asyncio.get_running_loop().create_future())
    queue.push(waiting)
    return waiting


def inside(work: Callable[[], Any]) -> None:
    async def run() -> None:
        work()

    asyncio.run(run())


def test_one_share_is_a_plain_queue() -> None:
    def work() -> None:
        queue = FairQueue(100, MANY)
        pushed = [push(queue, "", a_job(f"{number}")) for number in range(10)]
        assert [queue.pop() for _ in pushed] == pushed
        assert not queue

    inside(work)


def test_a_modest_share_waits_for_one_job_of_a_flood_and_not_for_all() -> None:
    def work() -> None:
        queue = FairQueue(1_000, MANY)
        flood = [push(queue, "flood", a_job(f"f{number}")) for number in range(100)]
        modest = push(queue, "modest", a_job("m"))
        taken = [queue.pop(), queue.pop()]
        assert modest in taken
        assert [queue.pop() for _ in range(99)] == [job for job in flood if job not in taken]

    inside(work)


def test_turns_are_weighed_by_commands_and_bytes() -> None:
    def work() -> None:
        queue = FairQueue(10_000, MANY)
        for number in range(20):
            push(queue, "large", a_job(f"l{number}", commands=10))
            push(queue, "heavy", a_job(f"h{number}", size=40_960))
            push(queue, "small", a_job(f"s{number}"))
        first = [queue.pop().share for _ in range(24)]
        assert first.count("small") == 20
        assert first.count("large") == first.count("heavy") == 2

    inside(work)


def test_who_was_away_has_saved_up_nothing() -> None:
    def work() -> None:
        queue = FairQueue(1_000, MANY)
        queue.finished(_popped(queue, "late", "x"))
        for number in range(50):
            push(queue, "busy", a_job(f"b{number}"))
        for _ in range(30):
            queue.finished(queue.pop())
        for number in range(20):
            push(queue, "late", a_job(f"l{number}"))
        assert abs([queue.pop().share for _ in range(20)].count("late") - 10) <= 1

    inside(work)


def _popped(queue: FairQueue, share: str, key: str) -> Waiting:
    push(queue, share, a_job(key))
    return queue.pop()


def test_a_flood_leaves_room_for_newcomers_and_is_told_to_slow_down() -> None:
    def work() -> None:
        queue = FairQueue(100, MANY)
        for number in range(50):
            push(queue, "flood", a_job(f"{number}"))
        with pytest.raises(RateLimited) as refused:
            push(queue, "flood", a_job("one more"))
        assert refused.value.retry_after >= 1
        for number in range(40):
            push(queue, f"new-{number}", a_job(f"n{number}"))
        queue.finished(queue.pop())

    inside(work)


def test_bytes_are_bounded_like_commands() -> None:
    def work() -> None:
        queue = FairQueue(MANY, 1_000)
        push(queue, "a", a_job("1", size=400))
        with pytest.raises(RateLimited):
            push(queue, "a", a_job("2", size=200))
        push(queue, "b", a_job("3", size=600))
        with pytest.raises(Overloaded):
            push(queue, "c", a_job("4", size=1))

    inside(work)


def test_without_identity_only_the_whole_queue_is_bounded() -> None:
    def work() -> None:
        queue = FairQueue(10, MANY)
        for number in range(10):
            push(queue, "", a_job(f"{number}"))
        with pytest.raises(Overloaded):
            push(queue, "", a_job("x"))
        assert queue.commands == 10

    inside(work)


def test_one_job_that_is_larger_than_everything_is_taken_when_nothing_else_is_there() -> None:
    def work() -> None:
        queue = FairQueue(10, 10)
        push(queue, "a", a_job("x", commands=20, size=50))
        queue.finished(queue.pop())
        assert (queue.commands, queue.size) == (0, 0)

    inside(work)


def test_what_locks_the_same_rows_never_overtakes_whoever_sent_it() -> None:
    def work() -> None:
        queue = FairQueue(1_000, MANY)
        first = push(queue, "a", a_job("s"))
        others = [push(queue, "a", a_job(f"o{number}")) for number in range(20)]
        second = push(queue, "b", a_job("s"))
        order = [queue.pop() for _ in range(22)]
        assert order.index(first) < order.index(second)
        # Put back, as a job is that met a held row; what comes meanwhile stays behind it.
        third = push(queue, "c", a_job("s"))
        queue.push_front([first, second])
        assert [queue.pop(), queue.pop(), queue.pop()] == [first, second, third]
        for waiting in (first, second, third, *others):
            queue.finished(waiting)
        assert (queue.commands, queue.size, bool(queue)) == (0, 0, False)
        assert not vars(queue)["_shares"]
        assert not vars(queue)["_homes"]

    inside(work)


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xyz"), st.integers(1, 4)), max_size=40),
    st.integers(0, 10_000),
)
def test_for_every_row_the_order_is_that_of_arrival(jobs: list[tuple[str, str, int]], seed: int) -> None:
    choose = random.Random(seed)

    def work() -> None:
        queue = FairQueue(MANY, MANY)
        waiting_for: dict[str, list[Waiting]] = {}
        rest = list(jobs)
        while rest or queue:
            if rest and (not queue or choose.random() < 0.6):
                share, key, commands = rest.pop(0)
                waiting_for.setdefault(key, []).append(push(queue, share, a_job(key, commands=commands)))
                continue
            popped = queue.pop()
            (key,) = popped.keys
            if choose.random() < 0.2:
                queue.push_front([popped])
                continue
            assert popped is waiting_for[key].pop(0)
            queue.finished(popped)
        assert queue.commands == 0
        assert not vars(queue)["_shares"]
        assert not vars(queue)["_homes"]

    inside(work)
