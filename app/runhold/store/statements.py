"""The SQL that both databases understand, with PostgreSQL's ``$1``; ``for_sqlite`` turns it into SQLite's ``?1``."""

from __future__ import annotations

from functools import cache

from runhold.store import rows

NAMESPACE = "SELECT namespace_key FROM namespaces WHERE name = $1"
NEW_NAMESPACE = "INSERT INTO namespaces (name) VALUES ($1) ON CONFLICT (name) DO NOTHING"

SESSION = f"SELECT {rows.columns(rows.SESSION)} FROM sessions WHERE namespace_key = $1 AND session_id = $2"

RUN = f"""\
SELECT {rows.columns(rows.RUN, "r.")}, s.session_id
FROM runs r LEFT JOIN sessions s ON s.session_key = r.session_key
WHERE r.namespace_key = $1 AND r.run_id = $2"""

RUN_SUSPENSION = """\
SELECT c.suspension_id, c.data
FROM runs r LEFT JOIN suspensions c ON c.run_key = r.run_key
WHERE r.namespace_key = $1 AND r.run_id = $2 AND r.status <> 'purged'"""

HAS_RUNNING_RUN = "SELECT 1 FROM runs WHERE session_key = $1 AND status = 'running' LIMIT 1"

TREE = """\
WITH RECURSIVE tree (run_key, run_id) AS (
    SELECT run_key, run_id FROM runs WHERE namespace_key = $1 AND run_id = $2 AND session_key IS NULL
    UNION ALL
    SELECT r.run_key, r.run_id
    FROM tree t JOIN runs r
    ON r.namespace_key = $1 AND r.parent_run_id = t.run_id AND r.parent_run_id <> '' AND r.session_key IS NULL
)
SELECT run_key FROM tree"""
"""The keys of a one-shot run and of all runs under it."""

PURGE_SESSION = (
    "DELETE FROM suspensions WHERE run_key IN (SELECT run_key FROM runs WHERE session_key = $1)",
    "DELETE FROM records WHERE session_key = $1",
    "DELETE FROM run_labels WHERE run_key IN (SELECT run_key FROM runs WHERE session_key = $1)",
    "DELETE FROM runs WHERE session_key = $1",
)
"""What goes with a session, once its row is the seal."""

PURGE_RUN = (
    "DELETE FROM suspensions WHERE run_key = $1",
    "DELETE FROM records WHERE run_key = $1",
    "DELETE FROM run_labels WHERE run_key = $1",
)
"""What goes with a one-shot run, once its row is the seal."""


@cache
def for_sqlite(statement: str) -> str:
    """Write numbered parameters as SQLite does."""
    return statement.replace("$", "?")


def insert(table: str, columns: tuple[str, ...]) -> str:
    """Insert one row of these columns, in SQLite's spelling."""
    return f"INSERT INTO {table} ({rows.columns(columns)}) VALUES ({', '.join('?' * len(columns))})"


def update(table: str, columns: tuple[str, ...]) -> str:
    """Update one row by the first of these columns, in SQLite's spelling."""
    key, *changed = columns
    changes = ", ".join(f"{name} = ?{place}" for place, name in enumerate(changed, 2))
    return f"UPDATE {table} SET {changes} WHERE {key} = ?1"
