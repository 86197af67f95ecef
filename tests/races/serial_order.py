"""Whether a history has an order, one command after the other, in which the model gives the very same answers.

The search is that of Wing and Gong: of the commands that may come next (nobody's answer came before their sending), try
each whose answer the model gives, and go back where none is left. States that were reached before with the same
commands done are not tried again (Lowe).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from tests.model.model import Model, compare
from tests.model.state import State
from tests.model.values import microseconds
from tests.races.histories import Event, History

CLOCKED = {"create_session": "created_at", "end_session": "ended_at"}


def serial_order(history: History) -> list[Event] | None:
    """An order that explains every answer and keeps what was over before something began; None when there is none."""
    return _Search(history.events).order()


def assert_serial(history: History) -> None:
    """Fail unless the history equals some serial order, naming what it was."""
    if serial_order(history) is None:
        told = "\n".join(
            f"{event.caller:3} {event.sent:.6f}-{event.answered:.6f} {event.call.operation} {event.call.path!r} "
            f"{event.call.query or ''} -> {event.answer.status} {event.answer.code or event.answer.body}"
            for event in history.events
        )
        raise AssertionError(f"no serial order gives these answers:\n{told}")


class _Search:
    def __init__(self, events: Sequence[Event]) -> None:
        self._events = sorted(events, key=lambda event: event.sent)
        self._seen: set[tuple[frozenset[int], Hashable]] = set()
        last: dict[int, int] = {}
        self._before: list[int | None] = []
        """Which event of the same caller comes right before each."""
        for number, event in enumerate(self._events):
            self._before.append(last.get(event.caller))
            last[event.caller] = number

    def order(self) -> list[Event] | None:
        found = self._from(Model(), frozenset(), [])
        return None if found is None else [self._events[number] for number in found]

    def _from(self, model: Model, done: frozenset[int], order: list[int]) -> list[int] | None:
        # Commands that nobody overlaps leave no choice: they are played in a loop, not one call deeper each.
        while True:
            nexts = self._nexts(done)
            if not nexts:
                return order
            if len(nexts) > 1:
                break
            if not _agrees(model, self._events[nexts[0]]):
                return None
            done, order = done | {nexts[0]}, [*order, nexts[0]]
        mark = done, fingerprint(model.state)
        if mark in self._seen:
            return None
        self._seen.add(mark)
        for number in nexts:
            twin = model.copy()
            if _agrees(twin, self._events[number]):
                found = self._from(twin, done | {number}, [*order, number])
                if found is not None:
                    return found
        return None

    def _nexts(self, done: frozenset[int]) -> list[int]:
        """Events that may be next: their caller has done all before, and nothing pending was answered before them."""
        pending = [number for number in range(len(self._events)) if number not in done]
        if not pending:
            return []
        deadline = min(self._events[number].answered for number in pending)
        return [
            number
            for number in pending
            if self._events[number].sent <= deadline and ((before := self._before[number]) is None or before in done)
        ]


def _agrees(model: Model, event: Event) -> bool:
    """Play the event on the model; whether it answers the same."""
    call, got = event.call, event.answer
    clocked = CLOCKED.get(call.operation)
    if clocked and got.status == 200:
        model.now = microseconds(got.body[clocked])
    return compare(model.call(call.operation, call.path, call.query, call.body), got) is None


def fingerprint(state: State) -> Hashable:
    """All of a state, as something that can be put into a set."""
    sessions = tuple(
        (
            session.session_id,
            session.created_at,
            session.ended_at,
            session.purged,
            tuple(run.run_id for run in session.runs),
            tuple((stored.record.run_id, stored.position) for stored in session.log),
        )
        for session in sorted(state.sessions.values(), key=lambda session: session.session_id)
    )
    runs = tuple(
        (
            run.run_id,
            run.agent_id,
            run.session_id,
            run.parent_run_id,
            run.started_at,
            tuple(sorted(run.labels.items())),
            run.outcome,
            run.status,
            run.reason,
            run.suspension,
            run.link and (run.link.record, run.link.position),
            tuple(stored.record for stored in run.records),
        )
        for run in sorted(state.runs.values(), key=lambda run: run.run_id)
    )
    return sessions, runs, frozenset(state.sealed_runs)
