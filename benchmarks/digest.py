"""The digest of a record: processor time of its own, and its share of an append's."""

from __future__ import annotations

import secrets
import time

from benchmarks.figures import Figure, figure
from benchmarks.report import Table
from benchmarks.stage import AGENT, Stage, cpu_seconds, start_runs
from runhold.domain.digests import Digester, first_digest
from runhold.domain.values import RunRecord

RECORDS = 20_000


def digest_us(key: bytes) -> float:
    """Processor time for one record of 1 KiB, in microseconds."""
    run, session = "run-" + secrets.token_hex(28), "session-" + secrets.token_hex(26)
    payload = f'"{secrets.token_hex(512)}"'
    keys = [f"{number:060d}" for number in range(RECORDS)]
    records = [RunRecord(k, run, AGENT, session, "turn-1", "tool_result_received", payload, 1) for k in keys]
    digester, digest = Digester(key), first_digest("default")
    begun = time.process_time()
    for position, record in enumerate(records, 1):
        digest = digester.digest(digest, record, position, position, 1)
    return (time.process_time() - begun) / RECORDS * 1e6


def append_us(stage: Stage, environment: dict[str, str]) -> Figure:
    """Processor time of the service for one append over HTTP, in microseconds."""
    with stage.service("postgresql", environment) as server:
        runs = start_runs(server.url, 16)
        stage.appends(server.url, runs)
        found = []
        for _ in range(stage.pairs):
            before = cpu_seconds(server.pid)
            begun = time.perf_counter()
            load = stage.appends(server.url, runs)
            count = load.rate * (time.perf_counter() - begun)
            found.append((cpu_seconds(server.pid) - before) / count * 1e6)
        return figure(found)


def run(stage: Stage) -> Table:
    """Measure plain and keyed."""
    table = Table("digest: processor time", "what", "a record, µs", "an append in the service, µs", "share")
    for name, key in (("SHA-256", ""), ("HMAC-SHA-256", "k" * 32)):
        own = figure([digest_us(key.encode()) for _ in range(stage.pairs)])
        whole = append_us(stage, {"RUNHOLD_INTEGRITY_KEY": key})
        table.row(name, f"{own:.2f}", f"{whole:.0f}", f"{own.median / whole.median:.1%}")
    table.note(
        "The append is the service's part alone: HTTP, rules, digest, statements; not the database's, not the client's."
    )
    return table
