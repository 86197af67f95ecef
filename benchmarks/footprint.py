"""What it takes: bytes on disk a record, memory of a process under load, and the time from start to ready."""

from __future__ import annotations

import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path

import httpx
import psycopg

from benchmarks.figures import figure
from benchmarks.fill import append_items, fill
from benchmarks.report import Table
from benchmarks.stage import AGENT, Stage, start_runs
from tests.support.server import Server

RECORDS = 40_000
PAGE_BYTES = 8 * 1024 * 1024
READERS = 8


def run(stage: Stage) -> Table:
    """Measure both databases."""
    table = Table("footprint", "what", "PostgreSQL", "SQLite")
    disk, memory, start = [], [], []
    for database in ("postgresql", "sqlite"):
        with stage.service(database) as server:
            disk.append(f"{_disk(server) / 1024:.3f} KiB")
            idle, loaded, paging = _memory(stage, server)
            memory.append(f"{idle:.0f} / {loaded:.0f} / {paging:.0f} MiB")
            start.append(f"{figure([_start(server) for _ in range(stage.pairs)]):.2f} s")
    table.row(f"on disk a record of 1 KiB, all indexes and the digest ({RECORDS:,} records)", *disk)
    table.row(f"resident memory: idle / after 16 clients append / after {READERS} pages of 8 MiB at once", *memory)
    table.row("from start to ready, on a database with a schema", *start)
    return table


def _size(server: Server) -> int:
    if server.database_url.startswith("sqlite"):
        path = server.database_url.removeprefix("sqlite:///")
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return Path(path).stat().st_size
    with psycopg.connect(server.database_url, autocommit=True) as connection:
        connection.execute("VACUUM")
        connection.execute("CHECKPOINT")
        tables = "FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
        found = connection.execute(f"SELECT sum(pg_total_relation_size(oid)) {tables}").fetchone()
    assert found
    return int(found[0])


def _disk(server: Server) -> float:
    runs = start_runs(server.url, 16)
    before = _size(server)
    fill(server.url, append_items(runs, RECORDS // 16), RECORDS, "records to weigh")
    return (_size(server) - before) / RECORDS


def _resident(server: Server) -> float:
    lines = Path(f"/proc/{server.pid}/status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("VmRSS"))) / 1024


def _memory(stage: Stage, server: Server) -> tuple[float, float, float]:
    server.restart()
    idle = _resident(server)
    runs = start_runs(server.url, 16)
    stage.appends(server.url, runs)
    loaded = _resident(server)
    # Nine records a little under 1 MiB: a page ends at 8 MiB.
    (run,) = start_runs(server.url, 1)
    with httpx.Client(base_url=server.url, timeout=60, trust_env=False) as http:
        for number in range(9):
            record = {
                "event_key": f"large-{number}",
                "run_id": run.run_id,
                "agent_id": AGENT,
                "session_id": run.session_id,
                "type": "planner_note",
                "payload": '"' + "x" * (PAGE_BYTES // 8 - 10) + '"',
                "timestamp": "2026-03-01T10:00:00Z",
            }
            http.post(f"/v1/runs/{run.run_id}/records", json=record).raise_for_status()
    most = loaded
    for _ in range(5):
        readers = [threading.Thread(target=_read, args=(server.url, run.run_id)) for _ in range(READERS)]
        for reader in readers:
            reader.start()
        while any(reader.is_alive() for reader in readers):
            most = max(most, _resident(server))
            time.sleep(0.01)
    return idle, loaded, most


def _read(url: str, run_id: str) -> None:
    answer = httpx.get(f"{url}/v1/runs/{run_id}/records", params={"limit": "1000"}, timeout=60, trust_env=False)
    answer.raise_for_status()


def _start(server: Server) -> float:
    server.stop()
    begun = time.perf_counter()
    server.start()
    return time.perf_counter() - begun
