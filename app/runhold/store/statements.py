"""The SQL that both databases understand, with PostgreSQL's ``$1``; ``for_sqlite`` turns it into SQLite's ``?1``."""

from __future__ import annotations

from functools import cache

from runhold.store import rows

NAMESPACE = "SELECT namespace_key FROM namespaces WHERE name = $1"
NEW_NAMESPACE = "INSERT INTO namespaces (name) VALUES ($1) ON CONFLICT (name) DO NOTHING"


def _nearest(table: str, name: str) -> str:
    """Find the row of an id or, in the order that only the right index has, the next.

    Asked for equal ids, the planner may take any index that begins with the namespace, and read all of it.
    """
    return f"(SELECT * FROM {table} WHERE namespace_key = $1 AND {name} >= $2 ORDER BY {name} LIMIT 1)"


SESSION_OF_ID = _nearest("sessions", "session_id")
RUN_OF_ID = _nearest("runs", "run_id")
"""To be followed by ``WHERE … = $2``."""

_ITS_SESSION = "LEFT JOIN sessions s ON s.session_key = r.session_key"
_ITS_CHECKPOINT = "LEFT JOIN suspensions c ON c.run_key = r.run_key"
_SESSION_COLUMNS = f"SELECT {rows.columns(rows.SESSION)}"
_RUN_COLUMNS = f"SELECT {rows.columns(rows.RUN, 'r.')}, s.session_id"
_CHECKPOINT_COLUMNS = "SELECT c.suspension_id, c.data"
_SESSION_IS = "namespace_key = $1 AND session_id = $2"
_RUN_IS = "r.namespace_key = $1 AND r.run_id = $2"
_NO_SEAL = "r.status <> 'purged'"

SESSION = f"{_SESSION_COLUMNS} FROM sessions WHERE {_SESSION_IS}"
RUN = f"{_RUN_COLUMNS} FROM runs r {_ITS_SESSION} WHERE {_RUN_IS}"
RUN_SUSPENSION = f"{_CHECKPOINT_COLUMNS} FROM runs r {_ITS_CHECKPOINT} WHERE {_RUN_IS} AND {_NO_SEAL}"
"""As SQLite finds them: a unique index that answers the whole question always comes first there."""
RUN_BY_KEY = f"{_RUN_COLUMNS} FROM runs r {_ITS_SESSION} WHERE r.run_key = $1"

NEAREST_SESSION = f"{_SESSION_COLUMNS} FROM {SESSION_OF_ID} s WHERE session_id = $2"
NEAREST_RUN = f"{_RUN_COLUMNS} FROM {RUN_OF_ID} r {_ITS_SESSION} WHERE r.run_id = $2"
NEAREST_RUN_SUSPENSION = (
    f"{_CHECKPOINT_COLUMNS} FROM {RUN_OF_ID} r {_ITS_CHECKPOINT} WHERE r.run_id = $2 AND {_NO_SEAL}"
)
"""The same, as PostgreSQL finds them."""

RUNNING_RUNS = (
    "SELECT count(*), min(r.started_at) FROM namespaces n"
    " JOIN runs r ON r.namespace_key = n.namespace_key AND r.status = 'running'"
)

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
