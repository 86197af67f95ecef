"""The model and a running service side by side: the same call to both, and nothing but agreement allowed."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any

from tests.model.lists import NAMES, Between, Cursor
from tests.model.model import Answer, Call, Model, compare
from tests.model.values import microseconds
from tests.model.wire import Wire


class Disagreement(AssertionError):
    """The service's answer is not the contract's: ``what`` tells where, without the call."""

    def __init__(self, what: str, call: Call | None = None) -> None:
        super().__init__(what if call is None else f"{call}: {what}")
        self.what = what


@dataclass
class Pair:
    wire: Wire
    model: Model = field(default_factory=Model)
    cursors: dict[Cursor, str] = field(default_factory=dict)
    steps: int = 0
    history: list[tuple[Call, bool]] = field(default_factory=list)
    """Every call so far, and whether its path was spelled plainly."""
    _stored: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    _digests: dict[tuple[str, int], str] = field(default_factory=dict)
    _updates: dict[tuple[str, int], str] = field(default_factory=dict)

    def step(self, call: Call, plain: bool = False) -> Answer:
        """Send one call to both. Returns the service's answer; raises Disagreement when it is not the model's."""
        self.steps += 1
        self.history.append((call, plain))
        query = tuple((name, self.cursors[v] if isinstance(v, Cursor) else v) for name, v in call.query)
        got = self.wire.call(replace(call, query=query), plain)
        self._learn_time(call, got)
        want = self.model.call(call.operation, call.path, call.query, call.body)
        if found := compare(want, got):
            raise Disagreement(found, call)
        if got.status < 300:
            self._learn(call, want.body, got.body)
        return got

    def walk(self, operation: str, owner: str = "", order: str = "asc", limit: int = 2, **filters: str) -> int:
        """Page through a whole list, both sides agreeing on every page. Returns how many items there were."""
        query: tuple[tuple[str, Any], ...] = (*filters.items(), ("order", order), ("limit", str(limit)))
        count, more = 0, query
        while True:
            self.step(Call(operation, owner, more))
            want = self.model.call(operation, owner, more)
            if want.status != 200:
                return count
            count += len(next(iter(want.body.values())))
            if want.body["next_cursor"] == "":
                return count
            more = (*query, ("cursor", want.body["next_cursor"]))

    def _learn_time(self, call: Call, got: Answer) -> None:
        """A session without a time of its own gets the service's: the model takes it over."""
        name = {"create_session": "created_at", "end_session": "ended_at"}.get(call.operation)
        if name and got.status == 200 and re.fullmatch(r"[0-9T:.Z-]{27}", str(got.body.get(name))):
            self.model.now = microseconds(got.body[name])

    def _learn(self, call: Call, want: Any, got: Any) -> None:
        if call.operation in ("purge_session", "purge_one_shot_run"):
            # Run ids may be free again: what is known of their records belongs to the runs that are gone.
            self._stored.clear()
            self._digests.clear()
            self._updates.clear()
        elif call.operation in NAMES:
            for name in ("next_cursor", "end_cursor"):
                cursor = want.get(name)
                cursor = cursor.first if isinstance(cursor, Between) else cursor
                if isinstance(cursor, Cursor):
                    self.cursors.setdefault(cursor, got[name])
            for document in got.get("records", []):
                self._same_as_before(document)
            for document in got.get("runs", []):
                self._moves_when_it_may(document)
        elif call.operation == "load_run":
            self._moves_when_it_may(got)

    def _same_as_before(self, document: dict[str, Any]) -> None:
        """A record is stored once: what the service alone knows of it (its clock) never changes."""
        key = document["run_id"], document["id"]
        seen = self._stored.setdefault(key, document)
        if seen["stored_at"] != document["stored_at"]:
            raise Disagreement(f"{key}: stored_at was {seen['stored_at']}, is {document['stored_at']}")

    def _moves_when_it_may(self, document: dict[str, Any]) -> None:
        """`head_digest` changes with every record, `updated_at` with the run's own changes, and neither otherwise."""
        run_id, count = document["run_id"], document["record_count"]
        if self._digests.setdefault((run_id, count), document["head_digest"]) != document["head_digest"]:
            raise Disagreement(f"{run_id!r}: another digest after the same {count} records")
        moves = self.model.state.runs[run_id].moves
        if self._updates.setdefault((run_id, moves), document["updated_at"]) != document["updated_at"]:
            raise Disagreement(f"{run_id!r}: updated_at moved without a change of the run")


def all_lists_agree(pair: Pair, sessions: list[str], runs: list[str], alone: bool) -> None:
    """Read everything back, forwards and backwards, in small pages and in filtered ones."""
    for session in sessions:
        pair.step(Call("load_session", session))
        for order in ("asc", "desc"):
            pair.walk("list_runs_by_session", session, order)
            pair.walk("list_session_run_records", session, order, limit=3)
        pair.walk("list_session_run_records", session, type="planner_note")
    for run in runs:
        pair.step(Call("load_run", run))
        pair.step(Call("load_run_suspension", run))
        for order in ("asc", "desc"):
            pair.walk("list_run_records", run, order)
        pair.walk("list_run_records", run, type="planner_note", view="summary")
    if alone:
        for order in ("asc", "desc"):
            pair.walk("list_sessions", "", order)
            pair.walk("list_runs", "", order)
        pair.walk("list_sessions", status="ended")
        pair.walk("list_runs", status="running")
