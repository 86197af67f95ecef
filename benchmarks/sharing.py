"""Sixteen writers on one session beside sixteen sessions, and small commands beside large ones and beside readers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import httpx

from benchmarks.figures import Load, figure, interleaved, rates, ratios
from benchmarks.fill import append_items, fill
from benchmarks.report import Table
from benchmarks.stage import Run, Stage, start_runs

READERS = 20
LARGE_BYTES = 1024 * 1024


@contextmanager
def beside(*works: Callable[[threading.Event], None]) -> Iterator[None]:
    """Let others work until the block ends."""
    stop = threading.Event()
    threads = [threading.Thread(target=work, args=(stop,)) for work in works]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def paging(url: str, runs: list[Run]) -> Callable[[threading.Event], None]:
    """Read sessions page by page, again and again."""

    def work(stop: threading.Event) -> None:
        with httpx.Client(base_url=url, timeout=60, trust_env=False) as http:
            cursor = ""
            while not stop.is_set():
                answer = http.get(
                    f"/v1/sessions/{runs[0].session_id}/records", params={"limit": "100", "cursor": cursor}
                )
                cursor = answer.raise_for_status().json()["next_cursor"]

    return work


def run(stage: Stage) -> Table:
    """Measure on PostgreSQL."""
    with stage.service("postgresql") as server:
        many, one = start_runs(server.url, 16), start_runs(server.url, 1, 16)
        large, read = start_runs(server.url, 2), start_runs(server.url, 1, 4)
        fill(server.url, append_items(read, 5_000), 20_000, "records to read")

        def beside_large() -> Load:
            def write(stop: threading.Event) -> None:
                while not stop.is_set():
                    stage.appends(server.url, large, connections=2, payload_bytes=LARGE_BYTES)

            with beside(write):
                return stage.appends(server.url, many)

        def beside_readers() -> Load:
            with beside(*[paging(server.url, read) for _ in range(READERS)]):
                return stage.appends(server.url, many)

        found = interleaved(
            {
                "16 writers on 16 sessions": lambda: stage.appends(server.url, many),
                "16 writers on one session": lambda: stage.appends(server.url, one),
                "beside 2 writers of 1 MiB records": beside_large,
                f"beside {READERS} readers that page": beside_readers,
            },
            stage.pairs,
        )
    table = Table("sharing: 16 writers of 1 KiB, PostgreSQL", "what", "appends/s", "p99 ms", "× alone on 16 sessions")
    alone = rates(found["16 writers on 16 sessions"])
    for name, loads in found.items():
        table.row(
            name,
            f"{figure(rates(loads)):,.0f}",
            f"{figure([load.p99_ms for load in loads]):.1f}",
            f"{ratios(rates(loads), alone):.2f}",
        )
    table.note("The readers share the two processors with everything else; they and their JSON take their part of it.")
    return table
