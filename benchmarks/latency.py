"""One client alone: the time of one append over HTTP, beside a raw commit and an endpoint that does nothing."""

from __future__ import annotations

from benchmarks.figures import figure, interleaved, ratios
from benchmarks.report import Table
from benchmarks.stage import Stage, start_runs


def run(stage: Stage) -> Table:
    """Measure both databases."""
    with stage.service("postgresql") as server, stage.service("sqlite") as embedded, stage.floor() as floor:
        runs, embedded_runs = start_runs(server.url, 1), start_runs(embedded.url, 1)
        found = interleaved(
            {
                "raw commit": lambda: stage.raw(1),
                "no-op FastAPI": lambda: stage.appends(floor, runs, connections=1),
                "Runhold on PostgreSQL": lambda: stage.appends(server.url, runs, connections=1),
                "Runhold on SQLite": lambda: stage.appends(embedded.url, embedded_runs, connections=1),
            },
            stage.pairs,
        )
    limits = [3 * a.p50_ms + b.p50_ms for a, b in zip(found["raw commit"], found["no-op FastAPI"], strict=True)]
    table = Table("latency: one client", "what", "p50 ms", "p99 ms", "p50 ÷ (3 raw commits + no-op)")
    for name, loads in found.items():
        medians = [load.p50_ms for load in loads]
        table.row(
            name,
            f"{figure(medians):.2f}",
            f"{figure([load.p99_ms for load in loads]):.2f}",
            f"{ratios(medians, limits):.2f}",
        )
    return table
