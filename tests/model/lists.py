"""The five lists: query rules, order, filters, pages and cursors.

Only a run's cursor has a spelling that the contract fixes. The others are opaque: here they are `Cursor` values, and
whoever compares the model with a service keeps track of which text of the service stands for which of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tests.model import values
from tests.model.state import Run, Session, State, Stored
from tests.model.values import Refused, invalid

STATUSES = {
    "list_sessions": ("active", "ended"),
    "list_runs": ("running", "suspended", "completed", "failed", "canceled"),
    "list_runs_by_session": ("running", "suspended", "completed", "failed", "canceled"),
}
RECORD_LISTS = ("list_run_records", "list_session_run_records")
NAMES = {
    "list_sessions": {"status"},
    "list_runs_by_session": {"status"},
    "list_runs": {"status", "agent_id", "session_id", "parent_run_id", "label", "started_after", "started_before"},
    "list_run_records": {"type", "turn_id", "view", "wait_ms"},
    "list_session_run_records": {"type", "turn_id", "view", "wait_ms"},
}
REPEATABLE = {"status", "label", "type", "turn_id"}
PAGE_BYTES = 8 * 1024 * 1024

Query = Sequence[tuple[str, Any]]


@dataclass(frozen=True)
class Cursor:
    """Where a page ended. `filters` and `order` are part of it: it is refused with others."""

    operation: str
    owner: str
    filters: tuple[tuple[str, str], ...]
    order: str
    key: Any


@dataclass(frozen=True)
class Between:
    """Any position from `first` to `last`: with a filter, how far a page looked ahead is the service's choice."""

    first: Cursor | str
    last: Cursor | str

    def holds(self, got: Any) -> bool:
        """Whether a service's cursor can be one of these; of opaque ones only that there is one."""
        if isinstance(self.first, Cursor) or isinstance(self.last, Cursor):
            return isinstance(got, str) and got != ""
        low, high = sorted((int(self.first), int(self.last)))
        return isinstance(got, str) and re.fullmatch("[1-9][0-9]*", got) is not None and low <= int(got) <= high


@dataclass(frozen=True)
class Asked:
    operation: str
    owner: str
    filters: dict[str, list[str]]
    order: str
    view: str
    limit: str
    cursor: Any

    def one(self, name: str) -> str:
        return self.filters.get(name, [""])[0]

    def cursor_at(self, key: Any) -> Cursor | str:
        if self.operation == "list_run_records":
            return str(key)
        filters = tuple(sorted((name, text) for name, texts in self.filters.items() for text in set(texts)))
        return Cursor(self.operation, self.owner, filters, self.order, key)


def read_query(operation: str, owner: str, query: Query) -> Asked:
    """A list's query, judged before limit, cursor and existence."""
    given: dict[str, list[Any]] = {}
    for name, value in query:
        given.setdefault(name, []).append(value)
    for name, found in given.items():
        if name not in NAMES[operation] | {"cursor", "limit", "order"}:
            raise invalid(f"unknown query name {name}")
        if len(found) > 1 and name not in REPEATABLE:
            raise invalid(f"{name} twice")
        for text in found:
            _judge(operation, name, text)
    order, view = (given.get(name, [""])[0] for name in ("order", "view"))
    filters = {name: found for name, found in given.items() if name in NAMES[operation] - {"view", "wait_ms"}}
    return Asked(
        operation,
        owner,
        filters,
        order or "asc",
        view or "full",
        str(given.get("limit", [""])[0]),
        given.get("cursor", [""])[0],
    )


def _judge(operation: str, name: str, text: Any) -> None:
    """One value of a query, unless it is judged later."""
    match name:
        case "status":
            holds = text in STATUSES[operation]
        case "order":
            holds = text in ("", "asc", "desc")
        case "view":
            holds = text in ("", "full", "summary")
        case "wait_ms":
            holds = re.fullmatch("[0-9]*", text) is not None
        case "label":
            holds = "=" in text
        case "started_after" | "started_before":
            holds = values.milliseconds(text) >= 0
        case "cursor" | "limit":
            holds = True
        case _:
            holds = values.identifier(text) == text
    if not holds:
        raise invalid(f"a wrong {name}")


def run_list(state: State, asked: Asked) -> dict[str, Any]:
    """One page of the list asked for."""
    limit = _limit(asked.limit)
    after = _after(asked)
    match asked.operation:
        case "list_sessions":
            sessions = [session for session in state.sessions.values() if not session.purged]
            sessions.sort(key=_session_key)
            keep_session = _keeps(asked.filters.get("status"))
            return _page(asked, "sessions", sessions, _session_key, lambda s: keep_session(s.status), limit, after)
        case "list_runs":
            runs = sorted(state.runs.values(), key=_run_key)
            return _page(asked, "runs", runs, _run_key, lambda run: _run_matches(asked, run), limit, after)
        case "list_runs_by_session":
            runs = state.session(asked.owner).runs
            place = {run.run_id: index for index, run in enumerate(runs, 1)}
            keep_run = _keeps(asked.filters.get("status"))
            return _page(asked, "runs", runs, lambda run: place[run.run_id], lambda r: keep_run(r.status), limit, after)
        case "list_run_records":
            records = state.run(asked.owner).records
            return _page(asked, "records", records, lambda r: r.position, _keeps_record(asked), limit, after)
    log = state.session(asked.owner).log
    places = {id(stored): index for index, stored in enumerate(log, 1)}
    return _page(asked, "records", log, lambda stored: places[id(stored)], _keeps_record(asked), limit, after)


def _limit(text: str) -> int:
    if text == "":
        return 100
    if not re.fullmatch("[0-9]+", text) or not text.strip("0"):
        raise Refused("invalid_limit")
    return 1000 if len(text.lstrip("0")) > 4 else min(int(text), 1000)


def _after(asked: Asked) -> Any:
    """The key to go on from, or None for the beginning."""
    cursor = asked.cursor
    if cursor == "":
        return None
    if asked.operation == "list_run_records":
        if re.fullmatch("[1-9][0-9]{0,18}", cursor) and int(cursor) < 2**63:
            return int(cursor)
        raise Refused("invalid_cursor")
    if not isinstance(cursor, Cursor) or cursor != asked.cursor_at(cursor.key):
        raise Refused("invalid_cursor")
    return cursor.key


def _session_key(session: Session) -> tuple[int, str]:
    return session.created_at, session.session_id


def _run_key(run: Run) -> tuple[int, str]:
    return run.started_at, run.run_id


def _keeps(wanted: list[str] | None) -> Callable[[str], bool]:
    return lambda status: not wanted or status in wanted


def _keeps_record(asked: Asked) -> Callable[[Stored], bool]:
    types, turns = _keeps(asked.filters.get("type")), _keeps(asked.filters.get("turn_id"))
    return lambda stored: types(stored.record.type) and turns(stored.record.turn_id)


def _run_matches(asked: Asked, run: Run) -> bool:
    if not _keeps(asked.filters.get("status"))(run.status):
        return False
    for name in ("agent_id", "session_id", "parent_run_id"):
        if asked.one(name) and getattr(run, name) != asked.one(name):
            return False
    for label in asked.filters.get("label", []):
        name, _, text = label.partition("=")
        if run.labels.get(name) != text:
            return False
    first = values.milliseconds(asked.one("started_after"))
    before = values.milliseconds(asked.one("started_before"))
    return run.started_at >= first and (not before or run.started_at < before)


def _page(
    asked: Asked,
    name: str,
    items: Sequence[Any],
    key: Callable[[Any], Any],
    keeps: Callable[[Any], bool],
    limit: int,
    after: Any,
) -> dict[str, Any]:
    descending = asked.order == "desc"
    rest = [i for i in items if after is None or (key(i) < after if descending else key(i) > after)]
    if descending:
        rest.reverse()
    matching = [item for item in rest if keeps(item)]
    page = _as_many_as_fit(asked, matching, limit)
    is_last = len(page) == len(matching)
    end = asked.cursor_at(key(page[-1])) if page else asked.cursor
    summary = asked.view == "summary"
    documents = [item.document(summary) if isinstance(item, Stored) else item.document() for item in page]
    answer = {name: documents, "next_cursor": "" if is_last else end}
    if name == "records":
        answer["end_cursor"] = end
        if asked.filters and rest:
            answer["end_cursor"] = _looked_at(asked, page, rest, matching, key, limit)
    return answer


def _as_many_as_fit(asked: Asked, matching: list[Any], limit: int) -> list[Any]:
    page = matching[:limit]
    if asked.operation not in RECORD_LISTS or asked.view == "summary":
        return page
    size = 0
    for count, stored in enumerate(page):
        size += len(stored.record.payload.encode())
        if size > PAGE_BYTES and count:
            return page[:count]
    return page


def _looked_at(
    asked: Asked, page: list[Any], rest: list[Any], matching: list[Any], key: Callable[[Any], Any], limit: int
) -> Any:
    """With a filter a page ends at the last position looked at: the last of all when the page had room for more."""
    if len(page) == len(matching):
        last = asked.cursor_at(key(rest[-1]))
        return last if len(page) < limit else Between(asked.cursor_at(key(page[-1])), last)
    before_next = rest[rest.index(matching[len(page)]) - 1]
    return Between(asked.cursor_at(key(page[-1])), asked.cursor_at(key(before_next)))
