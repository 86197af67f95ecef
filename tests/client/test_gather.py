"""Commands that tasks send at the same time travel together, in order, and each gets its own answer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runhold_client import (
    ContractError,
    Forbidden,
    GatherLimits,
    InternalError,
    PayloadTooLarge,
    RetryPolicy,
    RunNotActive,
    StoreError,
    Unavailable,
    UnexpectedAnswer,
)
from runhold_client.gather import Gatherer
from runhold_client.refusals import unanswered

QUICK = RetryPolicy(attempts=5, total_seconds=5, first_wait_seconds=0.002, longest_wait_seconds=0.01)
Reply = Callable[[list[bytes]], Awaitable[list[Any]]]


def ok(item: bytes) -> dict[str, Any]:
    return {"status": 200, "body": item.decode()}


def refused(status: int, code: str) -> dict[str, Any]:
    return {"status": status, "problem": {"code": code, "status": status, "detail": code}}


UNTRIED = refused(503, "unavailable")


class Line:
    """The far end of the gatherer: keeps what was asked, answers as the test says."""

    def __init__(self, reply: Reply | None = None) -> None:
        self.requests: list[list[bytes]] = []
        self.under_way = 0
        self.most_under_way = 0
        self._reply = reply

    async def post(self, items: list[bytes]) -> Any:
        self.requests.append(items)
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            # One turn of the line: what is sent meanwhile waits for the next request.
            await asyncio.sleep(0)
            results = [ok(item) for item in items] if self._reply is None else await self._reply(items)
        finally:
            self.under_way -= 1
        return {"results": results}

    def gatherer(self, policy: RetryPolicy = QUICK, **limits: int) -> Gatherer:
        return Gatherer(self.post, policy, GatherLimits(**limits))


def run(test: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(test, 20))


def items(*texts: str) -> list[bytes]:
    return [text.encode() for text in texts]


def test_commands_sent_at_the_same_time_travel_in_one_request() -> None:
    async def test() -> None:
        line = Line()
        gatherer = line.gatherer()
        results = await asyncio.gather(*(gatherer.send(b"%d" % n, (f"r{n}",)) for n in range(100)))
        assert results == [str(n) for n in range(100)]
        assert len(line.requests) == 1

    run(test())


def test_what_waits_while_a_request_is_under_way_becomes_the_next_one() -> None:
    async def test() -> None:
        open_ = asyncio.Event()

        async def reply(batch: list[bytes]) -> list[Any]:
            await open_.wait()
            return [ok(item) for item in batch]

        line = Line(reply)
        gatherer = line.gatherer()
        first = asyncio.create_task(gatherer.send(b"a", ("ra",)))
        await asyncio.sleep(0.01)
        later = [asyncio.create_task(gatherer.send(item, (item.decode(),))) for item in items("b", "c", "d")]
        await asyncio.sleep(0.01)
        open_.set()
        await asyncio.gather(first, *later)
        assert line.requests == [items("a"), items("b", "c", "d")]

    run(test())


def test_a_lone_command_is_sent_without_waiting_for_others() -> None:
    async def test() -> None:
        line = Line()
        gatherer = line.gatherer()
        began = time.monotonic()
        for n in range(50):
            assert await gatherer.send(b"%d" % n, ("r",)) == str(n)
        assert time.monotonic() - began < 1
        assert len(line.requests) == 50

    run(test())


def test_a_request_is_bounded_by_count_and_by_bytes() -> None:
    async def test() -> None:
        line = Line()
        gatherer = line.gatherer(commands=10, body_bytes=1000)
        await asyncio.gather(*(gatherer.send(b"x" * 10, (str(n),)) for n in range(25)))
        assert [len(request) for request in line.requests] == [10, 10, 5]
        line.requests.clear()
        sizes = [300, 300, 300, 300, 5000, 10]
        await asyncio.gather(*(gatherer.send(b"x" * size, (str(n),)) for n, size in enumerate(sizes)))
        assert [[len(item) for item in request] for request in line.requests] == [[300, 300, 300], [300], [5000], [10]]

    run(test())


def test_only_so_many_requests_are_under_way_at_once() -> None:
    async def test() -> None:
        for most in (1, 2, 3):
            line = Line()
            gatherer = line.gatherer(commands=4, requests=most)
            await asyncio.gather(*(gatherer.send(b"x", (str(n),)) for n in range(40)))
            assert line.most_under_way == most

    run(test())


def test_a_refused_command_does_not_fail_its_neighbours() -> None:
    async def test() -> None:
        async def reply(batch: list[bytes]) -> list[Any]:
            return [refused(409, "run_not_active") if item == b"bad" else ok(item) for item in batch]

        gatherer = Line(reply).gatherer()
        answers = await asyncio.gather(
            *(gatherer.send(item, ("r",)) for item in items("a", "bad", "b")), return_exceptions=True
        )
        assert answers[0] == "a"
        assert answers[2] == "b"
        assert isinstance(answers[1], RunNotActive)

    run(test())


def test_a_temporary_item_and_all_after_it_are_sent_again_in_order_before_anything_newer() -> None:
    async def test() -> None:
        stored: list[bytes] = []
        calls = 0

        async def reply(batch: list[bytes]) -> list[Any]:
            nonlocal calls
            calls += 1
            if calls == 1:
                newer.append(asyncio.create_task(gatherer.send(b"newer", ("r",))))
                stored.extend(batch[:2])
                return [ok(batch[0]), ok(batch[1]), refused(503, "unavailable"), UNTRIED, UNTRIED]
            stored.extend(batch)
            return [ok(item) for item in batch]

        newer: list[asyncio.Task[Any]] = []
        line = Line(reply)
        gatherer = line.gatherer()
        answers = await asyncio.gather(*(gatherer.send(item, ("r",)) for item in items("1", "2", "3", "4", "5")))
        assert answers == ["1", "2", "3", "4", "5"]
        assert await newer[0] == "newer"
        assert stored == items("1", "2", "3", "4", "5", "newer")

    run(test())


def test_after_a_lost_answer_the_same_items_are_sent_again_before_anything_newer() -> None:
    async def test() -> None:
        async def reply(batch: list[bytes]) -> list[Any]:
            if len(line.requests) == 1:
                newer.append(asyncio.create_task(gatherer.send(b"newer", ("r",))))
                await asyncio.sleep(0)
                raise unanswered(httpx.ReadError("connection reset"))
            return [ok(item) for item in batch]

        newer: list[asyncio.Task[Any]] = []
        line = Line(reply)
        gatherer = line.gatherer()
        await asyncio.gather(*(gatherer.send(item, ("r",)) for item in items("1", "2", "3")))
        await newer[0]
        sent = [item for request in line.requests[1:] for item in request]
        assert sent == items("1", "2", "3", "newer")

    run(test())


def test_a_command_of_a_run_never_overtakes_an_earlier_one_in_another_request() -> None:
    async def test() -> None:
        async def reply(batch: list[bytes]) -> list[Any]:
            if b"a1" in batch:
                await asyncio.sleep(0.02)
            done.extend(batch)
            return [ok(item) for item in batch]

        done: list[bytes] = []
        line = Line(reply)
        gatherer = line.gatherer(requests=2, commands=1)
        a1 = asyncio.create_task(gatherer.send(b"a1", ("a",)))
        child = asyncio.create_task(gatherer.send(b"child of a", ("c", "a")))
        c2 = asyncio.create_task(gatherer.send(b"c2", ("c",)))
        b1 = asyncio.create_task(gatherer.send(b"b1", ("b",)))
        await asyncio.gather(a1, child, c2, b1)
        assert done == items("b1", "a1", "child of a", "c2")

    run(test())


def test_a_command_that_always_fails_delays_only_its_own_run() -> None:
    async def test() -> None:
        async def reply(batch: list[bytes]) -> list[Any]:
            results: list[Any] = []
            for item in batch:
                if (results and results[-1]["status"] == 503) or item == b"poison":
                    results.append(refused(500, "internal") if item == b"poison" else UNTRIED)
                else:
                    results.append(ok(item))
            for place, result in enumerate(results):
                if result["status"] == 500:
                    results[place + 1 :] = [UNTRIED] * (len(batch) - place - 1)
            return results

        line = Line(reply)
        gatherer = line.gatherer(RetryPolicy(attempts=4, first_wait_seconds=0.05, longest_wait_seconds=0.2))
        poison = asyncio.create_task(gatherer.send(b"poison", ("p",)))
        behind = asyncio.create_task(gatherer.send(b"behind", ("p",)))
        others = [asyncio.create_task(gatherer.send(b"%d" % n, (str(n),))) for n in range(50)]
        await asyncio.gather(*others)
        assert not poison.done()
        assert not behind.done()
        with pytest.raises(InternalError):
            await poison
        # What it leaves behind might be its run's end: that is for the caller to decide.
        with pytest.raises(Unavailable, match="an earlier command of the run"):
            await behind
        assert await gatherer.send(b"behind", ("p",)) == "behind"
        assert sum(request.count(b"poison") for request in line.requests) == 4

    run(test())


def test_attempts_that_were_not_made_are_not_counted() -> None:
    async def test() -> None:
        async def reply(batch: list[bytes]) -> list[Any]:
            if len(line.requests) < 12:
                return [refused(503, "unavailable"), *[UNTRIED] * (len(batch) - 1)]
            return [ok(item) for item in batch]

        line = Line(reply)
        gatherer = line.gatherer(RetryPolicy(attempts=3, first_wait_seconds=0, longest_wait_seconds=0))
        # Eleven requests failed at their first command: had the untried ones been counted, all would be used up.
        assert len(await asyncio.gather(*(gatherer.send(b"%d" % n, (str(n),)) for n in range(9)))) == 9

    run(test())


def test_after_the_last_attempt_each_command_raises_its_own_error() -> None:
    async def test() -> None:
        async def reply(batch: list[bytes]) -> list[Any]:
            raise unanswered(httpx.ConnectError("refused"))

        line = Line(reply)
        gatherer = line.gatherer()
        answers = await asyncio.gather(*(gatherer.send(b"x", (str(n),)) for n in range(20)), return_exceptions=True)
        assert all(type(answer) is Unavailable for answer in answers)
        assert len({id(answer) for answer in answers}) == 20
        assert isinstance(answers[7].__cause__, httpx.ConnectError)

    run(test())


def test_the_total_time_also_ends_the_wait_of_what_was_never_tried() -> None:
    async def test() -> None:
        async def reply(batch: list[bytes]) -> list[Any]:
            raise unanswered(httpx.ConnectError("refused"))

        policy = RetryPolicy(attempts=10**6, total_seconds=0.2, first_wait_seconds=0.02, longest_wait_seconds=0.02)
        gatherer = Line(reply).gatherer(policy, commands=1)
        began = time.monotonic()
        answers = await asyncio.gather(*(gatherer.send(b"x", ("r",)) for _ in range(50)), return_exceptions=True)
        assert all(type(answer) is Unavailable for answer in answers)
        assert time.monotonic() - began < 2

    run(test())


def test_a_command_that_is_given_up_takes_the_later_ones_of_its_run_with_it() -> None:
    """Else the end of a run could be stored, and an append before it never any more."""

    async def test() -> None:
        async def reply(batch: list[bytes]) -> list[Any]:
            # The service cannot store this one, and tries nothing after it.
            place = batch.index(b"append") if b"append" in batch else len(batch)
            return [*[ok(item) for item in batch[:place]], *[UNTRIED] * (len(batch) - place)]

        line = Line(reply)
        gatherer = line.gatherer()
        sent = [("append", "r"), ("end", "r"), ("other", "q")]
        answers = await asyncio.gather(
            *[gatherer.send(item.encode(), (name,)) for item, name in sent], return_exceptions=True
        )
        assert [type(answer) for answer in answers] == [Unavailable, Unavailable, str]
        # It may be sent again, and then the end goes through.
        assert await gatherer.send(b"end", ("r",)) == "end"

    run(test())


def test_retry_after_holds_back_every_request() -> None:
    async def test() -> None:
        times: list[float] = []

        async def reply(batch: list[bytes]) -> list[Any]:
            times.append(time.monotonic())
            if len(times) == 1:
                raise Unavailable("later", retry_after=0.3)
            return [ok(item) for item in batch]

        gatherer = Line(reply).gatherer(requests=2)
        first = asyncio.create_task(gatherer.send(b"1", ("a",)))
        await asyncio.sleep(0.05)
        await asyncio.gather(first, gatherer.send(b"2", ("b",)))
        assert times[1] - times[0] >= 0.3

    run(test())


def test_a_request_that_is_refused_as_a_whole_fails_only_the_command_that_is_to_blame() -> None:
    async def test() -> None:
        async def reply(batch: list[bytes]) -> list[Any]:
            if sum(map(len, batch)) > 1000:
                raise PayloadTooLarge("a proxy's limit")
            return [ok(item) for item in batch]

        line = Line(reply)
        gatherer = line.gatherer()
        sizes = [300, 300, 300, 2000, 300, 300, 300, 300]
        answers = await asyncio.gather(*(gatherer.send(b"x" * size, ("r",)) for size in sizes), return_exceptions=True)
        assert [isinstance(answer, PayloadTooLarge) for answer in answers] == [size == 2000 for size in sizes]
        line.requests.clear()
        await asyncio.gather(*(gatherer.send(b"y", (str(n),)) for n in range(300)))
        assert len(line.requests) < 20, "the size of requests did not recover"

    run(test())


def test_an_access_error_fails_all_at_once() -> None:
    async def test() -> None:
        async def reply(batch: list[bytes]) -> list[Any]:
            raise Forbidden("no")

        line = Line(reply)
        gatherer = line.gatherer()
        answers = await asyncio.gather(*(gatherer.send(b"x", ("r",)) for _ in range(5)), return_exceptions=True)
        assert all(type(answer) is Forbidden for answer in answers)
        assert len(line.requests) == 1

    run(test())


@pytest.mark.parametrize(
    "answer",
    [
        None,
        [],
        {},
        {"results": {}},
        {"results": []},
        {"results": [{}]},
        {"results": [{"status": "200", "body": 1}]},
        {"results": [{"status": 200}]},
        {"results": [ok(b"x")] * 2},
    ],
    ids=repr,
)
def test_an_answer_that_does_not_fit_is_raised_to_those_who_wait(answer: Any) -> None:
    async def test() -> None:
        async def post(batch: list[bytes]) -> Any:
            return answer

        gatherer = Gatherer(post, QUICK, GatherLimits())
        with pytest.raises(UnexpectedAnswer):
            await gatherer.send(b"x", ("r",))

    run(test())


def test_a_broken_line_is_told_to_those_who_wait() -> None:
    async def test() -> None:
        async def post(batch: list[bytes]) -> Any:
            raise ZeroDivisionError("a bug")

        gatherer = Gatherer(post, QUICK, GatherLimits())
        with pytest.raises(ZeroDivisionError):
            await gatherer.send(b"x", ("r",))
        await asyncio.wait_for(gatherer.close(), 1)

    run(test())


def test_a_canceled_command_that_is_not_on_its_way_is_never_sent() -> None:
    async def test() -> None:
        line = Line()
        gatherer = line.gatherer()
        tasks = [asyncio.create_task(gatherer.send(item, ("r",))) for item in items("a", "b", "c")]
        await asyncio.sleep(0)
        tasks[1].cancel()
        answers = await asyncio.gather(*tasks, return_exceptions=True)
        assert (answers[0], answers[2]) == ("a", "c")
        assert isinstance(answers[1], asyncio.CancelledError)
        assert line.requests == [items("a", "c")]

    run(test())


def test_canceling_a_task_whose_command_is_under_way_disturbs_nobody() -> None:
    async def test() -> None:
        async def reply(batch: list[bytes]) -> list[Any]:
            await asyncio.sleep(0.02)
            if len(line.requests) == 1:
                return [ok(batch[0]), refused(503, "unavailable"), *[UNTRIED] * (len(batch) - 2)]
            return [ok(item) for item in batch]

        line = Line(reply)
        gatherer = line.gatherer()
        tasks = [asyncio.create_task(gatherer.send(item, ("r",))) for item in items("a", "b", "c", "d")]
        await asyncio.sleep(0.01)
        tasks[0].cancel()
        tasks[1].cancel()
        answers = await asyncio.gather(*tasks, return_exceptions=True)
        assert answers[2:] == ["c", "d"]
        # Nobody waits for "b" any more, so it is not repeated.
        assert line.requests == [items("a", "b", "c", "d"), items("c", "d")]

    run(test())


def test_closing_waits_for_what_was_sent_and_takes_no_more() -> None:
    async def test() -> None:
        async def reply(batch: list[bytes]) -> list[Any]:
            await asyncio.sleep(0.01)
            return [ok(item) for item in batch]

        line = Line(reply)
        gatherer = line.gatherer(commands=3)
        tasks = [asyncio.create_task(gatherer.send(b"%d" % n, (str(n),))) for n in range(10)]
        await asyncio.sleep(0)
        await gatherer.close()
        await asyncio.sleep(0)
        assert [task.result() for task in tasks] == [str(n) for n in range(10)]
        with pytest.raises(RuntimeError, match="closed"):
            await gatherer.send(b"x", ("r",))
        await gatherer.close()

    run(test())


@settings(max_examples=60, deadline=None)
@given(
    commands=st.lists(st.sets(st.sampled_from("abcd"), min_size=1, max_size=2), min_size=1, max_size=25),
    faults=st.lists(
        st.tuples(st.sampled_from(["ok", "ok", "request", "lost", "item", "refused"]), st.integers(0, 7)), max_size=12
    ),
    requests=st.integers(1, 3),
    most=st.integers(1, 8),
)
def test_commands_of_a_run_keep_their_order_through_any_faults(
    commands: list[set[str]], faults: list[tuple[str, int]], requests: int, most: int
) -> None:
    applied: list[int] = []
    """Numbers in the order of their first application; a repetition is an exact retry."""

    def apply(item: bytes) -> None:
        if int(item) not in applied:
            applied.append(int(item))

    async def reply(batch: list[bytes]) -> list[Any]:
        fault, place = faults.pop(0) if faults else ("ok", 0)
        await asyncio.sleep(0)
        if fault == "request":
            raise Unavailable("no", retry_after=0)
        if fault == "refused" and len(batch) > 1:
            raise ContractError("too many")
        bad = place % len(batch) if fault == "item" else len(batch)
        for item in batch[:bad]:
            apply(item)
        if fault == "lost":
            raise unanswered(httpx.ReadError("lost"))
        return [ok(item) for item in batch[:bad]] + [UNTRIED] * (len(batch) - bad)

    async def test() -> None:
        policy = RetryPolicy(attempts=100, first_wait_seconds=0.0005, longest_wait_seconds=0.001)
        gatherer = Line(reply).gatherer(policy, commands=most, requests=requests)
        answers = await asyncio.gather(
            *(gatherer.send(b"%d" % number, tuple(sorted(runs))) for number, runs in enumerate(commands))
        )
        assert answers == [str(number) for number in range(len(commands))]
        await gatherer.close()

    run(test())
    assert sorted(applied) == list(range(len(commands)))
    for run_id in "abcd":
        of_run = [number for number in applied if run_id in commands[number]]
        assert of_run == sorted(of_run)


@pytest.mark.parametrize("bad", [{"commands": 0}, {"commands": 257}, {"requests": 0}, {"body_bytes": 0}])
def test_limits_that_make_no_sense_are_refused(bad: dict[str, int]) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  the message names the limit
        GatherLimits(**bad)


def test_an_error_of_the_family_can_be_copied_with_all_it_tells() -> None:
    import copy

    error = Unavailable("d", code="unavailable", problem={"a": 1}, retry_after=2.5)
    twin = copy.copy(error)
    assert isinstance(twin, StoreError)
    assert (str(twin), twin.problem, twin.retry_after, twin.problem_code) == ("d", {"a": 1}, 2.5, "unavailable")
