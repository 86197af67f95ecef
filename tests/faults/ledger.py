"""What the writers sent and what they were told, kept apart from the service."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from tests.model.model import Call

Name = tuple[str, str]
"""What names a record: its run and its event key."""

Document = dict[str, Any]


def records_of(call: Call) -> list[Document]:
    """The records that a command stores, in the order in which its answer gives their ids."""
    if call.operation.startswith("start_"):
        return [call.body[name] for name in ("parent_linked", "started") if name in call.body]
    return [call.body.get("record", call.body)]


def results_of(call: Call, answer: Document) -> list[Document]:
    """The AppendResults in the answer to a command, in the same order."""
    if call.operation.startswith("start_"):
        return [answer[name] for name in ("parent_record", "started", "record") if name in answer]
    return [answer]


@dataclass
class Entry:
    """A command, how often it was sent, and the ids that its records were given once it was acknowledged."""

    call: Call
    attempts: int = 0
    ids: tuple[str, ...] = ()


@dataclass
class Ledger:
    """All commands in the order in which they were first sent."""

    entries: list[Entry] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    """When each acknowledgement came, by ``time.monotonic()``."""
    wrong: list[str] = field(default_factory=list)
    """Whatever was answered or found that must not be."""
    refused: int = 0
    """Answers 503 with ``Retry-After``."""

    def begin(self, call: Call) -> Entry:
        """Note that a command is about to be sent for the first time."""
        entry = Entry(call)
        self.entries.append(entry)
        return entry

    def acknowledge(self, entry: Entry, ids: tuple[str, ...]) -> None:
        """Note the first answer to a command."""
        entry.ids = ids
        self.times.append(time.monotonic())

    @property
    def acknowledged(self) -> list[Entry]:
        """The commands that were acknowledged so far."""
        return [entry for entry in self.entries if entry.ids]

    @property
    def pending(self) -> list[Entry]:
        """The commands that nobody knows the end of, in the order in which they were sent."""
        return [entry for entry in self.entries if not entry.ids]

    def longest_outage(self) -> float:
        """The longest time without an acknowledgement, in seconds."""
        times = sorted(self.times)
        return max((after - before for before, after in pairwise(times)), default=0.0)

    def first_after(self, moment: float) -> float | None:
        """How long after a moment the next acknowledgement came, in seconds; None when none did."""
        return min((at - moment for at in self.times if at >= moment), default=None)
