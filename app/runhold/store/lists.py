"""The lists of sessions and runs: SQL made from the tables for either database, kept by the shape of the question.

A list without a status is the merge of one scan for each status, so that one index serves all and every page reads only
its own rows. Seals of purged sessions and runs are in no list.

Of several filters one *drives*: its index is read in the list's order, and the others are held against each run. Which
one leaves the fewest runs is counted beforehand, up to a bound: planners of both databases guess it, and a wrong guess
reads a whole namespace.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    FromClause,
    Integer,
    Select,
    Text,
    and_,
    bindparam,
    exists,
    literal_column,
    select,
    tuple_,
    union_all,
)
from sqlalchemy.dialects import sqlite
from sqlalchemy.dialects.postgresql.base import PGDialect
from sqlalchemy.engine import Dialect
from sqlalchemy.sql.functions import count

from runhold.domain.paging import Key, RunPage, RunQuery, SessionPage, SessionQuery
from runhold.domain.values import RunStatus, SessionStatus
from runhold.store import rows
from runhold.store.rows import Row
from runhold.store.tables import HASH, Table

_postgresql: Callable[..., Dialect] = PGDialect
_DIALECTS: Mapping[str, Dialect] = {
    "postgresql": _postgresql(paramstyle="numeric_dollar"),
    "sqlite": sqlite.dialect(paramstyle="qmark"),
}
_SESSION_STATUSES = tuple(s for s in SessionStatus if s is not SessionStatus.PURGED)
_RUN_STATUSES = tuple(s for s in RunStatus if s is not RunStatus.PURGED)

_sessions = Table.metadata.tables["sessions"]
_runs = Table.metadata.tables["runs"]
_labels = Table.metadata.tables["run_labels"]


class Sql(NamedTuple):
    """A statement of one dialect."""

    text: str
    names: tuple[str, ...]
    """Its parameters in their order."""
    given: Mapping[str, Any]
    """Those that are always the same."""


PROBED = 1_000
"""So many rows are counted at most to find which filter leaves the fewest."""

Question = tuple[Sql, list[Any]]
"""A statement and its parameters."""


class _RunShape(NamedTuple):
    """What decides the text of a list of runs; the rest are parameters."""

    statuses: tuple[RunStatus, ...]
    equal: tuple[str, ...]
    labels: int
    bounds: tuple[str, ...]
    has_after: bool
    descending: bool
    driver: str
    """The filter whose index is read; ``""`` when there is no choice."""


def sessions_question(dialect: str, namespace_key: int, query: SessionQuery) -> Question:
    """Ask for a page of sessions: rows of ``rows.SESSION``, one more than the limit."""
    sql = _sessions_sql(dialect, query.statuses or _SESSION_STATUSES, query.after is not None, query.descending)
    return _asked(sql, namespace_key, query.limit, query.after)


def session_runs_question(dialect: str, session_key: int, query: RunQuery) -> Question:
    """Ask for a page of a session's runs: rows of ``rows.RUN`` with the session's id, one more than the limit."""
    sql = _session_runs_sql(dialect, query.statuses, query.after is not None, query.descending)
    return _asked(sql, 0, query.limit, query.after, session_key=session_key)


def drivers(query: RunQuery) -> list[str]:
    """The filters of a list of runs that could drive it, when there are several; a parent's children are always few."""
    if query.parent_run_id or query.session_id:
        return []
    found = [f"label_{place}" for place in range(len(query.labels))]
    found += ["agent_id"] * bool(query.agent_id) + ["status"] * bool(query.statuses)
    return found if len(found) > 1 else []


def probe_question(dialect: str, namespace_key: int, query: RunQuery, driver: str) -> Question:
    """Ask how many runs a filter leaves by itself: one row, counted up to ``PROBED``."""
    given: dict[str, Any] = {"agent_id": query.agent_id}
    if driver.startswith("label_"):
        hashed = rows.label_hash(*query.labels[int(driver.removeprefix("label_"))])
        given["label_0"] = hashed.hex() if dialect == "postgresql" else hashed
        driver = "label_0"
    sql = _probe_sql(dialect, driver, query.statuses if driver == "status" else ())
    return _asked(sql, namespace_key, PROBED - 1, None, **given)


def runs_question(dialect: str, namespace_key: int, query: RunQuery, driver: str = "") -> Question:
    """Ask for a page of runs: rows of ``rows.RUN`` with the session's id, one more than the limit."""
    hashes = [rows.label_hash(name, value) for name, value in query.labels]
    given = {
        **{name: getattr(query, name) for name in ("agent_id", "parent_run_id", "session_id") if getattr(query, name)},
        **{
            name: getattr(query, name)
            for name in ("started_after", "started_before")
            if getattr(query, name) is not None
        },
        **{f"label_{place}": found.hex() if dialect == "postgresql" else found for place, found in enumerate(hashes)},
    }
    shape = _RunShape(
        statuses=query.statuses,
        equal=tuple(name for name in ("agent_id", "parent_run_id", "session_id") if name in given),
        labels=len(hashes),
        # A cursor lies within the bounds already; beside it, the one behind would be where the index is read from.
        bounds=tuple(
            name
            for name, is_behind in (("started_after", not query.descending), ("started_before", query.descending))
            if name in given and not (is_behind and query.after is not None)
        ),
        has_after=query.after is not None,
        descending=query.descending,
        driver=driver,
    )
    return _asked(_runs_sql(dialect, shape), namespace_key, query.limit, query.after, **given)


def session_page(found: Sequence[Row], query: SessionQuery) -> SessionPage:
    """Build a page of up to one row more than it holds."""
    sessions = [rows.session_value(row) for row in found[: query.limit]]
    more = len(found) > query.limit
    return SessionPage(sessions, (sessions[-1].created_at, sessions[-1].session_id) if more else None)


def run_page(found: Sequence[Row], query: RunQuery, *, by_ordinal: bool = False) -> RunPage:
    """Build a page of up to one row more than it holds."""
    runs = [rows.run_value(row) for row in found[: query.limit]]
    if len(found) <= query.limit:
        return RunPage(runs, None)
    last = runs[-1]
    return RunPage(runs, (last.session_ordinal if by_ordinal else last.started_at, last.run_id))


def _asked(sql: Sql, namespace_key: int, limit: int, after: Key | None, **given: Any) -> Question:
    values = {**sql.given, "namespace_key": namespace_key, "more": limit + 1, **given}
    if after is not None:
        values["after_place"], values["after_id"] = after
    return sql, [values[name] for name in sql.names]


@lru_cache(128)
def _sessions_sql(dialect: str, statuses: tuple[SessionStatus, ...], has_after: bool, descending: bool) -> Sql:
    c = _sessions.c
    scans = [
        _page(
            select(_sessions).where(c.namespace_key == bindparam("namespace_key"), c.status == _literal(status)),
            (c.created_at, c.session_id),
            has_after,
            descending,
        )
        for status in statuses
    ]
    merged = _merged(scans)
    return _compiled(
        dialect,
        _page(
            select(*(merged.c[name] for name in rows.SESSION)),
            (merged.c.created_at, merged.c.session_id),
            False,
            descending,
        ),
    )


@lru_cache(128)
def _session_runs_sql(dialect: str, statuses: tuple[RunStatus, ...], has_after: bool, descending: bool) -> Sql:
    c = _runs.c
    found = _run_columns(_runs).where(c.session_key == bindparam("session_key"))
    if statuses:
        found = found.where(c.status.in_(_literals(statuses)))
    # A place in the order of starts is the session's alone, so the id decides nothing.
    return _compiled(dialect, _page(found, (c.session_ordinal, c.run_id), has_after, descending))


@lru_cache(128)
def _probe_sql(dialect: str, driver: str, statuses: tuple[RunStatus, ...]) -> Sql:
    r, labels = _runs.c, _labels.c
    if driver == "label_0":
        found = select(labels.run_key).where(
            labels.namespace_key == bindparam("namespace_key"), labels.label_hash == bindparam("label_0", type_=HASH)
        )
    else:
        found = select(r.run_key).where(r.namespace_key == bindparam("namespace_key"))
        found = found.where(
            r.agent_id == bindparam("agent_id") if driver == "agent_id" else r.status.in_(_literals(statuses))
        )
    bounded = found.limit(bindparam("more", type_=Integer())).subquery()
    return _compiled(dialect, select(count()).select_from(bounded))


@lru_cache(512)
def _runs_sql(dialect: str, shape: _RunShape) -> Sql:
    c = _runs.c
    driver = shape.driver or ("label_0" if shape.labels and "parent_run_id" not in shape.equal else "")
    if driver.startswith("label_"):
        labels = _labels.c
        driving = int(driver.removeprefix("label_"))
        # In the order of that label's index; the others are looked up for each run.
        found = (
            _run_columns(_labels.join(_runs, c.run_key == labels.run_key))
            .where(
                labels.namespace_key == bindparam("namespace_key"),
                labels.label_hash == bindparam(driver, type_=HASH),
            )
            .where(*(_has_label(place) for place in range(shape.labels) if place != driving))
            .where(*_equal(shape), *_bounds(shape, labels.started_at))
        )
        found = found.where(c.status.in_(_literals(shape.statuses or _RUN_STATUSES)))
        return _compiled(dialect, _page(found, (labels.started_at, labels.run_id), shape.has_after, shape.descending))
    others = [_has_label(place) for place in range(shape.labels)]
    if shape.equal and driver != "status":
        found = _run_columns(_runs).where(c.namespace_key == bindparam("namespace_key"), *others)
        found = found.where(*_equal(shape), *_bounds(shape, c.started_at))
        status = _unindexed(c.status) if driver else c.status
        found = found.where(status.in_(_literals(shape.statuses or _RUN_STATUSES)))
        return _compiled(dialect, _page(found, (c.started_at, c.run_id), shape.has_after, shape.descending))
    if "agent_id" in shape.equal:
        others.append(_unindexed(c.agent_id) == bindparam("agent_id", type_=c.agent_id.type))
    scans = [
        _page(
            select(c.run_key, c.started_at, c.run_id).where(
                c.namespace_key == bindparam("namespace_key"),
                c.status == _literal(status),
                *_bounds(shape, c.started_at),
                *others,
            ),
            (c.started_at, c.run_id),
            shape.has_after,
            shape.descending,
        )
        for status in shape.statuses or _RUN_STATUSES
    ]
    merged = _merged(scans)
    found = _run_columns(merged.join(_runs, c.run_key == merged.c.run_key))
    return _compiled(dialect, _page(found, (merged.c.started_at, merged.c.run_id), False, shape.descending))


def _run_columns(source: FromClause) -> Select[Any]:
    joined = source.outerjoin(_sessions, _sessions.c.session_key == _runs.c.session_key)
    return select(*(_runs.c[name] for name in rows.RUN), _sessions.c.session_id).select_from(joined)


def _equal(shape: _RunShape) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    for name in shape.equal:
        column = (_sessions if name == "session_id" else _runs).c[name]
        conditions.append(column == bindparam(name, type_=column.type))
        if name == "session_id":
            conditions.append(_sessions.c.namespace_key == bindparam("namespace_key"))
        if name == "parent_run_id":
            # Says again what the partial index holds.
            conditions.append(column != literal_column("''"))
    return conditions


def _bounds(shape: _RunShape, started_at: ColumnElement[int]) -> list[ColumnElement[bool]]:
    return [
        started_at >= bindparam(name) if name == "started_after" else started_at < bindparam(name)
        for name in shape.bounds
    ]


def _unindexed(column: ColumnElement[str]) -> ColumnElement[str]:
    """A column in a way for which no index is looked for: another filter drives."""
    return column.concat(literal_column("''"))


def _has_label(place: int) -> ColumnElement[bool]:
    other = _labels.alias()
    return exists().where(
        and_(
            other.c.namespace_key == bindparam("namespace_key"),
            other.c.label_hash == bindparam(f"label_{place}", type_=HASH),
            other.c.started_at == _runs.c.started_at,
            other.c.run_id == _runs.c.run_id,
        )
    )


def _page(
    found: Select[Any], key: tuple[ColumnElement[int], ColumnElement[str]], has_after: bool, descending: bool
) -> Select[Any]:
    place, identity = key
    if has_after:
        after = tuple_(bindparam("after_place", type_=place.type), bindparam("after_id", type_=identity.type))
        found = found.where(tuple_(place, identity) < after if descending else tuple_(place, identity) > after)
    order = (place.desc(), identity.desc()) if descending else (place, identity)
    return found.order_by(*order).limit(bindparam("more", type_=Integer()))


def _merged(scans: list[Select[Any]]) -> FromClause:
    if len(scans) == 1:
        return scans[0].subquery()
    return union_all(*(select(scan.subquery()) for scan in scans)).subquery()


def _literals(statuses: Sequence[RunStatus]) -> list[ColumnElement[str]]:
    return [_literal(status) for status in statuses]


def _literal(status: RunStatus | SessionStatus) -> ColumnElement[str]:
    # In the text, so that the planner sees which rows are meant.
    return literal_column(f"'{status.value}'", Text())


def _compiled(dialect: str, statement: Select[Any]) -> Sql:
    compiled = statement.compile(dialect=_DIALECTS[dialect])
    fixed = {name: bind.value for name, bind in compiled.binds.items() if bind.value is not None}
    return Sql(str(compiled), tuple(compiled.positiontup or ()), fixed)
