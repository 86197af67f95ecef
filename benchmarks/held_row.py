"""One session's row held by another process for five seconds: what fifteen others lose by it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager

import httpx
import psycopg

from benchmarks.figures import Load, figure, interleaved, rates, ratios
from benchmarks.report import Table
from benchmarks.stage import AGENT, Run, Stage, start_runs

HELD_S = 5.0


@contextmanager
def held(database_url: str, run: Run, url: str) -> Iterator[None]:
    """Hold a session's row as somebody at a SQL console would, while a client wants to append to its run."""
    with closing(psycopg.connect(database_url)) as console:
        console.execute("SELECT 1 FROM sessions WHERE session_id = %s FOR UPDATE", (run.session_id,))
        waiting = threading.Thread(target=_append, args=(url, run))
        waiting.start()
        yield
        console.rollback()
        waiting.join()


@contextmanager
def open_transaction(database_url: str) -> Iterator[None]:
    """Leave a transaction open that touches no row of ours."""
    with closing(psycopg.connect(database_url)) as console:
        console.execute("SELECT pg_current_xact_id()")
        yield
        console.rollback()


def _append(url: str, run: Run) -> None:
    record = {
        "event_key": "held",
        "run_id": run.run_id,
        "agent_id": AGENT,
        "session_id": run.session_id,
        "type": "planner_note",
        "payload": "{}",
        "timestamp": "2026-03-01T10:00:00Z",
    }
    answer = httpx.post(f"{url}/v1/runs/{run.run_id}/records", json=record, timeout=60, trust_env=False)
    if answer.status_code not in (200, 503):
        raise RuntimeError(answer.text)


def run(stage: Stage) -> Table:
    """Measure the fifteen with the sixteenth held and free."""
    # As long as the row is held, whatever --seconds says.
    measuring = Stage(stage.pairs, HELD_S)
    with stage.service("postgresql", {"RUNHOLD_LOCK_TIMEOUT_MS": "20000"}) as server:
        victim, *others = start_runs(server.url, 16)

        def while_held() -> Load:
            with held(server.database_url, victim, server.url):
                return measuring.appends(server.url, others, connections=15)

        def beside_a_transaction() -> Load:
            with open_transaction(server.database_url):
                return measuring.appends(server.url, others, connections=15)

        found = interleaved(
            {
                "free": lambda: measuring.appends(server.url, others, connections=15),
                "held": while_held,
                "free, another transaction open": beside_a_transaction,
            },
            stage.pairs,
        )
    table = Table(
        "held_row: 15 clients while a 16th session's row is held for 5 s", "row", "appends/s", "p99 ms", "× free"
    )
    for name, loads in found.items():
        table.row(
            name,
            f"{figure(rates(loads)):,.0f}",
            f"{figure([load.p99_ms for load in loads]):.1f}",
            f"{ratios(rates(loads), rates(found['free'])):.2f}",
        )
    return table
