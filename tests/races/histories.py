"""What callers at the same time did and saw: a history, to be held against the model.

Every caller is a thread with a connection of its own. They are let go together, time after time, and every call is
noted with the moments of its sending and of its answer.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Self

from tests.model.model import ON_A_RUN, Answer, Call
from tests.model.wire import Wire
from tests.support.server import Server

MOST_DELAY = 0.003
"""Seconds by which a caller may start after the others, so that no two rounds meet in the same way."""


@dataclass(frozen=True)
class Event:
    """One command with its answer: it took effect at some moment between `sent` and `answered`."""

    call: Call
    answer: Answer
    sent: float
    answered: float
    caller: int
    """Events of one caller follow each other."""


@dataclass
class History:
    events: list[Event] = field(default_factory=list)

    def add(self, call: Call, answer: Answer, sent: float, answered: float, caller: int) -> None:
        """Note a call. A request of many commands is no unit: each of them took effect for itself, in their order."""
        assert answer.status not in (429, 500, 503), f"{call}: {answer}"
        if call.operation != "run_commands" or answer.status != 200:
            self.events.append(Event(call, answer, sent, answered, caller))
            return
        items, results = call.body["commands"], answer.body["results"]
        assert len(items) == len(results)
        for item, result in zip(items, results, strict=True):
            single = Call(item["operation"], item["run_id"] if item["operation"] in ON_A_RUN else "", body=item["body"])
            told = Answer(result["status"], result["body"] if result["status"] < 300 else result["problem"])
            assert told.status not in (429, 500, 503), f"{single}: {told}"
            self.events.append(Event(single, told, sent, answered, caller))


class Callers:
    """Threads that each keep a connection to one of the services, in turn."""

    def __init__(self, servers: Sequence[Server], count: int, seed: int = 0) -> None:
        self._wires = [Wire(servers[number % len(servers)].url, timeout=60) for number in range(count)]
        self._pool = ThreadPoolExecutor(count)
        self._random = random.Random(seed)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._pool.shutdown()
        for wire in self._wires:
            wire.http.close()

    def alone(self, history: History, calls: Sequence[Call]) -> list[Answer]:
        """Make calls one after the other, with nobody else about; the services take turns."""
        answers = []
        for number, call in enumerate(calls):
            sent = time.monotonic()
            answer = self._wires[number % min(2, len(self._wires))].call(call)
            history.add(call, answer, sent, time.monotonic(), caller=-1)
            answers.append(answer)
        return answers

    def together(self, history: History, calls: Sequence[Sequence[Call]]) -> list[list[Answer]]:
        """Let caller n make the n-th sequence of calls, all at the same time."""
        barrier = threading.Barrier(len(calls))
        delays = [self._random.choice([0.0, self._random.random() * MOST_DELAY]) for _ in calls]

        def play(caller: int) -> list[tuple[Call, Answer, float, float]]:
            done = []
            barrier.wait(30)
            time.sleep(delays[caller])
            for call in calls[caller]:
                sent = time.monotonic()
                answer = self._wires[caller].call(call)
                done.append((call, answer, sent, time.monotonic()))
            return done

        played = list(self._pool.map(play, range(len(calls))))
        for caller, done in enumerate(played):
            for call, answer, sent, answered in done:
                history.add(call, answer, sent, answered, caller)
        return [[answer for _, answer, _, _ in done] for done in played]
