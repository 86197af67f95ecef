"""Where a fault happens: a database, a service on it, proxies before both, 32 writers and a few readers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit, urlunsplit

from tests.faults.doors import Door, HttpDoor, Later, StoreDoor
from tests.faults.ledger import Ledger
from tests.faults.proxy import Proxy
from tests.faults.writers import Follower, Writer
from tests.model import commands as make
from tests.support.pgbouncer import PgBouncer
from tests.support.postgresql import LocalPostgresql
from tests.support.server import Server

WRITERS = 32
SESSIONS = ["session 0", "session 1"]
LONGEST_RETURN_S = 5.0
"""How soon after the database accepts connections a command must succeed."""


@dataclass(frozen=True)
class Pace:
    """How long a fault is played."""

    hold_s: float
    """How long it lasts, where it lasts."""
    rounds: int
    """How often it happens, where it is over at once."""
    around_s: float
    """How long all is well before it, and between its rounds."""


SHORT = Pace(hold_s=1.5, rounds=1, around_s=0.5)
FULL = Pace(hold_s=8.0, rounds=3, around_s=2.0)


@dataclass
class Stage:
    """What a fault can lay its hands on."""

    pace: Pace
    ledger: Ledger
    server: Server
    clients: Proxy
    """Between the writers and the service."""
    database: Proxy | None = None
    """Between the service and PostgreSQL."""
    postgresql: LocalPostgresql | None = None
    pooler: PgBouncer | None = None
    """Between that and PostgreSQL, where there is one."""
    direct_url: str = ""
    """The database itself, past the proxy."""
    doors: list[Door] = field(default_factory=list)
    over_at: list[float] = field(default_factory=list)
    """When the database accepted connections again, or whatever was wrong was mended, by ``time.monotonic()``."""

    @property
    def file(self) -> Path:
        """SQLite's file."""
        return Path(self.direct_url.removeprefix("sqlite:///"))

    async def hold(self) -> None:
        """Let the fault last."""
        await asyncio.sleep(self.pace.hold_s)

    async def until(self, is_so: Callable[[], bool]) -> None:
        """Wait until something is so; for some time, if it never is."""
        deadline = time.monotonic() + 4 * LONGEST_RETURN_S
        while not is_so():
            if time.monotonic() > deadline:
                return
            await asyncio.sleep(0.02)

    async def over(self) -> None:
        """Note that all is well again, and wait until commands succeed."""
        now = time.monotonic()
        self.over_at.append(now)
        await self.until(lambda: self.ledger.first_after(now) is not None)
        await asyncio.sleep(self.pace.around_s)

    def longest_return(self) -> float | None:
        """The longest time from the end of a fault to the next success, in seconds; None when none came."""
        returns = [self.ledger.first_after(moment) for moment in self.over_at]
        return None if None in returns else max(filter(None, returns), default=0.0)


@asynccontextmanager
async def set_stage(
    pace: Pace,
    folder: Path,
    postgresql: LocalPostgresql | None,
    environment: Mapping[str, str],
    pooler: PgBouncer | None = None,
) -> AsyncIterator[Stage]:
    """Start everything but the writers; all of it is gone at the end of the block."""
    ledger = Ledger()
    async with AsyncExitStack() as stack:
        database = None
        if postgresql is None:
            url = direct_url = f"sqlite:///{folder}/store.db"
        else:
            direct_url = await asyncio.to_thread(postgresql.new_database_url, "faults")
            stack.push_async_callback(asyncio.to_thread, postgresql.drop_database, direct_url)
            database = await stack.enter_async_context(Proxy(pooler.port if pooler else postgresql.port))
            url = through(direct_url, database.port)
        server = Server(url, {"RUNHOLD_LOG_LEVEL": "warning", **environment})
        stack.callback(server.close)
        await asyncio.to_thread(server.start)
        clients = await stack.enter_async_context(Proxy(server.port))
        yield Stage(pace, ledger, server, clients, database, postgresql, pooler, direct_url)


def through(url: str, port: int) -> str:
    """The same database at another port."""
    parts = urlsplit(url)
    where, _, _ = parts.netloc.rpartition(":")
    return urlunsplit(parts._replace(netloc=f"{where}:{port}"))


class Work:
    """Writers and readers at work on a stage, from ``async with`` on."""

    def __init__(self, stage: Stage, payload_bytes: int) -> None:
        self._url, self._ledger = f"http://127.0.0.1:{stage.clients.port}", stage.ledger
        self._stage = stage
        self._over, self._done = asyncio.Event(), asyncio.Event()
        self._writing: list[asyncio.Task[None]] = []
        self._reading: list[asyncio.Task[None]] = []
        follow = partial(Follower, self._url, self._ledger, "list_session_run_records")
        self.followers = [
            follow(SESSIONS[0], limit=100, wait_ms=500),
            follow(SESSIONS[1], limit=7),
            follow(SESSIONS[1], limit=1000),
        ]
        stage.doors += [_door(number, self._url, self._ledger) for number in range(WRITERS)]
        # Three in four write to the two sessions, the others runs that belong to none.
        self._writers = [
            Writer(
                f"writer {number}",
                door,
                self._ledger,
                "" if number % 4 == 3 else SESSIONS[number % 2],
                gives_up=number % 8 < 3,
                payload_bytes=payload_bytes,
            )
            for number, door in enumerate(stage.doors)
        ]

    async def __aenter__(self) -> Self:
        admin = HttpDoor(self._url, self._ledger)
        for session in SESSIONS:
            assert not isinstance(await admin.get(make.create(session)), Later)
        await admin.close()
        self._writing = [asyncio.create_task(writer.write(self._over)) for writer in self._writers]
        self._reading = [asyncio.create_task(follower.follow(self._done)) for follower in self.followers]
        await asyncio.sleep(self._stage.pace.around_s)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for task in (*self._writing, *self._reading):
            task.cancel()
        await asyncio.gather(*self._writing, *self._reading, return_exceptions=True)
        for door in self._stage.doors:
            await door.close()

    async def stop_writing(self) -> None:
        """Let the writers end what they are about; what has no answer by then stays pending."""
        self._over.set()
        await asyncio.gather(*self._writing)

    async def read_to_the_end(self) -> None:
        """Let the readers go on to the end of what is there now."""
        self._done.set()
        async with asyncio.timeout(60):
            await asyncio.gather(*self._reading)


def _door(number: int, url: str, ledger: Ledger) -> Door:
    if number % 8 == 7:
        return StoreDoor(url, ledger)
    return HttpDoor(url, ledger, together=number % 4 == 2)


async def _stopped(tasks: list[asyncio.Task[None]], seconds: float) -> None:
    _, late = await asyncio.wait(tasks, timeout=seconds)
    for task in late:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
