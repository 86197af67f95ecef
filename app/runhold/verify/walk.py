"""Goes through a database, snapshot by snapshot, and tells every finding. Memory stays flat; nothing is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar
from uuid import UUID

from runhold.domain.digests import Digester
from runhold.domain.values import Run, RunStatus, SessionStatus
from runhold.store import rows
from runhold.store import snapshots as reading
from runhold.store.rows import Row
from runhold.store.snapshots import Database, Snapshot
from runhold.verify.findings import Finding, Rule, Tally
from runhold.verify.runs import RunCheck, check_link, check_relatives
from runhold.verify.sessions import (
    check_order_of_starts,
    check_run_seal,
    check_session_positions,
    check_session_seal,
)

_DECODING = (KeyError, ValueError, TypeError, AttributeError)
_Value = TypeVar("_Value")


class UnknownScope(LookupError):
    """There is no such namespace or session; the text says which."""


class Walk:
    """One verification.

    Args:
        database: what is proven.
        integrity_key: the one that the service uses, empty without one.
        told: called after each session and one-shot run, with how much was read so far.
    """

    def __init__(
        self, database: Database, integrity_key: bytes = b"", told: Callable[[Tally], None] | None = None
    ) -> None:
        self._database = database
        self._digester = Digester(integrity_key)
        self._told = told or (lambda _: None)
        self.tally = Tally()
        self.mistaken_digests = 0

    def everything(self, namespace: str | None = None) -> Iterator[Finding]:
        """Prove all namespaces, or one. Raises: UnknownScope."""
        with self._database.snapshot() as snapshot:
            found = list(snapshot.rows(reading.NAMESPACES))
        if namespace is not None:
            found = [row for row in found if row[1] == namespace]
            if not found:
                raise UnknownScope(f"there is no namespace {namespace!r}")
        for namespace_key, name in found:
            for session_key in self._keys(reading.SESSIONS, namespace_key):
                yield from self._session(name, namespace_key, session_key)
            for run_key in self._keys(reading.ONE_SHOT_RUNS, namespace_key):
                yield from self._one_shot_run(name, namespace_key, run_key)

    def session(self, namespace: str, session_id: str) -> Iterator[Finding]:
        """Prove one session. Raises: UnknownScope."""
        with self._database.snapshot() as snapshot:
            known = {name: key for key, name in snapshot.rows(reading.NAMESPACES)}
            row = next(snapshot.rows(reading.SESSION_KEY, known.get(namespace, 0), session_id), None)
        if row is None:
            raise UnknownScope(f"there is no session {session_id!r} in namespace {namespace!r}")
        yield from self._session(namespace, known[namespace], row[0])

    def _keys(self, statement: str, namespace_key: int) -> Iterator[int]:
        """Walk over keys by thousands; what is added meanwhile has higher keys, or belongs to no snapshot yet."""
        last = 0
        while True:
            with self._database.snapshot() as snapshot:
                found = [row[0] for row in snapshot.rows(statement, namespace_key, last)]
            if not found:
                return
            yield from found
            last = found[-1]

    def _session(self, namespace: str, namespace_key: int, session_key: int) -> Iterator[Finding]:
        with self._database.snapshot() as snapshot:
            row = next(snapshot.rows(reading.SESSION, session_key), None)
            if row is None:
                return
            session, fault = _decoded(rows.session_value, row)
            if session is None:
                yield Finding(Rule.UNREADABLE, f"the session's row does not decode: {fault}", namespace, str(row[2]))
                return
            runs = list(snapshot.stream(reading.RUNS_OF_SESSION, session_key))
            if session.status is SessionStatus.PURGED:
                (records,) = next(snapshot.rows(reading.RECORDS_LEFT, session_key))
                yield from check_session_seal(namespace, session, len(runs), records)
            else:
                ordinals = [run[rows.RUN.index("session_ordinal")] for run in runs]
                yield from check_order_of_starts(namespace, session, ordinals)
                positions = (row[0] for row in snapshot.stream(reading.SESSION_POSITIONS, session_key))
                yield from check_session_positions(namespace, session, positions)
                for run_row in runs:
                    yield from self._run(snapshot, namespace, namespace_key, run_row)
        self.tally.sessions += 1
        self._told(self.tally)

    def _one_shot_run(self, namespace: str, namespace_key: int, run_key: int) -> Iterator[Finding]:
        with self._database.snapshot() as snapshot:
            row = next(snapshot.rows(reading.RUN, run_key), None)
            if row is not None:
                yield from self._run(snapshot, namespace, namespace_key, row)
        self._told(self.tally)

    def _run(self, snapshot: Snapshot, namespace: str, namespace_key: int, row: Row) -> Iterator[Finding]:
        run, fault = _decoded(rows.run_value, row)
        if run is None:
            detail = f"the run's row does not decode: {fault}"
            yield Finding(Rule.UNREADABLE, detail, namespace, row[17] or "", str(row[10]))
            return
        run_key, session_key = row[0], row[2]
        self.tally.runs += 1
        if row[1] != namespace_key:
            yield Finding(Rule.OWNER, "its session is of another namespace", namespace, run.session_id, run.run_id)
        if run.status is RunStatus.PURGED:
            (left,) = next(snapshot.rows(reading.LEFT_OF_RUN, run_key))
            yield from check_run_seal(namespace, run.run_id, left)
            return
        check = RunCheck(namespace, run, self._digester)
        for record_row in snapshot.stream(reading.RECORDS, run_key):
            yield from self._record(snapshot, namespace, namespace_key, run, session_key, record_row, check)
        suspension = next(snapshot.rows(reading.SUSPENSION, run_key), None)
        yield from check.end(None if suspension is None else suspension[0])
        self.mistaken_digests += check.mistaken_digests
        yield from self._relatives(snapshot, namespace, namespace_key, run)
        yield from _check_labels(snapshot, namespace, namespace_key, run_key, run, row[16])

    def _record(
        self,
        snapshot: Snapshot,
        namespace: str,
        namespace_key: int,
        run: Run,
        session_key: int | None,
        row: Row,
        check: RunCheck,
    ) -> Iterator[Finding]:
        self.tally.records += 1
        *columns, its_session, hashed = row
        stored, fault = _decoded(lambda found: rows.record_value(found, run), tuple(columns))
        if stored is None:
            detail = f"the record does not decode: {fault}"
            yield Finding(Rule.UNREADABLE, detail, namespace, run.session_id, run.run_id, row[1], str(row[6]))
            return
        has_its_hash = _hash_bytes(hashed) == rows.key_hash(stored.record.event_key)
        yield from check.take(stored, is_owned=its_session == session_key, has_its_hash=has_its_hash)
        for link in check.links:
            child = self._run_of_id(snapshot, namespace_key, link.child.child_run_id)
            yield from check_link(namespace, run, link, None if child is None else child[0])

    def _relatives(self, snapshot: Snapshot, namespace: str, namespace_key: int, run: Run) -> Iterator[Finding]:
        parent, linked_by, predecessor = None, "", None
        if run.parent_run_id:
            found = self._run_of_id(snapshot, namespace_key, run.parent_run_id)
            if found is not None:
                parent, parent_key = found
                row = next(snapshot.rows(reading.RECORD_TYPE, parent_key, run.link_position), None)
                linked_by = "" if row is None else row[0]
        if run.predecessor_run_id:
            found = self._run_of_id(snapshot, namespace_key, run.predecessor_run_id)
            predecessor = None if found is None else found[0]
        yield from check_relatives(namespace, run, parent, linked_by, predecessor)

    def _run_of_id(self, snapshot: Snapshot, namespace_key: int, run_id: str) -> tuple[Run, int] | None:
        row = next(snapshot.rows(reading.RUN_OF_ID, namespace_key, run_id), None)
        if row is None:
            return None
        run, _ = _decoded(rows.run_value, row)
        return None if run is None else (run, row[0])


def _check_labels(
    snapshot: Snapshot, namespace: str, namespace_key: int, run_key: int, run: Run, text: str
) -> Iterator[Finding]:
    found = sorted(_label_row(row) for row in snapshot.rows(reading.LABELS, run_key))
    wanted = sorted(rows.run_label_rows(run_key, namespace_key, run))
    if found != wanted:
        detail = "the labels by which the run is found are not its labels"
        yield Finding(Rule.LABELS, detail, namespace, run.session_id, run.run_id)
    if text != rows.labels_text(run.labels):
        yield Finding(
            Rule.LABELS, "its labels are not spelled as they are stored", namespace, run.session_id, run.run_id
        )


def _label_row(row: Row) -> Row:
    return (row[0], _hash_bytes(row[1]), *row[2:])


def _hash_bytes(value: object) -> bytes:
    """A hash is a UUID to PostgreSQL, and bytes to SQLite."""
    return value if isinstance(value, bytes) else UUID(str(value)).bytes


def _decoded(decode: Callable[[Row], _Value], row: Row) -> tuple[_Value | None, str]:
    try:
        return decode(row), ""
    except _DECODING as error:
        return None, type(error).__name__
