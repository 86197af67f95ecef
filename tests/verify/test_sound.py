"""What the service itself stores is sound: after the public scenarios, after many odd commands, and meanwhile."""

from __future__ import annotations

import asyncio
import threading
import time
import uuid
from contextlib import closing, suppress
from datetime import UTC, datetime

from runhold.store.snapshots import open_database
from runhold.verify.walk import Walk
from runhold_client import AsyncHttpStore, ContractError, HttpStore, RunRecord, RunStart, TerminalStatus
from tests.conformance.player import all_scenarios, play
from tests.conformance.ports import HttpPort
from tests.model.choose import Seeded
from tests.model.generator import Generator, Pools
from tests.model.model import Model
from tests.races.histories import Callers, History
from tests.support.server import Server
from tests.verify.conftest import findings

AT = datetime(2026, 3, 1, 10, tzinfo=UTC)
ROUNDS, COMMANDS = 12, 60


def test_the_public_scenarios_leave_a_sound_database(own_server: Server) -> None:
    port = HttpPort(own_server.url)
    for _, scenario in all_scenarios():
        play(port, scenario)
    port.close()
    assert findings(own_server.database_url) == []


def test_odd_commands_leave_a_sound_database(own_server: Server) -> None:
    with Callers([own_server], 1) as callers:
        for seed in range(ROUNDS):
            u = f"{uuid.uuid4().hex[:10]}-"
            pools = Pools([u + "s", u + "t"], [u + "1", u + "2", u + "3", u + "4"], [u + "a", u + "b"], is_alone=False)
            generator = Generator(Seeded(seed), pools, Model())
            for _ in range(COMMANDS):
                call = generator.command()
                callers.alone(History(), [call])
                generator.model.call(call.operation, call.path, call.query, call.body)
    assert findings(own_server.database_url) == []


def test_nothing_is_found_while_others_write_and_purge(own_server: Server) -> None:
    stop = threading.Event()
    writer = threading.Thread(target=lambda: asyncio.run(write_and_purge(own_server.url, stop)))
    writer.start()
    records = 0
    try:
        until = time.monotonic() + 4
        while time.monotonic() < until or records < 10:
            with closing(open_database(own_server.database_url)) as database:
                walk = Walk(database)
                assert list(walk.everything()) == []
                records = max(records, walk.tally.records)
    finally:
        stop.set()
        writer.join()
    assert records > 10
    assert findings(own_server.database_url) == []


async def write_and_purge(url: str, stop: threading.Event) -> None:
    async with AsyncHttpStore(url) as store:
        await asyncio.gather(*[live(store, f"{number}", stop) for number in range(4)])


async def live(store: AsyncHttpStore, name: str, stop: threading.Event) -> None:
    life = 0
    while not stop.is_set():
        life += 1
        session_id = f"{name}-{life}"

        def record(key: str, kind: str, payload: str, session_id: str = session_id) -> RunRecord:
            return RunRecord(key, session_id, "a", kind, payload, AT, session_id=session_id)

        stopped = '{"status":"canceled","phase":"canceled","cancellation":{"reason":"session_ended"}}'
        await store.create_session(session_id)
        started = record("started", "run_started", "{}")
        run = RunStart("a", session_id, AT, session_id=session_id)
        await store.start_root_run(run, started, record("stopped", "run_completed", stopped))
        for number in range(12):
            await store.append_run_record(record(f"k{number}", "usage", "{}"))
        done = record("done", "run_completed", '{"status":"success","phase":"completed"}')
        await store.record_run_terminal(session_id, TerminalStatus.COMPLETED, done)
        await store.end_session(session_id)
        if life % 2:
            with suppress(ContractError):
                await store.purge_session(session_id)


def test_one_session_is_verified_alone(own_server: Server) -> None:
    with HttpStore(own_server.url) as store:
        store.create_session("one")
        store.create_session("other")
    with closing(open_database(own_server.database_url)) as database:
        walk = Walk(database)
        assert list(walk.session("default", "one")) == []
        assert walk.tally.sessions == 1
