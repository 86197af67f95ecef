"""The writer's queue: bounded, fair between callers, and in order for each run.

Every caller (a *share*: one API key) gets its turn: what is taken next is the oldest job of the share that was served
least, by commands and bytes. One share alone is a plain queue.

A share may queue as much as is still free for others, so a flood of one key leaves half of the queue, two floods a
third: a newcomer always finds room. Beyond that the key is told ``rate_limited``; when the whole queue is full,
everybody is told ``overloaded``.

A job never overtakes an unanswered one that locks the same rows, whoever sent it: it queues behind it, in the other's
share.
"""

from __future__ import annotations

import asyncio
import heapq
from collections import deque
from collections.abc import Iterable

from runhold.commands.outcomes import Job, Outcome
from runhold.domain.errors import Fault, Overloaded, RateLimited

_BYTES_LIKE_A_COMMAND = 4_096
"""So many bytes count as much as one command does."""


class Waiting:
    """A job that waits for its answer, and how far it got."""

    __slots__ = ("done", "future", "home", "job", "keys", "lane", "share")

    def __init__(self, job: Job, share: str, lane: bool, future: asyncio.Future[list[Outcome]]) -> None:
        self.job = job
        self.share = share
        """Who sent it."""
        self.home = share
        """Whose turn it takes: the sender's own, or another's whose job on the same rows is unanswered."""
        self.lane = lane
        """Whether it must go by a lane of its own from the start."""
        self.future = future
        self.done: list[Outcome] = []
        self.keys: frozenset[str] = (
            job.command_keys[0] if len(job.command_keys) == 1 else frozenset().union(*job.command_keys)
        )

    def rest(self) -> Job:
        """The commands that are still to be tried."""
        start = len(self.done)
        if not start:
            return self.job
        return Job(self.job.namespace, self.job.commands[start:], self.job.command_keys[start:], self.job.size)

    def answer(self) -> None:
        """Hand the outcomes to the caller, unless it has gone."""
        if not self.future.done():
            self.future.set_result(self.done)

    def fail(self, fault: Fault) -> None:
        """Answer what is still to be tried with a fault."""
        self.done += [fault] * (len(self.job.commands) - len(self.done))
        self.answer()


class _Share:
    """What one caller has queued."""

    __slots__ = ("commands", "jobs", "served", "size")

    def __init__(self, served: float) -> None:
        self.jobs: deque[Waiting] = deque()
        self.served = served
        self.commands = 0
        """Accepted and not yet answered."""
        self.size = 0
        """Bytes of the same."""


class FairQueue:
    """Jobs that wait, by share.

    Args:
        commands: how many may wait or run, of all shares together.
        size: how many bytes of them.
    """

    def __init__(self, commands: int, size: int) -> None:
        self._most_commands = commands
        self._most_size = size
        self._shares: dict[str, _Share] = {}
        self._turns: list[tuple[float, str]] = []
        """A heap of the shares that have jobs: least served first. Each share with jobs stands in it once."""
        self._homes: dict[str, tuple[str, int]] = {}
        """Per lock key: whose turn its jobs take while any of them is unanswered, and how many are."""
        self._now = 0.0
        self.commands = 0
        """Accepted and not yet answered."""
        self.size = 0

    def __bool__(self) -> bool:
        """Whether a job waits."""
        return bool(self._turns)

    def accept(self, share: str, job: Job) -> None:
        """Count a job in, before it is pushed; it is counted out when it is ``finished``.

        Raises:
            Overloaded: the whole queue is full.
            RateLimited: this share has as much queued as is left for all others.
        """
        count, size = len(job.commands), job.size
        commands, bytes_ = self.commands + count, self.size + size
        if self.commands and (commands > self._most_commands or bytes_ > self._most_size):
            raise Overloaded("the service has more work queued than it takes on")
        mine = self._shares.get(share)
        if mine is None:
            mine = self._shares[share] = _Share(self._now)
        elif share and mine.commands:
            is_over = mine.commands + count > self._most_commands - commands
            if is_over or mine.size + size > self._most_size - bytes_:
                raise RateLimited("this key has as much under way as is left for all others")
        mine.commands += count
        mine.size += size
        self.commands, self.size = commands, bytes_

    def push(self, waiting: Waiting) -> None:
        """Queue a job that was accepted."""
        homes = self._homes
        for key in waiting.keys:
            known = homes.get(key)
            if known is not None:
                waiting.home = known[0]
                break
        for key in waiting.keys:
            known = homes.get(key)
            homes[key] = (waiting.home, 1) if known is None else (known[0], known[1] + 1)
        self._turn(waiting.home).append(waiting)

    def push_front(self, waiting: Iterable[Waiting]) -> None:
        """Put jobs back that were popped, in their order and ahead of all others of their share."""
        for each in reversed(list(waiting)):
            self._turn(each.home).appendleft(each)

    def pop(self) -> Waiting:
        """Take the next job. Raises: IndexError when none waits."""
        self._now, name = self._turns[0]
        share = self._shares[name]
        waiting = share.jobs.popleft()
        share.served = self._now + max(len(waiting.job.commands), waiting.job.size / _BYTES_LIKE_A_COMMAND)
        if share.jobs:
            heapq.heapreplace(self._turns, (share.served, name))
        else:
            heapq.heappop(self._turns)
            if not share.commands:
                del self._shares[name]
        return waiting

    def finished(self, waiting: Waiting) -> None:
        """Count a job out: it is answered."""
        homes = self._homes
        for key in waiting.keys:
            home, count = homes[key]
            if count == 1:
                del homes[key]
            else:
                homes[key] = (home, count - 1)
        share = self._shares[waiting.share]
        share.commands -= len(waiting.job.commands)
        share.size -= waiting.job.size
        if not share.commands and not share.jobs:
            del self._shares[waiting.share]
        self.commands -= len(waiting.job.commands)
        self.size -= waiting.job.size

    def drain(self) -> list[Waiting]:
        """Take all that waits."""
        found = []
        while self._turns:
            found.append(self.pop())
        return found

    def _turn(self, name: str) -> deque[Waiting]:
        """The jobs of a share that is about to have one, with its place among the others."""
        share = self._shares.get(name)
        if share is None:
            share = self._shares[name] = _Share(self._now)
        if not share.jobs:
            # Who comes back after a pause has not saved up turns.
            share.served = max(share.served, self._now)
            heapq.heappush(self._turns, (share.served, name))
        return share.jobs
