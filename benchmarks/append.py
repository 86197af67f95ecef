"""Appends, one command a request, 16 clients on 16 sessions: beside raw inserts and an endpoint that does nothing."""

from __future__ import annotations

from benchmarks.figures import Figure, figure, interleaved, rates, ratios
from benchmarks.report import Table
from benchmarks.stage import Stage, start_runs


def run(stage: Stage) -> Table:
    """Measure both databases beside L1 and L4."""
    table = Table("append: 16 clients, 1 KiB", "what", "appends/s", "p50 ms", "p99 ms", "× L4", "× L1x16", "p99 × L4's")
    with stage.service("postgresql") as server, stage.service("sqlite") as embedded, stage.floor() as floor:
        runs = start_runs(server.url, 16)
        embedded_runs = start_runs(embedded.url, 16)
        found = interleaved(
            {
                "L1x16: raw psycopg": lambda: stage.raw(16),
                "L4: no-op FastAPI": lambda: stage.appends(floor, runs),
                "Runhold on PostgreSQL": lambda: stage.appends(server.url, runs),
                "Runhold on SQLite": lambda: stage.appends(embedded.url, embedded_runs),
            },
            stage.pairs,
        )
    raw, floors = rates(found["L1x16: raw psycopg"]), found["L4: no-op FastAPI"]
    for name, loads in found.items():
        tail: Figure = ratios([load.p99_ms for load in loads], [load.p99_ms for load in floors])
        table.row(
            name,
            f"{figure(rates(loads)):,.0f}",
            f"{figure([load.p50_ms for load in loads]):.1f}",
            f"{figure([load.p99_ms for load in loads]):.1f}",
            f"{ratios(rates(loads), rates(floors)):.2f}",
            f"{ratios(rates(loads), raw):.2f}",
            f"{tail:.1f}",
        )
    return table
