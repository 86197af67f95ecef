"""Writers that live through runs, and readers that follow what they write."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from itertools import islice

from tests.faults.doors import Door, HttpDoor, Later
from tests.faults.ledger import Document, Entry, Ledger
from tests.model import commands as make
from tests.model.model import Call

_TOGETHER = 6
"""Commands that are sent at once, at most, by those who send several."""
_LARGE_BYTES = 100_000


def life(run: str, session: str, number: int, payload_bytes: int) -> Iterator[Call]:
    """All commands of a run: it starts, appends, starts a child that does the same, and ends in one of five ways."""

    def payload(size: int) -> Document:
        return {"text": random.randbytes(size // 2).hex()}

    labels = {"number": str(number)}
    yield make.start(run, session=session, labels=labels)
    for step in range(4):
        yield make.append(run, session=session, key=f"step {step}", payload=payload(payload_bytes))
    if number % 10 == 7:
        # It goes by a connection of its own.
        yield make.append(run, session=session, key="large", payload=payload(_LARGE_BYTES))
    if session:
        child = f"{run}/agent/tool/call"
        yield make.start(child, session=session, parent=run)
        yield make.append(child, session=session, key="only step", payload=payload(payload_bytes))
        yield make.terminal(child, session=session)
    for step in range(4, 6):
        yield make.append(run, session=session, key=f"step {step}", payload=payload(payload_bytes))
    end = number % 5
    if end == 0:
        yield make.suspension(run, session=session, data=random.randbytes(1_000))
    elif end == 1:
        yield make.cancellation(run, session=session, reason="enough")
        yield make.terminal(run, session=session, status="canceled", reason="enough", labels=labels)
    elif end == 2:
        yield make.terminal(run, session=session, status="failed", labels=labels)
    elif end == 3:
        yield make.terminal(run, session=session, labels=labels)


class Writer:
    """Lives through one run after the other.

    Args:
        name: begins the ids of its runs.
        door: how it sends commands.
        ledger: where it notes them.
        session: that of its runs; empty for one-shot runs.
        gives_up: whether it leaves a run at the first command without an answer, which somebody repeats much later.
        payload_bytes: about how large its records are.
    """

    def __init__(
        self, name: str, door: Door, ledger: Ledger, session: str, *, gives_up: bool, payload_bytes: int
    ) -> None:
        self.name = name
        self.door = door
        self._ledger = ledger
        self._session = session
        self._gives_up = gives_up
        self._payload_bytes = payload_bytes

    async def write(self, over: asyncio.Event) -> None:
        """Write until told to stop; what has no answer by then stays pending."""
        number = 0
        while not over.is_set():
            number += 1
            calls = life(f"{self.name}/{number}", self._session, number, self._payload_bytes)
            while not over.is_set() and (step := list(islice(calls, _TOGETHER if self.door.together else 1))):
                try:
                    if not await self._send([self._ledger.begin(call) for call in step], over):
                        break
                except AssertionError as error:
                    self._ledger.wrong.append(f"{self.name}: {error}")
                    return

    async def _send(self, entries: list[Entry], over: asyncio.Event) -> bool:
        """Send commands until all are acknowledged, and tell whether they are."""
        while True:
            wait = await ask(self._ledger, self.door, entries)
            if wait is None:
                return True
            if over.is_set():
                return False
            await asyncio.sleep(wait)
            if self._gives_up:
                return False
            entries = [entry for entry in entries if not entry.ids]


async def ask(ledger: Ledger, door: Door, entries: list[Entry]) -> float | None:
    """Send commands once. Returns how long to wait before the next attempt; None when all are acknowledged."""
    wait: float | None = None
    for entry, told in zip(entries, await door.ask(entries), strict=True):
        if isinstance(told, Later):
            wait = max(wait or 0.0, told.seconds + random.random() * 0.2)
        else:
            ledger.acknowledge(entry, told)
    return wait


class Follower:
    """Reads a list by its cursor, page by page, whatever happens meanwhile."""

    def __init__(self, url: str, ledger: Ledger, operation: str, owner: str, *, limit: int, wait_ms: int = 0) -> None:
        self.operation = operation
        self.owner = owner
        self.seen: list[Document] = []
        self._ledger = ledger
        self._door = HttpDoor(url, ledger)
        self._query = (("limit", str(limit)), *((("wait_ms", str(wait_ms)),) if wait_ms else ()))
        self._cursor = ""

    async def follow(self, done: asyncio.Event) -> None:
        """Follow until told that the writers are done, and then to the end."""
        try:
            while True:
                is_over = done.is_set()
                query = (*self._query, *((("cursor", self._cursor),) if self._cursor else ()))
                page = await self._door.get(Call(self.operation, self.owner, query))
                if isinstance(page, Later):
                    await asyncio.sleep(page.seconds + 0.05)
                    continue
                self.seen += page["records"]
                self._cursor = page["end_cursor"]
                if not page["records"]:
                    if is_over:
                        return
                    await asyncio.sleep(0.05)
        except AssertionError as error:
            self._ledger.wrong.append(f"a reader of {self.owner}: {error}")
        finally:
            await self._door.close()
