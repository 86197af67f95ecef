"""Commands that tasks send at the same time travel together.

There is no timer: what waits while the last request is under way becomes the next request. Commands that share a run
keep their order, also over retries: a run with a command under way takes no place in another request, and what a
request left without a final answer is sent again ahead of anything newer for those runs.

A command that is given up takes the later ones of its runs with it, as far as they wait here.

A command that gets a temporary answer itself is a *suspect*: the service tries nothing after it, so it goes to the end
of a request. One that always fails delays nobody but its own runs.
"""

from __future__ import annotations

import asyncio
import copy
import random
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from runhold_client.errors import ContractError, StoreError, TemporaryError, Unavailable, UnexpectedAnswer
from runhold_client.refusals import is_lost_connection, problem_error
from runhold_client.retries import RetryPolicy

Post = Callable[[list[bytes]], Awaitable[Any]]
"""Sends items in one request, once, and gives back the answer's JSON. Raises: StoreError for the request as a whole."""


@dataclass(frozen=True, slots=True)
class GatherLimits:
    """How much goes into one request, and how many requests at once."""

    commands: int = 256
    """The service takes no more in one request."""
    body_bytes: int = 4 * 1024 * 1024
    """A larger command goes alone."""
    requests: int = 1
    """Requests under way at once."""

    def __post_init__(self) -> None:
        if not 1 <= self.commands <= 256:
            raise ValueError("a request carries 1 to 256 commands")
        if self.requests < 1 or self.body_bytes < 1:
            raise ValueError("requests and body_bytes must be at least 1")


@dataclass(eq=False, slots=True)
class _Waiting:
    """A command whose task waits for its answer."""

    item: bytes
    runs: tuple[str, ...]
    answer: asyncio.Future[Any]
    last_start: float
    """No attempt begins after this."""
    failures: int = 0
    not_before: float = 0.0
    suspect: bool = False


class Gatherer:
    """Collects the commands of one event loop into requests."""

    def __init__(self, post: Post, policy: RetryPolicy, limits: GatherLimits) -> None:
        self._post = post
        self._policy = policy
        self._limits = limits
        self._queue: deque[_Waiting] = deque()
        self._busy: set[str] = set()
        self._under_way = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._pump_is_due = False
        self._wake_up: asyncio.TimerHandle | None = None
        self._closed = False
        self._idle = asyncio.Event()
        self._idle.set()
        # What the last requests told of the service as a whole: how many in a row settled nothing, when to try again,
        # and how many commands to try with. A request that is too much for the service must not be repeated for ever.
        self._failures = 0
        self._not_before = 0.0
        self._most_commands = limits.commands

    async def send(self, item: bytes, runs: tuple[str, ...]) -> Any:
        """Send one command, wait for its result and give back the result's body.

        Canceling the task gives up the answer, not the command: once it is on its way it may still be stored. One that
        is not on its way is never sent.
        Raises: StoreError; RuntimeError after ``close``.
        """
        if self._closed:
            raise RuntimeError("the store is closed")
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._queue.append(_Waiting(item, runs, answer, time.monotonic() + self._policy.total_seconds))
        self._idle.clear()
        self._pump_soon()
        return await answer

    async def close(self) -> None:
        """Take no more commands, and wait until all have their answers."""
        self._closed = True
        await self._idle.wait()

    # ------------------------------------------------------------------------------------------------- forming requests

    def _pump_soon(self) -> None:
        # At the end of this turn of the loop, not at once: all tasks that are ready get to add their commands first.
        if not self._pump_is_due:
            self._pump_is_due = True
            asyncio.get_running_loop().call_soon(self._pump)

    def _pump(self) -> None:
        self._pump_is_due = False
        while self._under_way < self._limits.requests and (batch := self._take(time.monotonic())):
            for waiting in batch:
                self._busy.update(waiting.runs)
            self._under_way += 1
            task = asyncio.get_running_loop().create_task(self._deliver(batch))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        if self._queue:
            self._wake_up_when_due()
        elif not self._under_way:
            self._idle.set()

    def _take(self, now: float) -> list[_Waiting]:
        """Take the next request's commands: in order, but none whose run has an earlier one under way or held back."""
        if now < self._not_before:
            return []
        blocked = set(self._busy)
        ready: list[_Waiting] = []
        suspects: list[_Waiting] = []
        held_back: list[_Waiting] = []
        size = 0
        while self._queue and len(ready) < max(1, self._most_commands - bool(suspects)):
            waiting = self._queue[0]
            if waiting.answer.done():
                self._queue.popleft()
                continue
            if waiting.not_before > now or not blocked.isdisjoint(waiting.runs):
                blocked.update(waiting.runs)
                held_back.append(self._queue.popleft())
            elif waiting.suspect:
                # What follows on its runs waits for its answer, so suspects are free to change places.
                blocked.update(waiting.runs)
                suspects.append(waiting)
                held_back.append(self._queue.popleft())
            else:
                size += len(waiting.item) + 1
                if ready and size > self._limits.body_bytes:
                    break
                ready.append(self._queue.popleft())
        suspects.sort(key=lambda waiting: waiting.failures)
        last = self._fitting(suspects[: self._most_commands - len(ready)], size, bool(ready))
        taken = {id(waiting) for waiting in last}
        self._queue.extendleft(waiting for waiting in reversed(held_back) if id(waiting) not in taken)
        return ready + last

    def _fitting(self, suspects: list[_Waiting], size: int, others: bool) -> list[_Waiting]:
        fitting: list[_Waiting] = []
        for waiting in suspects:
            size += len(waiting.item) + 1
            if size > self._limits.body_bytes and (fitting or others):
                break
            fitting.append(waiting)
        return fitting

    def _wake_up_when_due(self) -> None:
        # What is held back by time has nobody else to call the pump; what waits for a run's turn has the request's end.
        now = time.monotonic()
        times = [due for due in (self._not_before, *(waiting.not_before for waiting in self._queue)) if due > now]
        if self._wake_up is not None:
            self._wake_up.cancel()
            self._wake_up = None
        if times:
            self._wake_up = asyncio.get_running_loop().call_later(min(times) - now, self._pump_soon)

    # ---------------------------------------------------------------------------------------------------------- answers

    async def _deliver(self, batch: list[_Waiting]) -> None:
        try:
            answer = await self._post([waiting.item for waiting in batch])
            self._settle(batch, _results(answer, len(batch)))
        except StoreError as error:
            self._settle_refused_request(batch, error)
        except BaseException as error:
            # A bug, or the loop going down: nobody may be left waiting.
            for waiting in batch:
                _fail(waiting, error)
            raise
        finally:
            for waiting in batch:
                self._busy.difference_update(waiting.runs)
            self._under_way -= 1
            self._pump_soon()

    def _settle(self, batch: list[_Waiting], results: Sequence[Any]) -> None:
        for place, (waiting, result) in enumerate(zip(batch, results, strict=True)):
            error = _error_of(result)
            if error is None:
                if not waiting.answer.done():
                    waiting.answer.set_result(result["body"])
            elif isinstance(error, TemporaryError):
                # The service tried nothing after this one: the others keep their attempts.
                self._suspect(waiting, error, untried=batch[place + 1 :], first=place == 0)
                self._put_back(batch[place:], error)
                return
            else:
                _fail(waiting, error)
        self._note_success()

    def _suspect(self, waiting: _Waiting, error: TemporaryError, untried: list[_Waiting], first: bool) -> None:
        waiting.failures += 1
        waiting.not_before = time.monotonic() + self._wait_seconds(waiting.failures, error)
        if not first:
            self._note_success()
        elif not waiting.suspect:
            self._note_failure(error)
        else:
            # Behind a suspect there are only suspects: they share its wait, and nobody else does.
            for other in untried:
                other.not_before = max(other.not_before, waiting.not_before)
        waiting.suspect = True

    def _settle_refused_request(self, batch: list[_Waiting], error: StoreError) -> None:
        if isinstance(error, TemporaryError):
            self._note_failure(error)
            for waiting in batch:
                waiting.failures += 1
            self._put_back(batch, error)
        elif isinstance(error, ContractError) and len(batch) > 1:
            # Not the fault of each: smaller requests find out whose, or stay below some proxy's limit.
            self._most_commands = (len(batch) + 1) // 2
            self._queue.extendleft(reversed(batch))
        else:
            for waiting in batch:
                _fail(waiting, error)

    def _put_back(self, batch: list[_Waiting], error: TemporaryError) -> None:
        """Queue commands again, ahead of anything newer; those whose attempts or time are used up fail.

        With them fail the later ones of their runs that wait here: once an end is stored, what was to come before it
        could never be stored any more.
        """
        self._queue.extendleft(reversed(batch))
        given_up: set[str] = set()
        for waiting in self._queue:
            if waiting.answer.done():
                continue
            due = max(waiting.not_before, self._not_before)
            if not given_up.isdisjoint(waiting.runs):
                given_up.update(waiting.runs)
                _fail(waiting, Unavailable("an earlier command of the run got no final answer"))
            elif waiting.failures >= self._policy.attempts or due > waiting.last_start:
                given_up.update(waiting.runs)
                _fail(waiting, error)

    def _note_success(self) -> None:
        self._failures = 0
        self._not_before = 0.0
        self._most_commands = min(self._limits.commands, self._most_commands * 2)

    def _note_failure(self, error: TemporaryError) -> None:
        self._failures += 1
        self._most_commands = max(1, self._most_commands // 2)
        if self._failures > 1 or not is_lost_connection(error):
            self._not_before = time.monotonic() + self._wait_seconds(self._failures, error)

    def _wait_seconds(self, failures: int, error: TemporaryError) -> float:
        return self._policy.wait_seconds(failures, error.retry_after, random.random)


def _results(answer: Any, count: int) -> list[Any]:
    results = answer.get("results") if isinstance(answer, dict) else None
    if not isinstance(results, list) or len(results) != count:
        raise UnexpectedAnswer(f"the answer does not hold {count} results")
    return results


def _error_of(result: Any) -> StoreError | None:
    status = result.get("status") if isinstance(result, dict) else None
    if type(status) is not int:
        return UnexpectedAnswer("a result has no status")
    if 200 <= status < 300:
        return None if "body" in result else UnexpectedAnswer("a result has neither body nor problem")
    problem = result.get("problem")
    return problem_error(status, problem if isinstance(problem, dict) else {})


def _fail(waiting: _Waiting, error: BaseException) -> None:
    if waiting.answer.done():
        return
    if isinstance(error, StoreError):
        # Each task raises its own: a shared one would collect the tracebacks of all.
        own = copy.copy(error)
        own.__cause__ = error.__cause__
        waiting.answer.set_exception(own)
    elif isinstance(error, Exception):
        waiting.answer.set_exception(error)
    else:
        waiting.answer.cancel()
