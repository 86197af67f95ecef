"""How PostgreSQL looks rows up: by the index made for it, whatever the tables hold, and whatever it knows of them.

A plan is kept for as long as the statistics are; one that was right for an empty table would stay while it grows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from runhold.store import postgresql_writer
from runhold.store.pipeline import Statement, session_settings
from runhold.store.settings import StoreSettings
from tests.model import commands as make
from tests.model.wire import Wire
from tests.support.postgresql import started_postgresql
from tests.support.server import Server, running_server

RUN, SESSION = "uq_runs_namespace_key_run_id", "uq_sessions_namespace_key_session_id"
LOOKUPS: dict[str, tuple[Statement, list[str]]] = {
    "locked sessions": (postgresql_writer._LOCK_SESSIONS[True], [SESSION, "pk_sessions"]),
    "sessions that are not held": (postgresql_writer._LOCK_SESSIONS[False], [SESSION, "pk_sessions"]),
    "sessions": (postgresql_writer._SESSIONS_THERE, [SESSION]),
    "locked runs": (postgresql_writer._LOCK_RUNS[True], [RUN, "pk_runs"]),
    "runs that are not held": (postgresql_writer._LOCK_RUNS[False], [RUN, "pk_runs"]),
    "runs": (postgresql_writer._RUNS, [RUN, "pk_sessions"]),
    "records by key": (postgresql_writer._RECORDS_BY_KEY, [RUN, "uq_records_run_key_key_hash"]),
    "records by position": (postgresql_writer._RECORDS_AT, ["pk_records"]),
    "checkpoints": (postgresql_writer._SUSPENSIONS, [RUN, "pk_suspensions"]),
}
FILLS = ["empty", "small", "small and analyzed", "grown since"]


def scans(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The parts of a plan that read tables, from the outermost on."""
    if "Relation Name" in plan:
        yield plan
    for part in plan.get("Plans", []):
        yield from scans(part)


def kept_plan(connection: psycopg.Connection[Any], statement: Statement) -> dict[str, Any]:
    """The plan that the server keeps for a prepared statement."""
    kinds = [name for (name,) in connection.execute("SELECT unnest(%s::oid[])::regtype::text", [statement.types])]
    connection.execute("DEALLOCATE ALL")
    connection.execute(b"PREPARE looked (" + ",".join(kinds).encode() + b") AS " + statement.sql)
    nothing = ",".join(["NULL"] * len(kinds)).encode()
    row = connection.execute(b"EXPLAIN (FORMAT JSON) EXECUTE looked (" + nothing + b")").fetchone()
    assert row
    return dict(row[0][0]["Plan"])


@pytest.fixture(scope="module")
def empty() -> Iterator[Server]:
    with running_server(started_postgresql().new_database_url()) as server:
        yield server


@pytest.fixture(scope="module")
def small() -> Iterator[Server]:
    with running_server(started_postgresql().new_database_url()) as server:
        with Wire(server.url) as wire:
            fill(wire, "s", 40)
        yield server


@pytest.fixture(scope="module")
def grown() -> Iterator[Server]:
    with running_server(started_postgresql().new_database_url()) as server:
        with Wire(server.url) as wire, psycopg.connect(server.database_url, autocommit=True) as connection:
            fill(wire, "s", 40)
            connection.execute("ANALYZE")
            fill(wire, "t", 250)
        yield server


def fill(wire: Wire, session: str, runs: int) -> None:
    """A session whose runs have a single record each: then a run says as much about a record as its key does."""
    calls = [make.start(f"{session} {number}", session=session) for number in range(runs)]
    assert wire.call(make.create(session)).status == 200
    assert wire.call(make.batch(*calls)).status == 200


@pytest.mark.parametrize("name", LOOKUPS)
@pytest.mark.parametrize("fill", FILLS)
def test_rows_are_looked_up_by_the_index_made_for_it(request: pytest.FixtureRequest, name: str, fill: str) -> None:
    server = request.getfixturevalue({"small and analyzed": "small", "grown since": "grown"}.get(fill, fill))
    statement, indexes = LOOKUPS[name]
    with psycopg.connect(server.database_url, autocommit=True, prepare_threshold=None) as connection:
        for setting, value in session_settings(StoreSettings(server.database_url)).items():
            connection.execute("SELECT set_config(%s, %s, false)", [setting, value])
        if fill == "small and analyzed":
            connection.execute("ANALYZE")
        found = list(scans(kept_plan(connection, statement)))
    assert [scan["Index Name"] for scan in found] == indexes
    for scan in found:
        columns = 1 if scan["Index Name"].startswith("pk_") and scan["Index Name"] != "pk_records" else 2
        assert scan["Index Cond"].count(" AND ") == columns - 1, scan
