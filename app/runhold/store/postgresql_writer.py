"""Batches on PostgreSQL: two round trips each. The first locks and loads, the second writes and commits.

Lock order: the sessions by key, then the one-shot runs by key, each in one statement, ``FOR NO KEY UPDATE``, and never
a stronger lock afterwards; new rows are inserted in the order of their ids. So one batch may wait for another, and
never both for each other. Everything else is read by later statements, whose snapshots are younger than the locks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from runhold.commands.model import PurgeOneShotRun, PurgeSession
from runhold.commands.outcomes import Contended, Execute, Job, LostRaceError, Outcome
from runhold.domain.digests import Digester
from runhold.store import rows, statements
from runhold.store.batch import Batch, Changes, Share
from runhold.store.database import nothing_stored_yet
from runhold.store.parameters import (
    BYTEA_ARRAY,
    INT8,
    INT8_ARRAY,
    TEXT,
    TEXT_ARRAY,
    UUID_ARRAY,
    bytea_array,
    int8,
    int8_array,
    nullable_int8_array,
    text,
    text_array,
    uuid_array,
)
from runhold.store.pipeline import BEGIN, COMMIT, ROLLBACK, Pipeline, Statement, Step
from runhold.store.settings import StoreSettings
from runhold.store.tables import KEY_BLOCK

_IDS = "unnest($1, $2) AS wanted (namespace_key, id)"

# Asked for equal rows, the planner may take any index that begins with the same columns, or read a table from end to
# end for a join: while a table is small, or was when its statistics were gathered, all ways look alike, and the wrong
# one reads a whole namespace or run for each row. The forms below leave it only one way.


def _nearest(columns: str, table: str, same: str, index: str, wanted: str) -> str:
    """Find at most one row: the equal one or, in the order that only the right index has, the next."""
    return f"LATERAL (SELECT {columns} FROM {table} WHERE {same} AND {index} >= {wanted} ORDER BY {index} LIMIT 1)"


def _by_id(columns: str, table: str, index: str) -> str:
    nearest = _nearest(columns, table, "namespace_key = wanted.namespace_key", index, 'wanted.id COLLATE "C"')
    return f'{nearest} found ON found.{index} = wanted.id COLLATE "C"'


def _by_key(columns: str, table: str, key: str) -> str:
    """Find the row under a primary key; OFFSET keeps it from becoming a join."""
    return f"LATERAL (SELECT {columns} FROM {table} WHERE {key} = found.{key} OFFSET 0)"


_SESSION_OF_ID = _by_id("session_key, session_id", "sessions", "session_id")
_RUN_OF_ID = _by_id(rows.columns(rows.RUN), "runs", "run_id")
_RUN_KEY_OF_ID = _by_id("run_key, run_id, session_key", "runs", "run_id")


def _lock(columns: str, table: str, key: str, found: str, suffix: str) -> Statement:
    """Lock rows one after the other, in the order of their keys."""
    return Statement(
        f"SELECT locked.* FROM (SELECT found.{key} FROM {_IDS} JOIN {found} ORDER BY found.{key}) found"
        f" CROSS JOIN LATERAL (SELECT {columns} FROM {table}"
        f" WHERE {key} = found.{key} FOR NO KEY UPDATE{suffix}) locked",
        INT8_ARRAY,
        TEXT_ARRAY,
    )


def _lock_sessions(suffix: str) -> Statement:
    return _lock(rows.columns(rows.SESSION), "sessions", "session_key", _SESSION_OF_ID, suffix)


def _lock_runs(suffix: str) -> Statement:
    one_shot = f"{_RUN_KEY_OF_ID} AND found.session_key IS NULL"
    return _lock("namespace_key, run_key", "runs", "run_key", one_shot, suffix)


_LOCK_SESSIONS = {True: _lock_sessions(""), False: _lock_sessions(" SKIP LOCKED")}
_LOCK_RUNS = {True: _lock_runs(""), False: _lock_runs(" SKIP LOCKED")}
_LOCK_TREE = Statement(
    "SELECT run_key FROM runs WHERE run_key = ANY ($1) ORDER BY run_key FOR NO KEY UPDATE", INT8_ARRAY
)
_SESSIONS_THERE = Statement(
    f"SELECT wanted.namespace_key, wanted.id FROM {_IDS} JOIN {_SESSION_OF_ID}", INT8_ARRAY, TEXT_ARRAY
)
_RUNS = Statement(
    f"SELECT {rows.columns(rows.RUN, 'found.')}, s.session_id FROM {_IDS} JOIN {_RUN_OF_ID}"
    f" LEFT JOIN {_by_key('session_id', 'sessions', 'session_key')} s ON true",
    INT8_ARRAY,
    TEXT_ARRAY,
)
_RUNS_BY_KEY = Statement(
    f"SELECT {rows.columns(rows.RUN, 'r.')}, NULL::text FROM runs r WHERE r.run_key = ANY ($1)", INT8_ARRAY
)
_RECORD_OF_KEY = _nearest(
    rows.columns(rows.RECORD_READ) + ", key_hash", "records", "run_key = found.run_key", "key_hash", "wanted.key_hash"
)
_RECORDS_BY_KEY = Statement(
    f"SELECT wanted.namespace_key, {rows.columns(rows.RECORD_READ, 'c.')}"
    " FROM unnest($1, $2, $3) AS wanted (namespace_key, id, key_hash)"
    f" JOIN {_RUN_KEY_OF_ID} JOIN {_RECORD_OF_KEY} c ON c.key_hash = wanted.key_hash",
    INT8_ARRAY,
    TEXT_ARRAY,
    UUID_ARRAY,
)
_RECORD_AT = _nearest(
    rows.columns(rows.RECORD_READ), "records", "run_key = wanted.run_key", "position", "wanted.position"
)
_RECORDS_AT = Statement(
    f"SELECT {rows.columns(rows.RECORD_READ, 'c.')} FROM unnest($1, $2) AS wanted (run_key, position)"
    f" JOIN {_RECORD_AT} c ON c.position = wanted.position",
    INT8_ARRAY,
    INT8_ARRAY,
)
_SUSPENSIONS = Statement(
    f"SELECT wanted.namespace_key, c.run_key, c.suspension_id, c.data FROM {_IDS} JOIN {_RUN_KEY_OF_ID}"
    f" JOIN {_by_key('run_key, suspension_id, data', 'suspensions', 'run_key')} c ON true",
    INT8_ARRAY,
    TEXT_ARRAY,
)
_NAMESPACE = Statement(statements.NAMESPACE, TEXT)
_NEW_NAMESPACE = Statement(statements.NEW_NAMESPACE, TEXT)
_KEYS = Statement("SELECT nextval('session_keys'), nextval('run_keys')")
_HAS_RUNNING_RUN = Statement(statements.HAS_RUNNING_RUN, INT8)
_TREE = Statement(statements.TREE, INT8, TEXT)
_PURGE_SESSION = [Statement(sql, INT8) for sql in statements.PURGE_SESSION]
_PURGE_RUNS = [Statement(sql.replace("= $1", "= ANY ($1)"), INT8_ARRAY) for sql in statements.PURGE_RUN]

# How each column is sent: its type and how it is packed; bigint is the rest.
_SENT: dict[str, tuple[str, int, Callable[[Any], bytes]]] = {
    **dict.fromkeys(
        (
            *("session_id", "status", "start_outcome", "run_id", "agent_id", "parent_run_id", "predecessor_run_id"),
            *("cancellation_reason", "labels", "event_key", "turn_id", "type", "suspension_id"),
        ),
        ("text", TEXT_ARRAY, text_array),
    ),
    **dict.fromkeys(("head_digest", "digest", "payload", "data"), ("bytea", BYTEA_ARRAY, bytea_array)),
    **dict.fromkeys(("key_hash", "label_hash"), ("uuid", UUID_ARRAY, uuid_array)),
    **dict.fromkeys(("session_key", "session_position", "ended_at"), ("bigint", INT8_ARRAY, nullable_int8_array)),
}
_BIGINT: tuple[str, int, Callable[[Any], bytes]] = ("bigint", INT8_ARRAY, int8_array)


class _Write:
    """A statement that writes many rows at once, column by column."""

    def __init__(self, sql: str, columns: tuple[str, ...]) -> None:
        sent = [_SENT.get(name, _BIGINT) for name in columns]
        arrays = ", ".join(f"${place}::{kind}[]" for place, (kind, _, _) in enumerate(sent, 1))
        self._statement = Statement(sql.format(arrays=arrays), *(oid for _, oid, _ in sent))
        self._packs = [pack for _, _, pack in sent]

    def step(self, written: Sequence[rows.Row]) -> Step:
        """Write these rows."""
        return self._statement, [
            pack(column) for pack, column in zip(self._packs, zip(*written, strict=True), strict=True)
        ]


def _insert(table: str, columns: tuple[str, ...]) -> _Write:
    return _Write(f"INSERT INTO {table} ({rows.columns(columns)}) SELECT * FROM unnest({{arrays}})", columns)


def _update(table: str, columns: tuple[str, ...]) -> _Write:
    key, *changed = columns
    changes = ", ".join(f"{name} = new.{name}" for name in changed)
    return _Write(
        f"UPDATE {table} t SET {changes} FROM unnest({{arrays}}) AS new ({rows.columns(columns)})"
        f" WHERE t.{key} = new.{key}",
        columns,
    )


_WRITES = (
    ("new_sessions", _insert("sessions", rows.SESSION)),
    ("sessions", _update("sessions", rows.SESSION_CHANGES)),
    ("new_runs", _insert("runs", rows.RUN)),
    ("run_labels", _insert("run_labels", rows.RUN_LABEL)),
    ("runs", _update("runs", rows.RUN_CHANGES)),
    ("purged_runs", _update("runs", rows.RUN_SEAL)),
    ("records", _insert("records", rows.RECORD)),
    ("suspensions", _insert("suspensions", rows.SUSPENSION)),
)


class Keys:
    """Keys for new sessions and runs, taken from the sequences in blocks; shared by all connections of a process."""

    def __init__(self) -> None:
        self._sessions: list[range] = []
        self._runs: list[range] = []

    def lack(self, most: int) -> int:
        """How many more blocks a batch needs that makes up to ``most`` sessions or runs."""
        have = min(sum(map(len, self._sessions)), sum(map(len, self._runs)))
        return max(0, -(-(most - have) // KEY_BLOCK))

    def add(self, row: rows.Row) -> None:
        """Take in a block of each."""
        self._sessions.append(range(row[0], row[0] + KEY_BLOCK))
        self._runs.append(range(row[1], row[1] + KEY_BLOCK))

    def next_session(self) -> int:
        """Take a key for a new session."""
        return _taken(self._sessions)

    def next_run(self) -> int:
        """Take a key for a new run."""
        return _taken(self._runs)


def _taken(blocks: list[range]) -> int:
    first = blocks[0]
    blocks[0] = first[1:]
    if not blocks[0]:
        del blocks[0]
    return first[0]


class PostgresqlBatches:
    """Carries out batches on any connection that it is given."""

    def __init__(self, settings: StoreSettings, execute: Execute, begin: list[Step], begin_purge: list[Step]) -> None:
        self._settings = settings
        self._execute = execute
        self._digester = Digester(settings.integrity_key)
        self._keys = Keys()
        self._begin = begin
        self._begin_purge = begin_purge
        self._namespaces: dict[str, int] = {}

    async def run(self, pipeline: Pipeline, jobs: list[Job], *, wait: bool) -> list[list[Outcome | Contended]]:
        """Carry out a batch in one transaction, which is over when this returns or raises.

        Raises:
            StaleConnection: it may be tried again on another connection.
            LostRaceError: something appeared while rows were waited for; nothing is stored.
            psycopg.Error: nothing is stored, unless the connection was lost while it committed.
        """
        with nothing_stored_yet():
            await self._find_namespaces(pipeline, {job.namespace for job in jobs})
        batch = Batch(jobs, self._namespaces, self._execute, self._settings.clock(), self._digester)
        try:
            with nothing_stored_yet():
                await self._load(pipeline, batch, wait)
            results = batch.decide()
            await self._commit(pipeline, batch.changes(self._keys.next_session, self._keys.next_run))
        except BaseException:
            if not pipeline.is_lost and not pipeline.is_idle:
                await pipeline.run([(ROLLBACK, ())])
            raise
        return results

    async def _find_namespaces(self, pipeline: Pipeline, wanted: set[str]) -> None:
        for namespace in sorted(wanted - self._namespaces.keys()):
            name = (text(namespace),)
            # Made on its own, before the batch: no batch then waits for another's new namespace.
            found = await pipeline.run([(BEGIN, ()), (_NEW_NAMESPACE, name), (_NAMESPACE, name), (COMMIT, ())])
            self._namespaces[namespace] = found[2][0][0]

    async def _load(self, pipeline: Pipeline, batch: Batch, wait: bool) -> None:
        begin = self._begin if batch.purge is None else self._begin_purge
        asked: list[tuple[Step, _Take]] = [(step, _nothing) for step in begin]
        asked += [((_KEYS, ()), self._take_keys)] * self._keys.lack(batch.most_new)
        if sessions := _ids(batch, lambda share: share.sessions):
            asked.append(((_LOCK_SESSIONS[wait], sessions), _take_sessions))
        is_tree = isinstance(batch.purge, PurgeOneShotRun)
        if not is_tree and (one_shots := _ids(batch, lambda share: share.one_shots)):
            asked.append(((_LOCK_RUNS[wait], one_shots), _take_locked))
        if not is_tree and (runs := _ids(batch, lambda share: share.runs)):
            asked.append(((_RUNS, runs), _take_runs))
        if records := _record_places(batch):
            asked.append(((_RECORDS_BY_KEY, records), _take_records))
        if suspensions := _ids(batch, lambda share: share.suspensions):
            asked.append(((_SUSPENSIONS, suspensions), _take_suspensions))
        await _ask(pipeline, batch, asked)
        if batch.purge is not None:
            await _load_for_purge(pipeline, batch)
        await _load_more(pipeline, batch, wait)

    def _take_keys(self, _batch: Batch, found: list[rows.Row]) -> None:
        self._keys.add(found[0])

    async def _commit(self, pipeline: Pipeline, changes: Changes) -> None:
        steps = [write.step(written) for name, write in _WRITES if (written := getattr(changes, name))]
        # The seals are written: now the triggers let everything else go.
        if changes.purged_session is not None:
            steps += [(statement, (int8(changes.purged_session),)) for statement in _PURGE_SESSION]
        if changes.purged_runs:
            sealed = (int8_array([row[0] for row in changes.purged_runs]),)
            steps += [(statement, sealed) for statement in _PURGE_RUNS]
        limit = self._settings.purge_timeout_ms / 1000 * len(steps) if changes.has_purge else None
        await pipeline.run([*steps, (COMMIT, ())], limit)


_Take = Callable[[Batch, list[rows.Row]], None]


async def _ask(pipeline: Pipeline, batch: Batch, asked: list[tuple[Step, _Take]]) -> None:
    """Run statements together, and take in the rows of each in their order."""
    for (_, take), found in zip(asked, await pipeline.run([step for step, _ in asked]), strict=True):
        take(batch, found)


async def _load_more(pipeline: Pipeline, batch: Batch, wait: bool) -> None:
    """What only the first answers show to be needed: seldom anything."""
    asked: list[tuple[Step, _Take]] = []
    if wait:
        batch.check_all_locked()
    elif unproven := _ids(batch, lambda share: share.unproven_sessions()):
        asked.append(((_SESSIONS_THERE, unproven), _take_held))
    if places := [place for share in batch.shares for place in share.start_positions()]:
        run_keys, positions = zip(*places, strict=True)
        asked.append(((_RECORDS_AT, (int8_array(run_keys), int8_array(positions))), _take_start_records(batch)))
    if asked:
        await _ask(pipeline, batch, asked)


async def _load_for_purge(pipeline: Pipeline, batch: Batch) -> None:
    (share,) = batch.shares
    match batch.purge:
        case PurgeSession(session_id) if session_id in share.session_keys:
            (running,) = await pipeline.run([(_HAS_RUNNING_RUN, (int8(share.session_keys[session_id]),))])
            if running:
                share.state.load_running(session_id)
        case PurgeOneShotRun(run_id):
            tree = (_TREE, (int8(share.key), text(run_id)))
            (members,) = await pipeline.run([tree])
            keys = [key for (key,) in members]
            sent = (int8_array(keys),)
            root = (_RUNS, (int8_array([share.key]), text_array([run_id])))
            _, again, found, found_root = await pipeline.run([(_LOCK_TREE, sent), tree, (_RUNS_BY_KEY, sent), root])
            if {key for (key,) in again} != set(keys):
                raise LostRaceError("the tree grew while it was being locked")
            for key in keys:
                share.locked_run(key)
            for row in (*found, *found_root):
                share.found_run(row)
            share.found_tree(run_id, keys)
        case _:
            pass


def _ids(batch: Batch, wanted: Callable[[Share], Iterable[str]]) -> tuple[bytes, bytes] | None:
    """Pack the ids that the shares want, each with its namespace; None when they want none."""
    if len(batch.shares) == 1:
        ids = list(wanted(batch.shares[0]))
        namespaces = [batch.shares[0].key] * len(ids)
    else:
        pairs = [(share.key, name) for share in batch.shares for name in wanted(share)]
        namespaces, ids = [key for key, _ in pairs], [name for _, name in pairs]
    return (int8_array(namespaces), text_array(ids)) if ids else None


def _record_places(batch: Batch) -> tuple[bytes, bytes, bytes] | None:
    wanted = [(share.key, run_id, hashed) for share in batch.shares for (run_id, _), hashed in share.records.items()]
    if not wanted:
        return None
    namespaces, ids, hashes = zip(*wanted, strict=True)
    return int8_array(namespaces), text_array(ids), uuid_array(hashes)


def _nothing(_batch: Batch, _found: list[rows.Row]) -> None:
    pass


def _take_sessions(batch: Batch, found: list[rows.Row]) -> None:
    for row in found:
        batch.by_key[row[1]].found_session(row)


def _take_locked(batch: Batch, found: list[rows.Row]) -> None:
    for namespace_key, run_key in found:
        batch.by_key[namespace_key].locked_run(run_key)


def _take_runs(batch: Batch, found: list[rows.Row]) -> None:
    for row in found:
        batch.by_key[row[1]].found_run(row)


def _take_records(batch: Batch, found: list[rows.Row]) -> None:
    for row in found:
        batch.by_key[row[0]].found_record(row[1:])


def _take_suspensions(batch: Batch, found: list[rows.Row]) -> None:
    for namespace_key, run_key, suspension_id, data in found:
        batch.by_key[namespace_key].found_suspension(run_key, suspension_id, data)


def _take_held(batch: Batch, found: list[rows.Row]) -> None:
    for namespace_key, session_id in found:
        batch.by_key[namespace_key].held_sessions.add(session_id)


def _take_start_records(batch: Batch) -> _Take:
    shares = {key: share for share in batch.shares for key in share.run_keys.values()}

    def take(_batch: Batch, found: list[rows.Row]) -> None:
        for row in found:
            shares[row[0]].found_record(row)

    return take
