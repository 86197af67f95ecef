"""What every memory promises, and the one that lives in the process."""

from __future__ import annotations

import asyncio
import threading
from typing import Protocol

from runhold_client.memory.events import Event, Snapshot, check_text


class Store(Protocol):
    """A product's memory of runs. It is the product's own, apart from the runtime's records. Safe for many threads."""

    def load_run(self, agent_id: str, run_id: str) -> Snapshot:
        """Read what is remembered of a run; an empty snapshot when nothing is, never an error for that."""
        ...

    def append_events(self, agent_id: str, run_id: str, *events: Event) -> None:
        """Append all these events behind each other, or none of them. Without events nothing happens.

        Raises: ValueError when an id is empty, or holds U+0000 or a lone surrogate.
        """
        ...


class AsyncStore(Protocol):
    """The twin of ``Store`` for the tasks of an event loop."""

    async def load_run(self, agent_id: str, run_id: str) -> Snapshot:
        """See ``Store.load_run``."""
        ...

    async def append_events(self, agent_id: str, run_id: str, *events: Event) -> None:
        """See ``Store.append_events``."""
        ...


class InMemoryStore:
    """A memory that ends with its process: for tests, and for products that keep nothing."""

    def __init__(self) -> None:
        self._events: dict[tuple[str, str], tuple[Event, ...]] = {}
        self._lock = threading.Lock()

    def load_run(self, agent_id: str, run_id: str) -> Snapshot:
        """See ``Store.load_run``."""
        check_ids(agent_id, run_id)
        return Snapshot(agent_id, run_id, self._events.get((agent_id, run_id), ()))

    def append_events(self, agent_id: str, run_id: str, *events: Event) -> None:
        """See ``Store.append_events``."""
        check_ids(agent_id, run_id)
        if not events:
            return
        with self._lock:
            self._events[agent_id, run_id] = self._events.get((agent_id, run_id), ()) + events


class InThreads:
    """Any ``Store`` as an ``AsyncStore``: each operation runs in a thread of the event loop's executor."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def load_run(self, agent_id: str, run_id: str) -> Snapshot:
        """See ``Store.load_run``."""
        return await asyncio.to_thread(self._store.load_run, agent_id, run_id)

    async def append_events(self, agent_id: str, run_id: str, *events: Event) -> None:
        """See ``Store.append_events``; they may be stored although the task was canceled meanwhile."""
        await asyncio.to_thread(self._store.append_events, agent_id, run_id, *events)


def check_ids(agent_id: str, run_id: str) -> None:
    """Refuse ids that not every memory can hold. Raises: ValueError."""
    for name, value in (("agent_id", agent_id), ("run_id", run_id)):
        if not value:
            raise ValueError(f"{name} is empty")
        check_text(name, value)
