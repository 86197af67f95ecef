"""A recorder over each kind of store, and both ways of opening a run, behind one asynchronous face."""

from __future__ import annotations

import asyncio
import inspect
import uuid
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from runhold_client import AsyncHttpStore, HttpStore, StoredRecord, aiter_run_records
from runhold_client.recorder import RunRecorder
from tests.support.server import Server

AT = datetime(2026, 3, 1, 10, 0, 0, 123_000, UTC)


@dataclass
class Ticks:
    """A clock that goes on by a second with every look."""

    now: datetime = AT
    looks: int = 0

    def __call__(self) -> datetime:
        self.looks += 1
        return self.now + timedelta(seconds=self.looks)


class InLoop:
    """A blocking run, or its opening, whose methods are called like those of the asynchronous one."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    async def __aenter__(self) -> InLoop:  # noqa: PYI034 - what was opened, not the opening
        return InLoop(self._inner.__enter__())

    async def __aexit__(self, *error: object) -> None:
        self._inner.__exit__(*error)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._inner, name)
        if name == "child":
            return lambda *args, **options: InLoop(value(*args, **options))
        if not inspect.ismethod(value):
            return value

        async def call(*args: Any, **options: Any) -> Any:
            return value(*args, **options)

        return call


class Meddling:
    """A store between whose operations something happens: ``before`` and ``after`` are called with each one's name.

    What they raise is what the caller gets: ``after`` raises when an answer is lost.
    """

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.before: Callable[[str], Any] = lambda _: None
        self.after: Callable[[str], Any] = lambda _: None

    def __getattr__(self, name: str) -> Any:
        operation = getattr(self._inner, name)

        def plain(*args: Any) -> Any:
            self.before(name)
            answer = operation(*args)
            self.after(name)
            return answer

        async def coroutine(*args: Any) -> Any:
            self.before(name)
            answer = await operation(*args)
            self.after(name)
            return answer

        return coroutine if inspect.iscoroutinefunction(operation) else plain


@dataclass
class World:
    """A service, a session of this test alone, and recorders that come and go."""

    server: Server
    kind: str
    runner: asyncio.Runner
    stores: list[Any] = field(default_factory=list)
    session_id: str = field(default_factory=lambda: f"session-{uuid.uuid4().hex[:12]}")
    run_id: str = field(default_factory=lambda: f"run-{uuid.uuid4().hex[:12]}")

    def play(self, story: Coroutine[Any, Any, Any]) -> Any:
        return self.runner.run(story)

    def new_store(self) -> Any:
        """A store of its own, as another process would have it."""
        store: Any = AsyncHttpStore(self.server.url) if self.kind == "async" else HttpStore(self.server.url)
        self.stores.append(store)
        return store

    def recorder(self, store: Any = None, clock: Any = None) -> Any:
        """What a process that has just started has: a recorder that knows nothing."""
        recorder = RunRecorder(store or self.new_store(), clock=clock or Ticks())
        if self.kind != "blocking":
            return recorder
        return _Blocking(recorder)

    def run(self, recorder: Any = None, **options: Any) -> Any:
        """The run of this test, about to be opened."""
        options = {"agent_id": "svc.agent", "session_id": self.session_id, **options}
        return (recorder or self.recorder()).run(options.pop("run_id", self.run_id), **options)

    async def records(self, run_id: str = "") -> list[StoredRecord]:
        """What is stored, read by a client of its own."""
        async with AsyncHttpStore(self.server.url) as store:
            return [record async for record in aiter_run_records(store, run_id or self.run_id)]

    def admin(self, operation: str, *args: Any) -> Any:
        """What somebody else does meanwhile, at once."""
        with HttpStore(self.server.url) as store:
            return getattr(store, operation)(*args)

    async def close(self) -> None:
        for store in self.stores:
            if isinstance(store, AsyncHttpStore):
                await store.aclose()
            else:
                store.close()


class _Blocking:
    def __init__(self, recorder: RunRecorder) -> None:
        self._recorder = recorder

    def run(self, *args: Any, **options: Any) -> InLoop:
        return InLoop(self._recorder.run(*args, **options))

    def reopen(self, *args: Any, **options: Any) -> InLoop:
        return InLoop(self._recorder.reopen(*args, **options))


@pytest.fixture(params=["async on sqlite", "async on postgresql", "threads on postgresql", "blocking on sqlite"])
def way(request: pytest.FixtureRequest) -> tuple[str, str]:
    """An asynchronous store, a synchronous one in an event loop, and one without: each on a database or both."""
    kind, _, database = request.param.partition(" on ")
    return kind, database


@pytest.fixture
def database(way: tuple[str, str]) -> str:
    """The kind of database that this turn of the test is about."""
    return way[1]


@pytest.fixture
def world(way: tuple[str, str], server: Server) -> Iterator[World]:
    """A session and recorders of this test alone."""
    with asyncio.Runner() as runner:
        world = World(server, way[0], runner)
        with HttpStore(server.url) as admin:
            admin.create_session(world.session_id)
        yield world
        runner.run(world.close())
