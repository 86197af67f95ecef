"""Does it stay fast? Appends and pages with 1,000,000 records in the session and 100,000 in the run.

``RUNHOLD_BENCH_RECORDS`` makes the session smaller for a first look; the table says how large it was.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from urllib.parse import urlencode

import httpx
import psycopg

from benchmarks.figures import Load, figure, interleaved, rates, ratios
from benchmarks.fill import append_items, fill
from benchmarks.report import Table
from benchmarks.stage import Run, Stage, start_runs
from benchmarks.wrk import wrk

PAGE = 100

_SAME_ROWS = (
    "SELECT r.run_id, c.event_key, c.turn_id, c.type, c.payload, c.timestamp, c.stored_at, c.session_position,"
    " c.position FROM records c JOIN runs r USING (run_key) WHERE c.session_key = %s AND c.session_position > %s"
    " ORDER BY c.session_position LIMIT %s"
)


def pages(stage: Stage, url: str, session_id: str, cursor: str) -> Load:
    """Read one page of a session again and again over HTTP, one client."""
    target = f"/v1/sessions/{session_id}/records?" + urlencode({"limit": PAGE, "cursor": cursor})
    answer = httpx.get(url + target, timeout=60, trust_env=False).raise_for_status()
    assert len(answer.json()["records"]) == PAGE
    return wrk(
        url, f'function request() return wrk.format("GET", "{target}") end', connections=1, seconds=stage.seconds
    )


def raw_pages(stage: Stage, url: str, session_id: str, position: int) -> Load:
    """Read the same rows by raw psycopg."""
    with psycopg.connect(url, autocommit=True, prepare_threshold=0) as connection:
        found = connection.execute("SELECT session_key FROM sessions WHERE session_id = %s", (session_id,)).fetchone()
        assert found
        # With the settings of the service: else the planner may read the index backwards or sort.
        connection.execute("SET plan_cache_mode = force_generic_plan")
        return _again(
            stage, lambda: connection.execute(_SAME_ROWS, (found[0], position, PAGE), prepare=True).fetchall()
        )


def _again(stage: Stage, read: Callable[[], object]) -> Load:
    took, end = [], time.perf_counter() + stage.seconds
    while (begun := time.perf_counter()) < end:
        read()
        took.append((time.perf_counter() - begun) * 1000)
    took.sort()
    return Load(1000 * len(took) / sum(took), took[len(took) // 2], took[int(len(took) * 0.99)])


def cursor_at(url: str, session_id: str, position: int) -> str:
    """The session's cursor behind a position, found by paging with summaries."""
    cursor, passed = "", 0
    with httpx.Client(base_url=url, timeout=60, trust_env=False) as http:
        while passed < position:
            query = {"limit": str(min(1000, position - passed)), "cursor": cursor, "view": "summary"}
            page = http.get(f"/v1/sessions/{session_id}/records", params=query).raise_for_status().json()
            cursor, passed = page["end_cursor"], passed + len(page["records"])
    return cursor


def run(stage: Stage) -> Table:
    """Measure on PostgreSQL; the filling takes some minutes."""
    records = int(os.environ.get("RUNHOLD_BENCH_RECORDS", "1000000"))
    with stage.service("postgresql") as server:
        empty, full = start_runs(server.url, 1, 16), start_runs(server.url, 1, 16)
        old: Run = full[0]
        # A tenth of the session's records in one run, the rest in fifteen others.
        fill(server.url, append_items(full[:1], records // 10), records // 10, "records of the long run")
        others = full[1:]
        fill(server.url, append_items(others, records * 9 // 10 // 15), records * 9 // 10, "records of the session")
        with psycopg.connect(server.database_url, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")
            connection.execute("CHECKPOINT")
        deep = records * 9 // 10
        deep_cursor = cursor_at(server.url, old.session_id, deep)
        session = old.session_id
        found = interleaved(
            {
                "append, empty session": lambda: stage.appends(server.url, empty),
                "append, full session": lambda: stage.appends(server.url, full),
                "append, the long run alone": lambda: stage.appends(server.url, [old]),
                "append, an empty run alone": lambda: stage.appends(server.url, empty[:1]),
                "first page": lambda: pages(stage, server.url, session, ""),
                "first page, raw psycopg": lambda: raw_pages(stage, server.database_url, session, 0),
                "deep page": lambda: pages(stage, server.url, session, deep_cursor),
                "deep page, raw psycopg": lambda: raw_pages(stage, server.database_url, session, deep),
            },
            stage.pairs,
        )
    limits = {
        "append, full session": "append, empty session",
        "append, the long run alone": "append, an empty run alone",
        "first page": "first page, raw psycopg",
        "deep page": "deep page, raw psycopg",
        "deep page, raw psycopg": "first page, raw psycopg",
    }
    table = Table(
        f"history: {records:,} records in the session, {records // 10:,} in the run",
        "what",
        "a second",
        "p99 ms",
        "× its limit",
        "limit",
    )
    for name, loads in found.items():
        limit = limits.get(name, name)
        table.row(
            name,
            f"{figure(rates(loads)):,.0f}",
            f"{figure([load.p99_ms for load in loads]):.1f}",
            f"{ratios(rates(loads), rates(found[limit])):.2f}",
            limit,
        )
    ratio = ratios(rates(found["deep page"]), rates(found["first page"]))
    table.note(f"A page holds {PAGE} records. Deep (behind record {deep:,}) ÷ first page over HTTP: {ratio:.2f}.")
    return table
