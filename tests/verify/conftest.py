"""A database in which everything happened that a run can go through, and a way to damage it behind all guards."""

from __future__ import annotations

import asyncio
from contextlib import closing

import pytest
import sqlalchemy

from runhold.commands.model import Command, PurgeOneShotRun, PurgeSession
from runhold.domain.digests import Digester, first_digest
from runhold.domain.values import RunRecord
from runhold.store.snapshots import open_database
from runhold.store.tables import Table
from runhold.verify.findings import Finding
from runhold.verify.walk import Walk
from tests import builders as a
from tests.store.conftest import Sql, opened, run, sql

__all__ = ["sql"]


def story() -> list[Command]:
    """Every way in which a run may begin, go on and end."""
    labels = {"team": "red", "odd\0name": "\U0001f600"}
    root, stopped = a.a_run(labels=labels), a.a_run(run_id="late")
    more = a.a_run(run_id="more", predecessor_run_id="waits")
    canceled = a.a_terminal("canceled", reason="enough", run_id="asked")
    return [
        a.a_session(),
        a.a_root_start(root),
        a.an_append(event_key="k1"),
        a.a_child_start(),
        a.an_append(event_key="k2"),
        a.an_append(event_key="k3", payload='{"number": 1e400}'),
        a.a_root_start(a.a_run(run_id="waits")),
        a.a_suspension(run_id="waits"),
        a.a_root_start(more),
        a.a_terminal(run_id="more"),
        a.a_root_start(a.a_run(run_id="asked")),
        a.a_cancellation(run_id="asked"),
        canceled,
        a.a_root_start(a.a_run(run_id="engine")),
        a.a_terminal("canceled", run_id="engine"),
        a.a_root_start(a.a_run(run_id="fails")),
        a.a_terminal("failed", run_id="fails"),
        a.an_end(),
        a.a_root_start(stopped),
        a.a_one_shot_start(),
        a.a_one_shot_child_start(),
        a.an_append(run_id="o", session_id="", event_key="k1"),
        a.a_terminal(run_id="o", session_id=""),
        a.a_session("gone"),
        a.a_root_start(a.a_run(run_id="of-gone", session_id="gone")),
        a.a_terminal(run_id="of-gone", session_id="gone"),
        a.an_end("gone"),
        a.a_one_shot_start(a.a_run(run_id="sealed", session_id="")),
        a.a_terminal(run_id="sealed", session_id=""),
    ]


def fill(url: str, integrity_key: bytes = b"") -> None:
    """Play the story on a migrated database."""

    async def play() -> None:
        async with opened(url, integrity_key=integrity_key) as store:
            outcomes = await run(store, *story())
            assert not [outcome for outcome in outcomes if isinstance(outcome, Exception)], outcomes
            await run(store, PurgeSession("gone"), wait=True)
            await run(store, PurgeOneShotRun("sealed"), wait=True)

    asyncio.run(play())


def findings(url: str, integrity_key: bytes = b"") -> list[Finding]:
    """What verification finds."""
    with closing(open_database(url)) as database:
        return list(Walk(database, integrity_key).everything())


class Damage:
    """Changes rows as somebody with the database's own rights could; nothing guards them any more."""

    def __init__(self, sql: Sql) -> None:
        self._sql = sql
        if sql.is_postgresql:
            sql("SET session_replication_role = replica")
            for table in Table.metadata.sorted_tables:
                for constraint in table.constraints:
                    if isinstance(constraint, sqlalchemy.CheckConstraint):
                        sql(f"ALTER TABLE {table.name} DROP CONSTRAINT IF EXISTS {constraint.name}")
        else:
            sql("PRAGMA ignore_check_constraints = on")
            for (name,) in sql("SELECT name FROM sqlite_master WHERE type = 'trigger'"):
                sql(f"DROP TRIGGER {name}")

    def __call__(self, statement: str, *values: object) -> None:
        """Run a statement; ``{run}`` names the key of a run by its id, as in ``{run:r}``."""
        for run_id, key in self._sql("SELECT run_id, run_key FROM runs"):
            statement = statement.replace(f"{{run:{run_id}}}", str(key))
        for session_id, key in self._sql("SELECT session_id, session_key FROM sessions"):
            statement = statement.replace(f"{{session:{session_id}}}", str(key))
        self._sql(statement, *values)

    def digest_anew(self, run_id: str, integrity_key: bytes = b"") -> None:
        """Compute a run's digests anew, as a forger would who has this key."""
        key, agent_id, session_key = self._sql(
            "SELECT run_key, agent_id, session_key FROM runs WHERE run_id = ?", run_id
        )[0]
        session_id = (
            ""
            if session_key is None
            else self._sql("SELECT session_id FROM sessions WHERE session_key = ?", session_key)[0][0]
        )
        columns = "position, session_position, timestamp, stored_at, event_key, turn_id, type, payload"
        digester, digest = Digester(integrity_key), first_digest("default")
        for row in self._sql(f"SELECT {columns} FROM records WHERE run_key = ? ORDER BY position", key):
            position, place, timestamp, stored_at, event_key, turn_id, kind, payload = row
            record = RunRecord(event_key, run_id, agent_id, session_id, turn_id, kind, payload.decode(), timestamp)
            digest = digester.digest(digest, record, position, place or 0, stored_at)
            self._sql("UPDATE records SET digest = ? WHERE run_key = ? AND position = ?", digest, key, position)
        self._sql("UPDATE runs SET head_digest = ? WHERE run_key = ?", digest, key)


@pytest.fixture
def filled(database_url: str) -> str:
    """The URL of a database with the story."""
    fill(database_url)
    return database_url


@pytest.fixture
def damage(filled: str, sql: Sql) -> Damage:
    """A way to damage the story's database."""
    assert filled
    return Damage(sql)
