"""Lists for dashboards on 20,000 sessions of 50 runs each: every first and middle page beside the read of one row.

``RUNHOLD_BENCH_SESSIONS`` makes it smaller for a first look; the table says how large it was.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from urllib.parse import urlencode

import httpx
import psycopg

from benchmarks.figures import Load
from benchmarks.report import Table
from benchmarks.stage import Stage
from benchmarks.wrk import wrk
from runhold.domain import paging
from runhold.domain.paging import RunQuery, SessionQuery
from runhold.domain.values import RunStatus, SessionStatus
from runhold.store import rows
from runhold.store.rows import Row
from tests.support.server import Server

RUNS_EACH = 50
BEGIN_MS = 1_772_359_200_000
_DIGEST = bytes(32)


@dataclass
class Filling:
    """How much is filled in, and where its middle is."""

    sessions: int
    session_ids: list[str] = field(default_factory=list)

    @property
    def runs(self) -> int:
        """All runs."""
        return self.sessions * RUNS_EACH

    def session_rows(self, namespace_key: int) -> Iterator[Row]:
        """One session in ten has ended."""
        for number in range(self.sessions):
            name = f"session-{number:08d}-{secrets.token_hex(20)}"
            self.session_ids.append(name)
            at = (BEGIN_MS + number * RUNS_EACH) * 1000
            ended = at + 1 if number % 10 == 0 else None
            yield number + 1, namespace_key, name, "ended" if ended else "active", at, ended, RUNS_EACH, RUNS_EACH

    def run_rows(self, namespace_key: int) -> Iterator[tuple[Row, list[Row]]]:
        """Runs with their labels: most completed, few running, one in a thousand suspended; children of each tenth."""
        for number in range(self.runs):
            session, place = divmod(number, RUNS_EACH)
            run_key, run_id, at = number + 1, f"run-{number:010d}", BEGIN_MS + number
            parent = f"run-{number - place % 10:010d}" if place % 10 else ""
            agent = "agent-rare" if number % 20_011 == 7 else f"agent-{number % 3}"
            status = "suspended" if number % 1_009 == 5 else "running" if number % 101 == 3 else "completed"
            labels = {"team": f"team-{number % 7}", **({"rare": "yes"} if number % 10_007 == 11 else {})}
            row = (
                run_key,
                namespace_key,
                session + 1,
                place + 1,
                at,
                at,
                1,
                1 if parent else 0,
                status,
                "proceed",
                run_id,
                agent,
                parent,
                "",
                _DIGEST,
                "",
                rows.labels_text(labels),
            )
            made = [(namespace_key, rows.label_hash(n, v), at, run_id, run_key) for n, v in sorted(labels.items())]
            yield row, made


def fill(server: Server, filling: Filling) -> None:
    """Fill the tables in bulk, with progress; a run has no records here, which no list looks at."""
    with httpx.Client(base_url=server.url, trust_env=False) as http:
        http.post("/v1/sessions", json={"session_id": "first"}).raise_for_status()
    begun = time.monotonic()
    if server.database_url.startswith("sqlite"):
        _fill_sqlite(server.database_url.removeprefix("sqlite:///"), filling)
    else:
        _fill_postgresql(server.database_url, filling)
    print(f"benchmarks: filled {filling.runs:,} runs in {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)


def _fill_sqlite(path: str, filling: Filling) -> None:
    with closing(sqlite3.connect(path, isolation_level=None, timeout=60)) as connection:
        (namespace_key,) = connection.execute("SELECT namespace_key FROM namespaces").fetchone()
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("UPDATE sessions SET session_key = -1")
        _many(connection, "sessions", rows.SESSION, filling.session_rows(namespace_key))
        for made, labels in _batches(filling.run_rows(namespace_key)):
            _many(connection, "runs", rows.RUN, made)
            _many(connection, "run_labels", rows.RUN_LABEL, labels)
        connection.execute("COMMIT")
        connection.execute("ANALYZE")


def _many(
    connection: sqlite3.Connection, table: str, columns: tuple[str, ...], made: Iterator[Row] | list[Row]
) -> None:
    places = ", ".join("?" * len(columns))
    connection.executemany(f"INSERT INTO {table} ({rows.columns(columns)}) VALUES ({places})", made)


def _fill_postgresql(url: str, filling: Filling) -> None:
    with psycopg.connect(url) as connection:
        found = connection.execute("SELECT namespace_key FROM namespaces").fetchone()
        assert found
        connection.execute("UPDATE sessions SET session_key = -1")
        with connection.cursor().copy(f"COPY sessions ({rows.columns(rows.SESSION)}) FROM STDIN") as copy:
            for row in filling.session_rows(found[0]):
                copy.write_row(row)
        for made, labels in _batches(filling.run_rows(found[0])):
            for table, columns, some in (("runs", rows.RUN, made), ("run_labels", rows.RUN_LABEL, labels)):
                with connection.cursor().copy(f"COPY {table} ({rows.columns(columns)}) FROM STDIN") as copy:
                    for row in some:
                        # A hash is a UUID there.
                        copy.write_row([v.hex() if isinstance(v, bytes) and len(v) == 16 else v for v in row])
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")


def _batches(made: Iterator[tuple[Row, list[Row]]], size: int = 50_000) -> Iterator[tuple[list[Row], list[Row]]]:
    runs: list[Row] = []
    labels: list[Row] = []
    for row, some in made:
        runs.append(row)
        labels += some
        if len(runs) == size:
            yield runs, labels
            runs, labels = [], []
    if runs:
        yield runs, labels


RUN_LISTS: dict[str, RunQuery] = {
    "all runs": RunQuery(),
    "newest first": RunQuery(descending=True),
    "status: common": RunQuery((RunStatus.COMPLETED,)),
    "status: rare": RunQuery((RunStatus.SUSPENDED,)),
    "two statuses": RunQuery((RunStatus.RUNNING, RunStatus.SUSPENDED)),
    "agent: common": RunQuery(agent_id="agent-1"),
    "agent: rare": RunQuery(agent_id="agent-rare"),
    "label: common": RunQuery(labels=(("team", "team-3"),)),
    "label: rare": RunQuery(labels=(("rare", "yes"),)),
    "rare status, common agent": RunQuery((RunStatus.SUSPENDED,), agent_id="agent-1"),
    "common status, rare agent": RunQuery((RunStatus.COMPLETED,), agent_id="agent-rare"),
    "common label, rare status": RunQuery((RunStatus.SUSPENDED,), labels=(("team", "team-3"),)),
    "rare label, common status": RunQuery((RunStatus.COMPLETED,), labels=(("rare", "yes"),)),
    "common label, rare agent": RunQuery(agent_id="agent-rare", labels=(("team", "team-3"),)),
    "started in a range, common agent": RunQuery(
        agent_id="agent-1", started_after=BEGIN_MS + 5_000, started_before=BEGIN_MS + 500_000_000
    ),
}


def targets(filling: Filling) -> Iterator[tuple[str, str]]:
    """Each list's first and middle page."""
    middle_ms, middle = BEGIN_MS + filling.runs // 2, f"run-{filling.runs // 2:010d}"
    for name, query in RUN_LISTS.items():
        words = [("status", status.value) for status in query.statuses]
        words += [("label", f"{n}={v}") for n, v in query.labels]
        words += [("agent_id", query.agent_id)] * bool(query.agent_id) + [("order", "desc")] * query.descending
        for bound in ("started_after", "started_before"):
            value = getattr(query, bound)
            if value is not None:
                words.append((bound, time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(value // 1000))))
        cursor = paging.key_cursor((middle_ms, middle), paging.runs_tag("default", query))
        yield f"runs, {name}: first", "/v1/runs?" + urlencode(words)
        yield f"runs, {name}: middle", "/v1/runs?" + urlencode([*words, ("cursor", cursor)])
    child_of = f"run-{filling.runs // 2 // RUNS_EACH * RUNS_EACH:010d}"
    yield "runs, children of one", "/v1/runs?" + urlencode({"parent_run_id": child_of})
    session = filling.session_ids[filling.sessions // 2]
    yield "runs of a session: first", f"/v1/sessions/{session}/runs"
    yield "runs of a session, one status", f"/v1/sessions/{session}/runs?status=running"
    for name, asked in (("all", SessionQuery()), ("ended", SessionQuery((SessionStatus.ENDED,)))):
        words = [("status", status.value) for status in asked.statuses]
        key = ((BEGIN_MS + filling.runs // 2) * 1000, session)
        cursor = paging.key_cursor(key, paging.sessions_tag("default", asked))
        yield f"sessions, {name}: first", "/v1/sessions?" + urlencode(words)
        yield f"sessions, {name}: middle", "/v1/sessions?" + urlencode([*words, ("cursor", cursor)])


def get(server: Server, target: str, seconds: float) -> Load:
    """Read one target again and again."""
    answer = httpx.get(server.url + target, timeout=60, trust_env=False)
    if answer.status_code != 200:
        raise RuntimeError(answer.text)
    quoted = target.replace("\\", "\\\\").replace('"', '\\"')
    return wrk(
        server.url, f'function request() return wrk.format("GET", "{quoted}") end', connections=1, seconds=seconds
    )


def run(stage: Stage) -> Table:
    """Measure on both databases: one second each, because there are many."""
    sessions = int(os.environ.get("RUNHOLD_BENCH_SESSIONS", "20000"))
    table = Table(
        f"lists: {sessions:,} sessions of {RUNS_EACH} runs, pages of 100",
        *("what", "PostgreSQL p50 ms", "× one row", "SQLite p50 ms", "× one row"),
    )
    found: dict[str, list[str]] = {}
    for database in ("postgresql", "sqlite"):
        filling = Filling(sessions)
        with stage.service(database) as server:
            fill(server, filling)
            row = f"/v1/runs/run-{filling.runs // 2:010d}"
            one = get(server, row, 1)
            found.setdefault("one run, by its id", []).extend([f"{one.p50_ms:.2f}", "1.0"])
            for name, target in targets(filling):
                one, page = get(server, row, 1), get(server, target, 1)
                found.setdefault(name, []).extend([f"{page.p50_ms:.2f}", f"{page.p50_ms / one.p50_ms:.1f}"])
    for name, cells in found.items():
        table.row(name, *cells)
    return table
