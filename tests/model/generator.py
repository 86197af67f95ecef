"""Calls worth trying next: valid ones for what the model knows now, changed ones, earlier ones again, and reads.

Ids, keys, times and payloads come from small pools, so that commands meet each other often.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tests.model import commands as make
from tests.model.choose import Choose
from tests.model.lists import Cursor
from tests.model.model import COMMANDS, Call, Model
from tests.model.mutations import mutated
from tests.model.state import Run

KEYS = ("k1", "k2", "k/é", "started", "end")
AT = ("2026-03-01T10:00:00.000Z", "2026-03-01T10:00:00.001Z", "1969-07-20T20:17:40.123Z")
LABELS: tuple[dict[str, str], ...] = ({}, {"a": "b"}, {"a": "c", "é\0": "😀\0"}, {"k=v": "="})
PAYLOADS = ('{"a": 1}', '{"a":1}', ' {"zz":1,"a":{"b":2,"aa":3.0}}', '["\\ud800\\u0000"]', '{"a":1,"a":1}', "1e400000")
REASONS = ("user", "timeout", "session_ended", "engine_canceled", "ünï")
ENDS = ("completed", "failed", "canceled")
FORMS = (
    "{}",
    "{}/agent/tool/1",
    "{}/records",
    "~{}",
    "../{}",
    "./{}",
    "{}é",
    "{}e\u0301",
    "{}😀",
    "{} ",
    " {}",
    "{}%2F",
    "{}?x#y",
    "{}\\",
    "{}\x01\n",
    "{}A",
    "{}a",
    "{}\ufeff",
    "{}\u2028+&=;",
)
EXACT = (".", "..", "~", "~x", "root", "child", "records", "one-shot", "suspension", "repair", "end", "/", "//", "%2F")


@dataclass(frozen=True)
class Pools:
    sessions: Sequence[str]
    runs: Sequence[str]
    agents: Sequence[str]
    is_alone: bool
    """Nobody else uses the database: lists of everything can be compared."""


def pools_for(choose: Choose, token: str) -> Pools:
    """Ids that no other example uses, of odd spellings."""
    forms = list(FORMS)
    picked = []
    for _ in range(8):
        form = choose.pick(forms)
        forms.remove(form)
        picked.append(form.format(token))
    return Pools(picked[:3], picked[2:], (f"{token}agent", f"{token}агент"), is_alone=False)


@dataclass
class Generator:
    choose: Choose
    pools: Pools
    model: Model
    sent: list[Call] = field(default_factory=list)
    """Commands sent before, to be sent again."""
    cursors: dict[Cursor, str] = field(default_factory=dict)
    """Which text of the service stands for which opaque cursor of the model."""

    def command(self) -> Call:
        """One command: valid as far as the model knows, or with one thing changed, or one from before."""
        way = self.choose.pick(["new"] * 6 + ["changed"] * 2 + ["again"] * 2 + ["again, changed"])
        call = self.choose.pick(self.sent) if way.startswith("again") and self.sent else self._new()
        if "changed" in way:
            call = mutated(self.choose, call, [*self.pools.runs, *self.pools.sessions, *self.pools.agents])
        if len(self.sent) < 60:
            self.sent.append(call)
        return call

    def batch(self) -> Call:
        """One to six writing commands in one request."""
        calls: list[Call] = []
        for _ in range(self.choose.pick([2, 3, 4, 6, 1])):
            call = self.command()
            calls += [call] if call.operation in COMMANDS else []
        return make.batch(*calls) if calls else self.read()

    def read(self) -> Call:
        """A read or a page of a list."""
        operation = self.choose.pick(
            ["load_run", "load_run_suspension", "load_session", "load_session_status", *["list"] * 8]
        )
        if operation == "list":
            return self._page()
        return Call(operation, self._some_run() if "run" in operation else self._some_session())

    def _new(self) -> Call:
        if self.choose.chance(90) and not self._known():
            # Nothing can be said of runs before there are some.
            return self.choose.pick([self._start, self._session])()
        maker = self.choose.pick(
            [self._start] * 7
            + [self._append] * 5
            + [self._end] * 5
            + [self._cancel] * 2
            + [self._session] * 3
            + [self._towards_a_purge] * 4
        )
        return maker()

    def _run_of(self, run_id: str) -> tuple[str, str, dict[str, str]]:
        """Agent, session and labels of a run; of one the model does not know, a guess."""
        run = self.model.state.runs.get(run_id)
        if run is None:
            return self.pools.agents[0], self.choose.pick(["", *self.pools.sessions]), {}
        return run.agent_id, run.session_id, run.labels

    def _known(self, *, running: bool = False, status: str = "") -> list[Run]:
        runs = [run for run_id in self.pools.runs if (run := self.model.state.runs.get(run_id))]
        return [run for run in runs if (not running or run.status == "running") and status in ("", run.status)]

    def _some_run(self) -> str:
        """Mostly a run that is running, sometimes one that has stopped, rarely one that is not there."""
        runs = self._known(running=self.choose.chance(70)) or self._known()
        return self.choose.pick([run.run_id for run in runs] if runs and self.choose.chance(95) else self.pools.runs)

    def _some_session(self, *statuses: str) -> str:
        """Mostly a session that is there, of one of these statuses if any is given; sometimes any."""
        known = [
            session_id
            for session_id in self.pools.sessions
            if (session := self.model.state.sessions.get(session_id))
            and (not statuses or ("purged" if session.purged else session.status) in statuses)
        ]
        return self.choose.pick(known if known and self.choose.chance(85) else self.pools.sessions)

    def _start(self) -> Call:
        choose, fresh = self.choose, [r for r in self.pools.runs if r not in self.model.state.runs]
        run = choose.pick(fresh if fresh and choose.chance(80) else self.pools.runs)
        agent, session = choose.pick(self.pools.agents), "" if choose.chance(25) else self._some_session()
        parent = parent_agent = predecessor = ""
        suspended = self._known(status="suspended")
        if suspended and choose.chance(30):
            before = choose.pick(suspended)
            predecessor, agent, session, parent = (
                before.run_id,
                before.agent_id,
                before.session_id,
                before.parent_run_id,
            )
            parent_agent = self._run_of(parent)[0] if parent else ""
        elif choose.chance(50) and (parents := self._parents()):
            found = choose.pick(parents)
            parent, parent_agent, session = found.run_id, found.agent_id, found.session_id
        elif choose.chance(5):
            predecessor = choose.pick(self.pools.runs)
        return make.start(
            run,
            agent,
            session,
            parent,
            parent_agent,
            predecessor,
            choose.pick(AT),
            choose.pick(LABELS),
            key=choose.pick(["started", "started", *KEYS]),
            link_key=choose.pick(["", "", "", "", *KEYS]),
            stop_key=choose.pick(["stopped", "stopped", *KEYS]),
        )

    def _parents(self) -> list[Run]:
        """Runs that a child may name as its parent: running ones, suspended ones, or any."""
        match self.choose.pick(["running"] * 3 + ["suspended", "in an ended session", "any"]):
            case "running":
                return self._known(running=True)
            case "suspended":
                return self._known(status="suspended")
            case "in an ended session":
                sessions = self.model.state.sessions
                return [run for run in self._known() if run.session_id and sessions[run.session_id].status == "ended"]
        return self._known()

    def _append(self) -> Call:
        run = self._some_run()
        agent, session, _ = self._run_of(run)
        call = make.append(
            run, agent, session, self.choose.pick(KEYS), self.choose.pick(PAYLOADS), self.choose.pick(AT)
        )
        changes = {"type": self.choose.pick(["planner_note", "usage"]), "turn_id": self.choose.pick(["", "t1", "t2"])}
        return replace(call, body=call.body | changes)

    def _cancel(self) -> Call:
        run = self._some_run()
        agent, session, _ = self._run_of(run)
        key = self.choose.pick(["cancel", "cancel", *KEYS])
        return make.cancellation(run, agent, session, key, self.choose.pick(REASONS))

    def _end(self) -> Call:
        choose, run = self.choose, self._some_run()
        agent, session, labels = self._run_of(run)
        labels = choose.pick(LABELS) if choose.chance(8) else labels
        repair = choose.chance(30)
        if choose.chance(35):
            key, id_ = choose.pick(["suspend", *KEYS]), choose.pick(["s-1", "s-2"])
            return make.suspension(run, agent, session, key, id_, choose.pick([b"\0\xff", b"x"]), repair)
        known = self.model.state.runs.get(run)
        reason = known.reason if known and choose.chance(80) else choose.pick(REASONS)
        key, status = choose.pick(["end", "end", *KEYS]), choose.pick(ENDS)
        return make.terminal(run, agent, session, key, status, reason, labels, repair)

    def _session(self) -> Call:
        unknown = [session for session in self.pools.sessions if session not in self.model.state.sessions]
        match self.choose.pick(["create"] * 4 + ["end"] * 2 + ["purge"] * 2 + ["purge run"]):
            case "create":
                session = self.choose.pick(unknown if unknown and self.choose.chance(70) else self.pools.sessions)
                return make.create(session, self.choose.pick([*AT, "2026-03-01T10:00:00.1234567Z", None]))
            case "end":
                return make.end_session(self._some_session(), self.choose.pick([*AT, None]))
            case "purge":
                return Call("purge_session", self._some_session("ended"))
        return Call("purge_one_shot_run", self._some_run())

    def _towards_a_purge(self) -> Call:
        """The next step to the end of all that belongs together: stop a run, end the session, purge."""
        state, choose = self.model.state, self.choose
        session_id = choose.pick(["", self._some_session("active", "ended"), *[self._some_session("ended")] * 2])
        session = state.sessions.get(session_id)
        steps: list[Call] = []
        if session_id and session is None:
            return make.create(session_id, choose.pick([*AT, None]))
        if session is not None and session.status == "active":
            steps.append(make.end_session(session_id, choose.pick([*AT, None])))
        for run in self._known(running=True):
            if run.session_id == session_id:
                status = choose.pick(ENDS)
                steps.append(
                    make.terminal(
                        run.run_id, run.agent_id, session_id, "end", status, run.reason, run.labels, choose.chance(20)
                    )
                )
        if steps:
            return choose.pick(steps)
        alone = [run.run_id for run in self._known() if not run.session_id and not run.parent_run_id]
        if session_id:
            return Call("purge_session", session_id)
        return Call("purge_one_shot_run", choose.pick(alone)) if alone else self._session()

    def _page(self) -> Call:
        choose = self.choose
        alone = ["list_sessions"] if self.pools.is_alone else []
        operation = choose.pick(
            ["list_run_records", "list_session_run_records", "list_runs_by_session", "list_runs", "list_runs", *alone]
        )
        owner = self._some_run() if operation == "list_run_records" else self._some_session()
        owner = "" if operation in ("list_runs", "list_sessions") else owner
        own = [cursor for cursor in self.cursors if (cursor.operation, cursor.owner) == (operation, owner)]
        if own and choose.chance(30):
            cursor = choose.pick(own)
            limit = choose.pick(["1", "2", "1000"])
            return Call(
                operation, owner, (*cursor.filters, ("order", cursor.order), ("limit", limit), ("cursor", cursor))
            )
        query = self._filters(operation)
        if choose.chance(50):
            query.append(
                ("limit", choose.pick(["1", "2", "3", "5", "1000", "5000", "", "0", "-1", "x", "1.0", "9" * 30]))
            )
        if choose.chance(30):
            query.append(("order", choose.pick(["desc", "asc", "down"])))
        if choose.chance(50 if own else 30):
            query.append(("cursor", self._cursor(operation, own)))
        if choose.chance(3):
            query.append(
                choose.pick([("surprise", "1"), ("limit", "1"), ("order", "asc"), ("view", "none"), ("wait_ms", "-1")])
            )
        return Call(operation, owner, tuple(query))

    def _filters(self, operation: str) -> list[tuple[str, Any]]:
        choose = self.choose
        query: list[tuple[str, Any]] = []
        if operation.endswith("records"):
            query += [
                ("type", choose.pick(["planner_note", "run_started"])) for _ in range(choose.pick([0, 0, 0, 1, 2]))
            ]
            query += [("turn_id", choose.pick(["t1", "t2"])) for _ in range(choose.pick([0, 0, 0, 1]))]
            query += [("view", choose.pick(["summary", "full"]))] if choose.chance(20) else []
            return query
        statuses = ["active", "ended"] if operation == "list_sessions" else ["running", "suspended", *ENDS]
        statuses = statuses if choose.chance(95) else ["gone"]
        query += [("status", choose.pick(statuses)) for _ in range(choose.pick([0, 0, 1, 2, 2]))]
        if operation == "list_runs":
            if not self.pools.is_alone or choose.chance(20):
                query.append(("agent_id", choose.pick(self.pools.agents)))
            query += [("session_id", self._some_session())] if choose.chance(15) else []
            query += [("parent_run_id", choose.pick(self.pools.runs))] if choose.chance(15) else []
            query += [("label", choose.pick(["a=b", "a=c", "k=v==", "é\0=😀\0"]))] if choose.chance(30) else []
            query += [("started_after", choose.pick(AT))] if choose.chance(20) else []
            query += [("started_before", choose.pick(AT))] if choose.chance(30) else []
        return query

    def _cursor(self, operation: str, own: Sequence[Cursor]) -> Cursor | str:
        """A cursor that was made for something else, or by nobody; a run's cursor is any position."""
        if operation == "list_run_records":
            return self.choose.pick(
                ["1", "2", "3", "5", "99", str(2**63 - 1), "0", "01", "-1", "+1", " 1", "x", str(2**63)]
            )
        if own and self.choose.chance(70):
            return self.choose.pick(own)
        if self.cursors and self.choose.chance(60):
            return self.choose.pick(list(self.cursors))
        return self.choose.pick(["x", "0", "AAAA", "é"])
