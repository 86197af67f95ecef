"""The database defends itself: raw SQL that breaks a rule is refused, and changes nothing, on both databases."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from tests import builders as a
from tests.store.conftest import Sql, opened, run

TABLES = ("namespaces", "sessions", "runs", "run_labels", "records", "suspensions")


@pytest.fixture
def stored(sql: Sql, database_url: str) -> Iterator[Sql]:
    """Raw SQL on a database with a session that has ended, its run, a suspended one, and a finished one-shot run."""

    async def fill() -> None:
        async with opened(database_url) as store:
            await run(store, a.a_session(), a.a_root_start(a.a_run(labels={"colour": "red"})), a.an_append())
            await run(store, a.a_suspension(), a.an_end(), a.a_one_shot_start())
            await run(store, a.an_append(run_id="o", session_id=""))
            end = a.a_terminal(run_id="o", session_id="")
            outcomes = await run(store, end)
            assert not isinstance(outcomes[0], Exception), outcomes

    asyncio.run(fill())
    before = snapshot(sql)
    assert all(before.values())
    yield sql
    assert snapshot(sql) == before, "a refused statement changed something"


def snapshot(sql: Sql) -> dict[str, list[Any]]:
    return {table: sorted(sql(f"SELECT * FROM {table}"), key=repr) for table in TABLES}


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE records SET payload = payload",
        "UPDATE records SET type = 'x' WHERE position = 1",
        "UPDATE suspensions SET data = data",
        "DELETE FROM records",
        "DELETE FROM records WHERE session_key IS NULL",
        "DELETE FROM suspensions",
        "DELETE FROM runs WHERE session_key IS NOT NULL",
        "DELETE FROM runs WHERE session_key IS NULL",
        "DELETE FROM sessions",
    ],
)
def test_what_is_stored_is_neither_changed_nor_deleted(stored: Sql, statement: str) -> None:
    assert "refused" in stored.refuses(statement)


@pytest.mark.parametrize("table", ["records", "suspensions", "runs", "sessions"])
def test_a_table_is_not_emptied_at_once(stored: Sql, table: str) -> None:
    statement = f"TRUNCATE {table} CASCADE" if stored.is_postgresql else f"DELETE FROM {table}"
    assert "refused" in stored.refuses(statement)


@pytest.mark.parametrize(
    ("table", "changes", "constraint"),
    [
        ("sessions", "status = 'open'", "status"),
        ("sessions", "status = 'active'", "ended_at"),
        ("sessions", "ended_at = NULL", "ended_at"),
        ("sessions", "record_count = -1", "counts"),
        ("sessions", "run_count = -1", "counts"),
        ("sessions", "session_id = ''", "session_id_length"),
        ("runs", "status = 'done'", "status"),
        ("runs", "status = 'purged'", "seal"),
        ("runs", "agent_id = ''", "agent"),
        ("runs", "session_ordinal = 0", "session"),
        ("runs", "link_position = 1", "parent"),
        ("runs", "parent_run_id = 'x'", "parent"),
        ("runs", "predecessor_run_id = run_id", "predecessor"),
        ("runs", "start_outcome = 'stop'", "start_outcome"),
        ("runs", "start_outcome = 'maybe'", "start_outcome"),
        ("runs", "record_count = 0", "record_count"),
        ("runs", "head_digest = substr(head_digest, 1, 31)", "head_digest_length"),
    ],
)
def test_a_row_that_breaks_a_rule_is_refused(stored: Sql, table: str, changes: str, constraint: str) -> None:
    where = "session_key IS NOT NULL"
    said = stored.refuses(f"UPDATE {table} SET {changes} WHERE {where}")
    assert f"ck_{table}_" in said
    assert constraint in said or constraint == "seal"


def test_a_one_shot_run_has_no_place_in_a_session_and_no_predecessor(stored: Sql) -> None:
    for changes in ("session_ordinal = 1", "predecessor_run_id = 'x'"):
        assert "ck_runs_" in stored.refuses(f"UPDATE runs SET {changes} WHERE session_key IS NULL")


RECORD = {
    "run_key": "run_key",
    "position": "9",
    "session_key": "session_key",
    "session_position": "9",
    "timestamp": "timestamp",
    "stored_at": "stored_at",
    "key_hash": "?",
    "digest": "digest",
    "event_key": "'new'",
    "turn_id": "''",
    "type": "'x'",
    "payload": "payload",
}


def copy_of_a_record(stored: Sql, **changes: str) -> tuple[str, Any]:
    """A statement that inserts a record like the first one, but for some columns."""
    values = RECORD | changes
    new_hash: Any = "00000000-0000-0000-0000-000000000009" if stored.is_postgresql else bytes(16)
    if values["key_hash"] != "?":
        return insert(values), None
    return insert(values), new_hash


def insert(values: dict[str, str]) -> str:
    return (
        f"INSERT INTO records ({', '.join(values)}) SELECT {', '.join(values.values())} FROM records"
        " WHERE session_key IS NOT NULL AND position = 1"
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"position": "0"},
        {"session_position": "0"},
        {"session_position": "NULL"},
        {"session_key": "NULL"},
        {"event_key": "''"},
        {"type": "''"},
        {"payload": "substr(payload, 1, 0)"},
        {"digest": "substr(digest, 1, 31)"},
    ],
)
def test_a_record_that_breaks_a_rule_is_refused(stored: Sql, changes: dict[str, str]) -> None:
    statement, value = copy_of_a_record(stored, **changes)
    assert "ck_records_" in stored.refuses(statement, value)


@pytest.mark.parametrize(
    "changes", [{"position": "1"}, {"session_position": "1"}, {"key_hash": "key_hash"}], ids=["place", "order", "key"]
)
def test_a_second_record_takes_nobody_elses_place(stored: Sql, changes: dict[str, str]) -> None:
    statement, value = copy_of_a_record(stored, **changes)
    values = () if value is None else (value,)
    assert any(word in stored.refuses(statement, *values) for word in ("unique", "UNIQUE", "refused"))
    if not stored.is_postgresql:
        replace = statement.replace("INSERT INTO", "INSERT OR REPLACE INTO")
        assert "refused" in stored.refuses(replace, *values)


def test_a_record_belongs_to_a_run_that_exists(stored: Sql) -> None:
    if not stored.is_postgresql:
        # SQLite checks references only where a connection asks for it, as the service's do.
        stored("PRAGMA foreign_keys = ON")
    statement, value = copy_of_a_record(stored, run_key="run_key + 1000000")
    said = stored.refuses(statement, value)
    assert "fk_records_run_key" in said or "FOREIGN KEY" in said


def test_ids_over_a_kilobyte_are_refused_in_bytes_not_in_characters(stored: Sql) -> None:
    long = "ü" * 513
    for statement in (
        "UPDATE sessions SET session_id = ?",
        "UPDATE runs SET agent_id = ?",
        "UPDATE runs SET parent_run_id = ?, link_position = 1",
    ):
        assert "_length" in stored.refuses(statement, long)


def test_once_the_seal_is_there_records_may_go(sql: Sql, database_url: str) -> None:
    async def fill() -> None:
        async with opened(database_url) as store:
            await run(store, a.a_session(), a.a_root_start(), a.a_suspension(), a.an_end())

    asyncio.run(fill())
    sql("UPDATE sessions SET status = 'purged'")
    for table in ("suspensions", "records", "runs"):
        sql(f"DELETE FROM {table}")
        assert sql(f"SELECT count(*) FROM {table}") == [(0,)]
    assert "refused" in sql.refuses("DELETE FROM sessions")
