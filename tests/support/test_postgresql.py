"""The tests' own PostgreSQL: what tests of faults rely on, and that nothing of it is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import LiteralString
from urllib.parse import urlsplit

import psycopg
import pytest

from tests.support.checkout import ROOT
from tests.support.postgresql import LocalPostgresql, own_postgresql, started_postgresql


@pytest.fixture(scope="module")
def postgresql() -> Iterator[LocalPostgresql]:
    with own_postgresql() as server:
        yield server


def answer(url: str, query: LiteralString) -> object:
    with psycopg.connect(url, connect_timeout=10) as connection:
        row = connection.execute(query).fetchone()
        assert row
        return row[0]


def test_a_new_database_is_empty_and_compares_text_by_bytes(postgresql: LocalPostgresql) -> None:
    url = postgresql.new_database_url()
    assert answer(url, "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace") == 0
    assert answer(url, "SHOW server_encoding") == "UTF8"
    assert answer(url, "SELECT 'Z' < 'a' AND 'a' < 'ä'") is True
    postgresql.drop_database(url)
    with pytest.raises(psycopg.OperationalError):
        answer(url, "SELECT 1")


def test_a_wrong_password_is_refused(postgresql: LocalPostgresql) -> None:
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(f"postgresql://runhold:wrong@127.0.0.1:{postgresql.port}/postgres", connect_timeout=10)


@pytest.mark.parametrize("how", ["restart", "kill"])
def test_what_was_committed_survives_a_restart_and_kill_9(postgresql: LocalPostgresql, how: str) -> None:
    url = postgresql.new_database_url()
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 7 AS value")
    if how == "restart":
        postgresql.restart()
    else:
        postgresql.kill()
        with pytest.raises(psycopg.OperationalError):
            answer(url, "SELECT 1")
        postgresql.start()
    assert answer(url, "SELECT value FROM kept") == 7


def test_a_paused_server_answers_only_when_it_goes_on(postgresql: LocalPostgresql) -> None:
    with psycopg.connect(postgresql.url) as connection, ThreadPoolExecutor(1) as executor:
        postgresql.pause()
        answered = executor.submit(connection.execute, "SELECT 1")
        with pytest.raises(TimeoutError):
            answered.result(0.3)
        postgresql.resume()
        assert answered.result(10).fetchone() == (1,)


def test_a_server_that_is_named_is_used_and_left_as_it_was(
    postgresql: LocalPostgresql, monkeypatch: pytest.MonkeyPatch
) -> None:
    databases = "SELECT string_agg(datname, ' ' ORDER BY datname) FROM pg_database"
    before = answer(postgresql.url, databases)
    monkeypatch.setenv("TEST_POSTGRESQL_URL", postgresql.url)
    named = started_postgresql.__wrapped__()
    url = named.new_database_url()
    assert urlsplit(url).port == postgresql.port
    with psycopg.connect(url):
        # Also with somebody still connected.
        named.drop_all()
    assert answer(postgresql.url, databases) == before


@pytest.mark.parametrize("version", ["18", "16"])
def test_each_version_of_the_wheel_starts(version: str) -> None:
    with own_postgresql(version=version, durable=True) as server:
        assert str(answer(server.url, "SHOW server_version")).startswith(f"{version}.")
        assert answer(server.url, "SHOW fsync") == "on"


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda how: how.name)
def test_nothing_is_left_however_the_process_that_started_it_ends(how: signal.Signals, tmp_path: Path) -> None:
    for folder in (tmp_path, *tmp_path.parents):
        if folder.owner() == tmp_path.owner() and not folder.stat().st_mode & 0o001:
            folder.chmod(folder.stat().st_mode | 0o011)
    command = [sys.executable, "-m", "tests.support.postgresql"]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as starter:
        assert starter.stdout
        url = starter.stdout.readline().strip()
        assert answer(url, "SELECT 1") == 1
        assert len(list(tmp_path.iterdir())) == 1
        starter.send_signal(how)
        starter.wait(20)
    deadline = time.monotonic() + 15
    while list(tmp_path.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(url, connect_timeout=5)
    assert urlsplit(url).hostname == "127.0.0.1"
