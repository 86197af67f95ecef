"""PgBouncer before PostgreSQL: in transaction mode no session is anybody's own, and four of them serve everybody."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.conformance.player import all_scenarios, play
from tests.conformance.ports import HttpPort
from tests.deployed.test_tls import make_certificate
from tests.faults.happenings import Fault, before_database, end_sessions, kill_postgresql
from tests.faults.play import play as play_fault
from tests.faults.play import postgresql_to_break
from tests.faults.proxy import LoseCommits
from tests.faults.stage import SHORT, Stage
from tests.hostile.asking import done, listed
from tests.hostile.slowness import slow
from tests.model import commands as make
from tests.model.wire import Wire
from tests.support.pgbouncer import PgBouncer, running_pgbouncer
from tests.support.postgresql import LocalPostgresql
from tests.support.server import Server, running_server

TOLD = {"RUNHOLD_TRANSACTION_POOLER": "true"}


@pytest.fixture(scope="module")
def postgresql() -> Iterator[LocalPostgresql]:
    """A server that the tests here may break."""
    server = postgresql_to_break(durable=False)
    yield server
    server.close()


@pytest.fixture
def url(postgresql: LocalPostgresql) -> Iterator[str]:
    """An empty database."""
    made = postgresql.new_database_url()
    yield made
    postgresql.drop_database(made)


def test_every_public_scenario_passes_in_transaction_mode(url: str) -> None:
    with running_pgbouncer(url) as pooler, running_server(pooler.through(url), TOLD) as server:
        for gathered in (False, True):
            port = HttpPort(server.url, gathered=gathered)
            for _, scenario in all_scenarios():
                assert play(port, scenario) == len(scenario["steps"])
            port.close()


def test_replicas_that_start_together_share_four_sessions(url: str) -> None:
    with running_pgbouncer(url) as pooler:
        servers = [Server(pooler.through(url), TOLD) for _ in range(3)]
        try:
            for server in servers:
                server.start(wait=False)
            for server in servers:
                server.wait_until_ready()
            with Wire(servers[0].url) as wire:
                done(wire, make.create("s"), make.start("r", session="s"))

            def write(place: int) -> None:
                with Wire(servers[place % 3].url) as wire:
                    for number in range(20):
                        done(wire, make.append("r", session="s", key=f"{place} {number}"))

            with ThreadPoolExecutor(12) as pool:
                list(pool.map(write, range(12)))
            with Wire(servers[2].url) as wire:
                ids = [record["id"] for record in listed(wire, "list_session_run_records", "s")]
            assert ids == [str(number + 1) for number in range(1 + 12 * 20)]
        finally:
            for server in servers:
                server.close()


async def kill_pooler(stage: Stage) -> None:
    """Kill -9 PgBouncer, and start it again."""
    assert stage.pooler is not None
    await asyncio.to_thread(stage.pooler.kill)
    await asyncio.sleep(0.5)
    await asyncio.to_thread(stage.pooler.start)
    await stage.over()


@pytest.mark.parametrize(
    "happen",
    [before_database(lambda: LoseCommits(0.3)), end_sessions, kill_postgresql, kill_pooler],
    ids=["answer to COMMIT lost", "database ends all sessions", "database killed", "pooler killed"],
)
def test_nothing_is_lost_or_doubled_behind_a_pooler(postgresql: LocalPostgresql, happen: object) -> None:
    assert callable(happen)
    fault = Fault("behind a pooler", ("postgresql",), happen, TOLD)
    with running_pgbouncer(postgresql.url) as pooler:
        outcome = asyncio.run(play_fault(fault, "postgresql", SHORT, postgresql, pooler))
    assert outcome.is_sound, outcome


def test_tls_to_the_pooler(url: str, tmp_path: Path) -> None:
    certificate, key = make_certificate(tmp_path, "pooler")
    pooler = PgBouncer(url)
    try:
        pooler.set("client_tls_sslmode", "require")
        pooler.set("client_tls_cert_file", str(pooler.own(certificate)))
        pooler.set("client_tls_key_file", str(pooler.own(key)))
        pooler.start()
        with (
            running_server(f"{pooler.through(url)}?sslmode=verify-full&sslrootcert={certificate}", TOLD) as server,
            Wire(server.url) as wire,
        ):
            done(wire, make.create("s"), make.start("r", session="s"), make.append("r", session="s"))
    finally:
        pooler.close()


def test_a_service_that_is_not_told_of_the_pooler_says_what_is_wrong(url: str) -> None:
    with running_pgbouncer(url) as pooler:
        environment = {**os.environ, "RUNHOLD_DATABASE_URL": pooler.through(url)}
        ended = subprocess.run(
            [sys.executable, "-m", "runhold", "check"], env=environment, capture_output=True, text=True, timeout=60
        )
    assert ended.returncode == 1
    assert "RUNHOLD_TRANSACTION_POOLER" in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1


def test_in_session_mode_a_server_that_is_at_work_is_waited_for(url: str) -> None:
    """The number that a pooler tells of a session is not its server's: nothing may be concluded from it."""
    settings = {"pool_mode": "session", "default_pool_size": "20", "ignore_startup_parameters": "options"}
    with (
        running_pgbouncer(url, settings) as pooler,
        running_server(pooler.through(url)) as server,
        Wire(server.url) as wire,
    ):
        done(wire, make.create("s"), make.start("r", session="s"))
        late = make.append("r", session="s")
        late.body["type"] = "usage"
        with slow(url, "records", "INSERT", 3.0, "NEW.type = 'usage'"):
            begun = time.monotonic()
            assert done(wire, late)["inserted"]
            assert time.monotonic() > begun + 3
