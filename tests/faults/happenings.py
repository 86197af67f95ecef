"""The faults themselves: each breaks something while the writers write, and mends it."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import LiteralString

import psycopg

from tests.faults.proxy import CutRequests, Delay, LoseAnswers, LoseCommits, Mode, Proxy, Stall
from tests.faults.stage import Stage
from tests.support.postgresql import LocalPostgresql
from tests.support.unprivileged import OTHER_USER, python_for_anyone

BOTH, POSTGRESQL, SQLITE = ("sqlite", "postgresql"), ("postgresql",), ("sqlite",)

_NO_LIMIT = -1
_SET_FILE_LIMIT = (
    "import resource, sys\n"
    "for pid in sys.argv[2:]: resource.prlimit(int(pid), resource.RLIMIT_FSIZE, (int(sys.argv[1]), -1))"
)


@dataclass(frozen=True)
class Fault:
    """One line of the table, for each database that it can happen to."""

    name: str
    databases: tuple[str, ...]
    happen: Callable[[Stage], Awaitable[None]]
    environment: Mapping[str, str] = field(default_factory=dict)
    """Settings of the service that the fault needs; it runs with its defaults else."""
    payload_bytes: int = 400


async def nothing(stage: Stage) -> None:
    """All is well: what the other lines are compared with."""
    await stage.hold()
    await stage.over()


def between_clients(mode: Callable[[], Mode]) -> Callable[[Stage], Awaitable[None]]:
    """Spoil what passes between clients and service."""

    async def happen(stage: Stage) -> None:
        await _spoil(stage, stage.clients, mode())

    return happen


def before_database(mode: Callable[[], Mode]) -> Callable[[Stage], Awaitable[None]]:
    """Spoil what passes between service and PostgreSQL."""

    async def happen(stage: Stage) -> None:
        assert stage.database is not None
        await _spoil(stage, stage.database, mode())

    return happen


async def _spoil(stage: Stage, proxy: Proxy, mode: Mode) -> None:
    proxy.mode = mode
    await stage.hold()
    proxy.mode = Mode()
    await stage.over()


async def hang_up(stage: Stage) -> None:
    """A third of the clients close their connection before the answer."""
    for door in stage.doors:
        door.hang_up_share = 0.3
    await stage.hold()
    for door in stage.doors:
        door.hang_up_share = 0.0
    await stage.over()


async def kill_service(stage: Stage) -> None:
    """Kill -9 the service, and start it again."""
    for _ in range(stage.pace.rounds):
        stage.server.kill()
        await asyncio.sleep(0.2)
        await asyncio.to_thread(stage.server.start)
        await stage.over()


async def kill_postgresql(stage: Stage) -> None:
    """Kill -9 all processes of PostgreSQL, and start it again a little later."""
    postgresql = _own(stage)
    for _ in range(stage.pace.rounds):
        await asyncio.to_thread(postgresql.kill)
        await asyncio.sleep(stage.pace.hold_s / 4)
        await asyncio.to_thread(postgresql.start)
        await stage.over()


async def restart_postgresql(stage: Stage) -> None:
    """Restart PostgreSQL as its administrator does."""
    for _ in range(stage.pace.rounds):
        await asyncio.to_thread(_own(stage).restart)
        await stage.over()


async def freeze_postgresql(stage: Stage) -> None:
    """All processes of PostgreSQL stand still."""
    postgresql = _own(stage)
    await asyncio.to_thread(postgresql.pause)
    try:
        await stage.hold()
    finally:
        await asyncio.to_thread(postgresql.resume)
    await stage.over()


async def bury_connections(stage: Stage) -> None:
    """The database's connections stay open and nothing comes back on them any more; new ones work."""
    assert stage.database is not None
    for _ in range(stage.pace.rounds):
        assert stage.database.bury()
        # What was answered just before may still be on its way to a writer.
        await asyncio.sleep(0.3)
        await stage.over()


async def end_sessions(stage: Stage) -> None:
    """An administrator ends all of the service's sessions, again and again."""
    end = time.monotonic() + stage.pace.hold_s
    async with await psycopg.AsyncConnection.connect(stage.direct_url, autocommit=True) as administrator:
        while time.monotonic() < end:
            await administrator.execute(_END_SESSIONS)
            await asyncio.sleep(0.2)
    await stage.over()


async def take_all_connections(stage: Stage) -> None:
    """Others take every connection that PostgreSQL has, those of the service, too."""
    taken: list[psycopg.AsyncConnection] = []
    administrator = await psycopg.AsyncConnection.connect(stage.direct_url, autocommit=True)
    try:
        end: float | None = None
        # A session that is just ending is no longer listed, but still has its place: whatever gets free is taken, too.
        while end is None or time.monotonic() < end:
            try:
                taken.append(await psycopg.AsyncConnection.connect(stage.direct_url))
            except psycopg.OperationalError:
                if end is None and await _clients(administrator) == len(taken) + 1:
                    end = time.monotonic() + stage.pace.hold_s
                await administrator.execute(_END_SESSIONS)
                await asyncio.sleep(0.02)
    finally:
        for connection in (*taken, administrator):
            await connection.close()
    await stage.over()


async def _clients(administrator: psycopg.AsyncConnection) -> int:
    """How many connections clients have, those that are only just being made included."""
    found = await administrator.execute("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'")
    row = await found.fetchone()
    return row[0] if row else 0


async def cut_off(stage: Stage) -> None:
    """PostgreSQL cannot be reached: connections are made, but nothing ever comes back on them."""
    assert stage.database is not None
    end = time.monotonic() + stage.pace.hold_s
    while time.monotonic() < end:
        stage.database.bury()
        await asyncio.sleep(0.005)
    await stage.over()


_END_SESSIONS: LiteralString = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE application_name = 'runhold' AND datname = current_database()"
)


async def fill_disk_of_postgresql(stage: Stage) -> None:
    """No file of PostgreSQL may grow beyond the size of a segment of its log, as if the disk were full."""
    postgresql = _own(stage)
    refused = stage.ledger.refused
    await asyncio.to_thread(_limit_files, 16 << 20, postgresql.processes)
    # No table is as large as that at first.
    await stage.until(lambda: stage.ledger.refused > refused)
    await stage.hold()
    await asyncio.to_thread(_limit_files, _NO_LIMIT, postgresql.processes)
    await stage.over()


async def fill_disk_of_sqlite(stage: Stage) -> None:
    """No file of the service may grow beyond 64 KiB, as if the disk were full."""
    await asyncio.to_thread(_limit_files, 64 << 10, [stage.server.pid], as_owner=False)
    await stage.hold()
    await asyncio.to_thread(_limit_files, _NO_LIMIT, [stage.server.pid], as_owner=False)
    await stage.over()


async def lock_file(stage: Stage) -> None:
    """Another process holds SQLite's file, longer than the service waits for it."""
    with closing(sqlite3.connect(stage.file, isolation_level=None, timeout=30)) as other:
        other.execute("BEGIN IMMEDIATE")
        await stage.hold()
        other.execute("ROLLBACK")
    await stage.over()


def _own(stage: Stage) -> LocalPostgresql:
    assert stage.postgresql is not None
    return stage.postgresql


def _limit_files(size: int, pids: list[int], *, as_owner: bool = True) -> None:
    """Set how large files may grow that these processes, and their children to come, write."""
    user = OTHER_USER if as_owner else None
    command = [str(python_for_anyone() if user else sys.executable), "-I", "-c", _SET_FILE_LIMIT]
    subprocess.run([*command, str(size), *map(str, pids)], check=True, user=user, group=user, cwd="/")


_FULL_DISKS = (
    Fault("disk full", POSTGRESQL, fill_disk_of_postgresql, payload_bytes=40_000),
    Fault("disk full", SQLITE, fill_disk_of_sqlite),
)
FAULTS = (
    Fault("none", BOTH, nothing),
    Fault("service killed with -9", BOTH, kill_service),
    Fault("client hangs up", BOTH, hang_up),
    Fault("answer to the client lost", BOTH, between_clients(lambda: LoseAnswers(0.1))),
    Fault("client's request cut in the middle", BOTH, between_clients(lambda: CutRequests(0.1))),
    Fault("client's network slow", BOTH, between_clients(lambda: Delay(0.2))),
    Fault("client's network stands still", BOTH, between_clients(Stall)),
    # Only Linux sets the limits of a process that runs.
    *(_FULL_DISKS if sys.platform == "linux" else ()),
    Fault("file locked by another process", SQLITE, lock_file, {"RUNHOLD_LOCK_TIMEOUT_MS": "500"}),
    Fault("database killed with -9", POSTGRESQL, kill_postgresql),
    Fault("database restarted", POSTGRESQL, restart_postgresql),
    Fault("database frozen", POSTGRESQL, freeze_postgresql),
    Fault("answer to COMMIT lost", POSTGRESQL, before_database(lambda: LoseCommits(0.3))),
    Fault("database's answer lost", POSTGRESQL, before_database(lambda: LoseAnswers(0.1))),
    Fault("request to the database cut in the middle", POSTGRESQL, before_database(lambda: CutRequests(0.1))),
    Fault("database's network slow", POSTGRESQL, before_database(lambda: Delay(0.1))),
    Fault("database's network stands still", POSTGRESQL, before_database(Stall)),
    Fault("database's connections dead, but open", POSTGRESQL, bury_connections),
    Fault("database cut off by the network", POSTGRESQL, cut_off),
    Fault("database ends all sessions", POSTGRESQL, end_sessions),
    Fault("no connection left in the database", POSTGRESQL, take_all_connections),
    Fault(
        "one connection for each purpose",
        POSTGRESQL,
        nothing,
        {"RUNHOLD_POOL_SIZE": "1", "RUNHOLD_LANES": "1", "RUNHOLD_POOL_TIMEOUT_MS": "1"},
    ),
)
