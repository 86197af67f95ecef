"""What benchmarks run on: durable databases, the service and its limits as processes of their own."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Self

import httpx
import psycopg

from benchmarks.figures import Load
from benchmarks.wrk import APPEND, wrk
from runhold_client import HttpStore, RunRecord, RunStart
from tests.support.ports import free_port
from tests.support.postgresql import LocalPostgresql, own_postgresql
from tests.support.server import Server, running_server

AGENT = "agent-" + "a" * 54
AT = datetime(2026, 3, 1, 10, 0, 0, 123_000, tzinfo=UTC)


@dataclass(frozen=True)
class Run:
    """A run that was started for a measurement; ids of 60 bytes. ``session_id`` is ``""`` for a one-shot run."""

    run_id: str
    session_id: str


class Stage:
    """The processes of one call of the benchmarks; a context manager that ends them.

    Args:
        pairs: how often each thing is measured.
        seconds: how long each time.
    """

    def __init__(self, pairs: int = 5, seconds: float = 3.0) -> None:
        self.pairs = pairs
        self.seconds = seconds
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @cached_property
    def postgresql(self) -> LocalPostgresql:
        """A PostgreSQL that waits for the disk."""
        settings = {"shared_buffers": "512MB", "max_wal_size": "4GB"}
        return self._stack.enter_context(own_postgresql(durable=True, settings=settings))

    @cached_property
    def raw_url(self) -> str:
        """A database for the raw limits."""
        return self.postgresql.new_database_url("raw")

    def postgresql_version(self) -> str:
        """Which PostgreSQL, and that it is durable."""
        with psycopg.connect(self.postgresql.url) as connection:
            shown = [
                connection.execute(f"SHOW {name}").fetchone()
                for name in ("server_version", "fsync", "synchronous_commit")
            ]
        version, fsync, commit = [row[0] for row in shown if row]
        return f"PostgreSQL {version}, fsync={fsync}, synchronous_commit={commit}"

    @contextmanager
    def service(self, database: str, environment: Mapping[str, str] | None = None) -> Iterator[Server]:
        """The service on a new database, ``postgresql`` or ``sqlite``."""
        if database == "postgresql":
            url = self.postgresql.new_database_url("bench")
            with running_server(url, environment) as server:
                yield server
            self.postgresql.drop_database(url)
            return
        # Not in memory: what the disk costs is part of the figure.
        with (
            tempfile.TemporaryDirectory(prefix="runhold-bench-", dir=Path.cwd()) as folder,
            running_server(f"sqlite:///{folder}/runhold.db", environment) as server,
        ):
            yield server

    @contextmanager
    def floor(self) -> Iterator[str]:
        """The base URL of L4, the endpoint that does nothing."""
        port = free_port()
        command = ["uvicorn", "benchmarks.floor:app", "--port", str(port), "--loop", "uvloop", "--http", "httptools"]
        process = subprocess.Popen([sys.executable, "-m", *command, "--no-access-log", "--log-level", "warning"])
        try:
            url = f"http://127.0.0.1:{port}"
            self._wait(url)
            yield url
        finally:
            process.terminate()
            process.wait(30)

    def raw(self, connections: int) -> Load:
        """L1: raw inserts, one a commit."""
        command = [sys.executable, "-m", "benchmarks.raw", self.raw_url, str(connections), str(self.seconds)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return Load(**json.loads(done.stdout))

    def appends(self, url: str, runs: list[Run], *, connections: int = 16, payload_bytes: int = 1024) -> Load:
        """Append records of 1 KiB to these runs, as fast as it goes."""
        prefix = secrets.token_hex(4)
        request = APPEND % {
            "runs": ", ".join(f'{{id="{run.run_id}", session="{run.session_id}"}}' for run in runs),
            "agent": AGENT,
            "prefix": prefix,
            "authorization": "",
        }
        seed = int(prefix, 16) % 1_000_003
        return wrk(url, request, connections=connections, seconds=self.seconds, seed=seed, payload_bytes=payload_bytes)

    @staticmethod
    def _wait(url: str) -> None:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            try:
                if httpx.get(f"{url}/readyz", trust_env=False).status_code == 200:
                    return
            except httpx.TransportError:
                time.sleep(0.05)
        raise RuntimeError("the endpoint that does nothing did not start")


def start_runs(url: str, sessions: int, runs_each: int = 1, *, token: str | None = None) -> list[Run]:
    """Start running runs in new sessions; all ids are 60 bytes long."""
    made = []
    with HttpStore(url, token=token) as store:
        for _ in range(sessions):
            session_id = "session-" + secrets.token_hex(26)
            store.create_session(session_id)
            for _ in range(runs_each):
                run = RunStart(AGENT, "run-" + secrets.token_hex(28), AT, session_id=session_id)
                started, stopped = lifecycle(run)
                store.start_root_run(run, started, stopped)
                made.append(Run(run.run_id, session_id))
    return made


def lifecycle(run: RunStart) -> tuple[RunRecord, RunRecord]:
    """The records with which a run starts: started, and canceled for an ended session."""
    stopped = '{"status":"canceled","phase":"canceled","cancellation":{"reason":"session_ended"}}'
    return (
        RunRecord("started", run.run_id, run.agent_id, "run_started", "{}", run.started_at, session_id=run.session_id),
        RunRecord(
            "stopped", run.run_id, run.agent_id, "run_completed", stopped, run.started_at, session_id=run.session_id
        ),
    )


def cpu_seconds(*pids: int) -> float:
    """The processor time that processes have used so far, where the system tells it."""
    ticks = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")
