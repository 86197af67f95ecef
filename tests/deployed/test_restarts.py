"""PostgreSQL is restarted, stopped, or ends idle sessions, under a service that stays up."""

from __future__ import annotations

import time
from collections.abc import Iterator

import httpx
import psycopg
import pytest

from tests.hostile.asking import done, listed
from tests.model import commands as make
from tests.model.model import Call
from tests.model.wire import Wire, checked_problem
from tests.support.postgresql import LocalPostgresql, own_postgresql
from tests.support.server import Server, running_server


@pytest.fixture(scope="module")
def postgresql() -> Iterator[LocalPostgresql]:
    """A server that the tests here may stop."""
    with own_postgresql() as server:
        yield server


@pytest.fixture
def url(postgresql: LocalPostgresql) -> Iterator[str]:
    """An empty database."""
    made = postgresql.new_database_url()
    yield made
    postgresql.drop_database(made)


@pytest.fixture
def server(url: str) -> Iterator[Server]:
    """A service on it."""
    with running_server(url) as server:
        yield server


def test_a_restart_while_nobody_asks_is_not_noticed(postgresql: LocalPostgresql, server: Server) -> None:
    with Wire(server.url) as wire:
        done(wire, make.create("s"), make.start("r", session="s"))
        for number in range(3):
            postgresql.restart()
            assert done(wire, make.append("r", session="s", key=f"k{number}"))["id"] == str(number + 2)
            assert len(listed(wire, "list_run_records", "r")) == number + 2


def test_idle_sessions_that_the_database_ends_are_not_noticed(url: str, server: Server) -> None:
    with psycopg.connect(url, autocommit=True) as administrator:
        administrator.execute("ALTER ROLE CURRENT_USER SET idle_session_timeout = '300ms'")
    try:
        server.restart()
        with Wire(server.url) as wire:
            done(wire, make.create("s"), make.start("r", session="s"))
            for number in range(4):
                time.sleep(0.5)
                assert done(wire, make.append("r", session="s", key=f"k{number}"))["id"] == str(number + 2)
                assert done(wire, make.load("r"))["record_count"] == number + 2
    finally:
        with psycopg.connect(url, autocommit=True) as administrator:
            administrator.execute("ALTER ROLE CURRENT_USER RESET idle_session_timeout")


def test_while_the_database_is_down_all_is_503_and_soon_after_it_is_back_all_is_well(
    postgresql: LocalPostgresql, server: Server
) -> None:
    with Wire(server.url) as wire, httpx.Client(base_url=server.url, trust_env=False) as http:
        done(wire, make.create("s"), make.start("r", session="s"))
        postgresql.stop()
        try:
            for _ in range(5):
                for call in (make.append("r", session="s"), make.load("r"), Call("list_session_run_records", "s")):
                    begun = time.monotonic()
                    answer = wire.call(call)
                    assert (answer.status, answer.code) == (503, "unavailable")
                    assert time.monotonic() < begun + 1
            ready = http.get("/readyz")
            assert ready.status_code == 503
            checked_problem(ready)
            assert http.get("/livez").status_code == 200
        finally:
            postgresql.start()
        back = time.monotonic()
        while wire.call(make.append("r", session="s")).status != 200:
            assert time.monotonic() < back + 5
            time.sleep(0.05)
        assert [record["id"] for record in listed(wire, "list_run_records", "r")] == ["1", "2"]
        assert http.get("/readyz").status_code == 200


def test_a_service_that_finds_no_database_says_so_in_one_line(postgresql: LocalPostgresql, url: str) -> None:
    server = Server(url, {"RUNHOLD_AUTO_MIGRATE": "off"})
    postgresql.stop()
    try:
        server.start(wait=False)
        deadline = time.monotonic() + 30
        while server.is_running and time.monotonic() < deadline:
            time.sleep(0.02)
        said = server.output().strip()
        assert not server.is_running
        assert "PostgreSQL cannot be used" in said
        assert len(said.splitlines()) == 1
    finally:
        postgresql.start()
        server.close()
