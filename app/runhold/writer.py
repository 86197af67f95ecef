"""Group commit: commands that wait together become one batch, and nobody is answered before its commit.

One main loop takes what queued while the last batch ran; there is no timer. What cannot go with the batch goes by a
*side lane* with a connection of its own: a job that met a row held by another process, a large record, a purge. The
lock keys of a lane are held in this process until it ends, and jobs that share one of them are deferred behind it, so
that commands of one run or session never overtake each other, while all others go on.

Invariants: the keys of two lanes are disjoint; a deferred job's keys are blocked for later jobs; every job's future is
resolved exactly once.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter

from runhold.commands.decide import validate
from runhold.commands.model import Command, PurgeOneShotRun, PurgeSession, needs, size
from runhold.commands.outcomes import (
    BrokenBatchError,
    CommandStore,
    Contended,
    DatabaseFailedError,
    Job,
    LostRaceError,
    Outcome,
)
from runhold.domain.errors import ContractError, Fault, Internal, RefusalError, Unavailable
from runhold.domain.values import CommandResult
from runhold.queueing import FairQueue, Waiting

log = logging.getLogger(__name__)

_ATTEMPTS_ALONE = 3


@dataclass(frozen=True, slots=True)
class WriterLimits:
    """How much the writer takes on, and how it divides it."""

    queued_commands: int = 4_096
    """Commands that may wait or run; one more is refused as overloaded."""
    queued_bytes: int = 64 * 1024 * 1024
    """Bytes of payloads and checkpoints that may wait or run."""
    batch_commands: int = 256
    batch_bytes: int = 1024 * 1024
    large_bytes: int = 64 * 1024
    """A single command over this goes by a lane of its own, so that it does not stall the batch."""
    lanes: int = 4
    """Side lanes at work at the same time."""


class Writer:
    """Carries out commands through a ``CommandStore``, batch by batch."""

    def __init__(self, store: CommandStore, limits: WriterLimits | None = None) -> None:
        self._store = store
        self._limits = limits or WriterLimits()
        self._queue = FairQueue(self._limits.queued_commands, self._limits.queued_bytes)
        self._deferred: deque[Waiting] = deque()
        self._deferred_keys: set[str] = set()
        self._held: set[str] = set()
        self._lanes: set[asyncio.Task[None]] = set()
        self._lane_slots = asyncio.Semaphore(self._limits.lanes)
        self._wake = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._closing = False
        self._main: asyncio.Task[None] | None = None
        self.observe: Callable[[int, float], None] = lambda _commands, _seconds: None
        """Is told of each batch, once it is committed: its commands, and the seconds that it took."""
        self.batches = 0
        self.batched_commands = 0

    @property
    def queued_commands(self) -> int:
        """Commands that wait or run."""
        return self._queue.commands

    @property
    def queued_bytes(self) -> int:
        """Bytes of payloads and checkpoints that wait or run."""
        return self._queue.size

    async def open(self) -> None:
        """Start taking commands; the store must be open."""
        self._main = asyncio.create_task(self._run(), name="runhold-writer")

    async def close(self, patience: float | None = None) -> None:
        """Take no more commands, answer those accepted, and stop.

        Args:
            patience: seconds to wait for the accepted ones; None waits for all of them.
        """
        self._closing = True
        try:
            await asyncio.wait_for(self._idle.wait(), patience)
        except TimeoutError:
            log.warning("stopping with unanswered commands", extra={"commands": self.queued_commands})
        tasks = [task for task in (self._main, *self._lanes) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for waiting in (*self._queue.drain(), *self._deferred):
            waiting.fail(Unavailable("the service is stopping"))

    async def submit(self, namespace: str, command: Command, share: str = "") -> CommandResult:
        """Carry out one command; ``share`` names the caller whose turn it takes, ``""`` when all are one.

        Raises:
            ContractError: it is refused; nothing was written.
            Fault: it could not be answered; the exact command may be sent again.
        """
        validate(command)
        outcome = (await self._enqueue(namespace, [command], share))[0]
        if isinstance(outcome, RefusalError):
            raise outcome
        return outcome

    async def submit_many(
        self, namespace: str, commands: Sequence[Command | RefusalError], share: str = ""
    ) -> list[Outcome]:
        """Carry out commands in their order, each for itself.

        Args:
            namespace: whose they are.
            share: the caller whose turn they take, as in ``submit``.
            commands: what to do; a refusal stands for a command that was refused as it was read, and keeps its place.

        Returns:
            An outcome for each. Once one is a fault, all later ones are ``Unavailable``, untried.
        """
        checked: list[Command | RefusalError] = [_checked(command) for command in commands]
        accepted = [command for command in checked if not isinstance(command, RefusalError)]
        done: list[Outcome] = []
        if accepted:
            try:
                done = await self._enqueue(namespace, accepted, share)
            except Fault as fault:
                done = [fault] * len(accepted)
        answers = iter(done)
        outcomes: list[Outcome] = []
        faulty = False
        for command in checked:
            outcome = command if isinstance(command, RefusalError) else next(answers)
            outcomes.append(Unavailable("an earlier command of the request got no final answer") if faulty else outcome)
            faulty = faulty or isinstance(outcome, Fault)
        return outcomes

    def _enqueue(self, namespace: str, commands: list[Command], share: str) -> asyncio.Future[list[Outcome]]:
        if self._closing:
            raise Unavailable("the service is stopping")
        sizes = [size(command) for command in commands]
        job = Job(namespace, commands, [lock_keys(namespace, command) for command in commands], sum(sizes))
        self._queue.accept(share, job)
        lane = (
            max(sizes) > self._limits.large_bytes
            or job.size > self._limits.batch_bytes
            or isinstance(commands[0], PurgeSession | PurgeOneShotRun)
        )
        waiting = Waiting(job, share, lane, asyncio.get_running_loop().create_future())
        self._idle.clear()
        self._queue.push(waiting)
        self._wake.set()
        return waiting.future

    async def _run(self) -> None:
        while True:
            await self._wake.wait()
            batch = self._take()
            if not batch:
                self._wake.clear()
                continue
            left = await self._carry_out(batch, wait=False)
            for group in _groups(left):
                self._start_lane(group)

    def _take(self) -> list[Waiting]:
        """Take the next batch off the queue, in order, sending aside what must not or cannot go with it."""
        batch: list[Waiting] = []
        count = total = 0
        while self._queue and count < self._limits.batch_commands and total < self._limits.batch_bytes:
            waiting = self._queue.pop()
            if (self._held or self._deferred_keys) and not (
                waiting.keys.isdisjoint(self._held) and waiting.keys.isdisjoint(self._deferred_keys)
            ):
                self._deferred.append(waiting)
                self._deferred_keys |= waiting.keys
            elif waiting.lane:
                if any(not waiting.keys.isdisjoint(earlier.keys) for earlier in batch):
                    # Its turn comes after this batch, which holds earlier commands on the same keys.
                    self._queue.push_front([waiting])
                    break
                self._start_lane([waiting])
            else:
                batch.append(waiting)
                count += len(waiting.job.commands)
                total += waiting.job.size
        return batch

    def _start_lane(self, group: list[Waiting]) -> None:
        keys = frozenset().union(*(waiting.keys for waiting in group))
        self._held |= keys
        task = asyncio.create_task(self._lane(group, keys), name="runhold-lane")
        self._lanes.add(task)
        task.add_done_callback(self._lanes.discard)

    async def _lane(self, group: list[Waiting], keys: frozenset[str]) -> None:
        try:
            async with self._lane_slots:
                await self._carry_out(group, wait=True)
        finally:
            self._held -= keys
            # All deferred jobs are looked at again, in order and ahead of newer ones.
            self._queue.push_front(self._deferred)
            self._deferred.clear()
            self._deferred_keys.clear()
            self._wake.set()

    async def _carry_out(self, batch: list[Waiting], *, wait: bool) -> list[Waiting]:
        """Run jobs in one transaction, or each command alone when that fails; return those that met a held row."""
        left: list[Waiting] = []
        begun = perf_counter()
        try:
            results = await self._store.run_batch([waiting.rest() for waiting in batch], wait=wait)
        except (LostRaceError, BrokenBatchError):
            for waiting in batch:
                # A job whose keys an earlier one still waits for stays behind it.
                if any(not waiting.keys.isdisjoint(earlier.keys) for earlier in left) or not await self._alone(
                    waiting, wait=wait
                ):
                    left.append(waiting)
        except Fault as fault:
            for waiting in batch:
                waiting.fail(fault)
        except Exception:
            log.exception("a batch failed")
            for waiting in batch:
                waiting.fail(Internal("the service failed to carry out the command"))
        else:
            self.batches += 1
            self.observe(sum(len(waiting.job.commands) for waiting in batch), perf_counter() - begun)
            left = [waiting for waiting, outcomes in zip(batch, results, strict=True) if not _settle(waiting, outcomes)]
        for waiting in batch:
            if waiting not in left:
                self._finished(waiting)
        return left

    async def _alone(self, waiting: Waiting, *, wait: bool) -> bool:
        """Run a job's commands one by one; False when one met a held row, and it and the rest are still to be tried."""
        while len(waiting.done) < len(waiting.job.commands):
            rest = waiting.rest()
            single = Job(rest.namespace, rest.commands[:1], rest.command_keys[:1], rest.size)
            try:
                outcome = await self._single(single, wait=wait)
            except Fault as fault:
                waiting.fail(fault)
                return True
            if isinstance(outcome, Contended):
                return False
            waiting.done.append(outcome)
        waiting.answer()
        return True

    async def _single(self, job: Job, *, wait: bool) -> Outcome | Contended:
        for _ in range(_ATTEMPTS_ALONE):
            try:
                return (await self._store.run_batch([job], wait=wait))[0][0]
            except LostRaceError:
                continue
            except DatabaseFailedError as error:
                log.warning("the database failed", extra={"reason": str(error)})
                raise Unavailable("the database failed to store the command") from None
            except BrokenBatchError:
                log.exception("the database refused a command that passed every check")
                raise Internal("the database refused the command") from None
        raise Unavailable("other writers won every race for the same rows")

    def _finished(self, waiting: Waiting) -> None:
        self.batched_commands += len(waiting.job.commands)
        self._queue.finished(waiting)
        if not self._queue.commands:
            self._idle.set()


def _checked(command: Command | RefusalError) -> Command | RefusalError:
    if isinstance(command, RefusalError):
        return command
    try:
        validate(command)
    except ContractError as error:
        return error
    return command


def lock_keys(namespace: str, command: Command) -> frozenset[str]:
    """The rows that a command locks: its session, or the one-shot runs it names."""
    wanted = needs(command)
    if wanted.sessions:
        return frozenset([f"{namespace}/s/{session_id}" for session_id in wanted.sessions])
    return frozenset([f"{namespace}/r/{run_id}" for run_id in wanted.runs])


def _settle(waiting: Waiting, outcomes: list[Outcome | Contended]) -> bool:
    """Keep a job's outcomes and answer it; False when it met a held row, and the rest is still to be tried."""
    for outcome in outcomes:
        if isinstance(outcome, Contended):
            return False
        waiting.done.append(outcome)
    waiting.answer()
    return True


def _groups(left: list[Waiting]) -> list[list[Waiting]]:
    """Part jobs into groups that share no key, each in its order."""
    groups: list[tuple[set[str], list[Waiting]]] = []
    for waiting in left:
        keys, members = set(waiting.keys), [waiting]
        others = []
        for group_keys, group in groups:
            if group_keys.isdisjoint(keys):
                others.append((group_keys, group))
            else:
                keys |= group_keys
                members = group + members
        groups = [*others, (keys, members)]
    return [members for _, members in groups]
