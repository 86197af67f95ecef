"""Callers that want different things of the same rows at the same moment, through two services on one database.

Whatever happens equals some serial order of the commands, shown by a search over the model; the state that is read
afterwards is part of what that order must explain. Nobody ever gets a server error.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest

from tests.model import commands as make
from tests.model.model import Call
from tests.model.profile import FULL
from tests.races.histories import Callers, History
from tests.races.serial_order import assert_serial
from tests.support.server import Server

CALLERS = 8
ROUNDS = 300 if FULL else 12
A, B = "agent", "другой"


@dataclass
class Race:
    """What is there before, what the callers do, and whose state is read afterwards."""

    before: Sequence[Call]
    callers: Sequence[Sequence[Call]]
    runs: Sequence[str] = ()
    sessions: Sequence[str] = field(default_factory=list)

    def reads(self) -> list[Call]:
        """Everything that the race can have changed."""
        calls = []
        for run in self.runs:
            calls += [make.load(run), Call("list_run_records", run), Call("load_run_suspension", run)]
        for session in self.sessions:
            calls += [
                Call(operation, session)
                for operation in ("load_session", "list_runs_by_session", "list_session_run_records")
            ]
        return calls


def each(*calls: Call) -> list[list[Call]]:
    """The calls, each by a caller of its own, again and again until there are enough callers."""
    return [[calls[number % len(calls)]] for number in range(max(CALLERS, len(calls)))]


# --- the races: u is a text that no other round has -----------------------------------------------------------------


def two_ends(u: str) -> Race:
    ends = [make.terminal(u, status=status, key=f"end {status}") for status in ("completed", "failed", "canceled")]
    return Race([make.start(u)], each(*ends, make.suspension(u)), [u])


def an_end_and_a_repair_as_another(u: str) -> Race:
    calls = [
        make.terminal(u),
        make.terminal(u, repair=True),
        make.terminal(u, status="failed", key="repaired", repair=True),
        make.suspension(u, repair=True),
    ]
    return Race([make.start(u)], each(*calls), [u])


def the_same_end_under_two_keys(u: str) -> Race:
    return Race([make.start(u)], each(make.terminal(u, key="k1"), make.terminal(u, key="k2")), [u])


def two_checkpoints(u: str) -> Race:
    calls = [make.suspension(u, data=b"one"), make.suspension(u, data=b"two"), make.suspension(u, key="other")]
    return Race([make.start(u)], each(*calls), [u])


def two_starts_of_one_id(u: str) -> Race:
    session = u + "s"
    starts = [make.start(u, A, session), make.start(u, A, session, labels={"a": "b"}), make.start(u, B, session)]
    return Race([make.create(session)], each(*starts, make.load(u)), [u], [session])


def starts_of_one_id_in_two_sessions_and_in_none(u: str) -> Race:
    sessions = [u + "s", u + "t"]
    starts = [make.start(u, A, sessions[0]), make.start(u, A, sessions[1]), make.start(u, A)]
    return Race([make.create(session) for session in sessions], each(*starts), [u], sessions)


def a_child_start_against_the_end_of_its_parent(u: str) -> Race:
    session, parent, child = u + "s", u, u + "/agent/tool/1"
    race = [make.start(child, B, session, parent, A), make.terminal(parent, A, session), make.load(child)]
    return Race([make.create(session), make.start(parent, A, session)], each(*race), [parent, child], [session])


def a_one_shot_child_start_against_the_end_of_its_parent(u: str) -> Race:
    child = u + "/agent/tool/1"
    race = [make.start(child, B, parent=u), make.suspension(u), make.append(u, key=f"link {child}")]
    return Race([make.start(u)], each(*race), [u, child])


def a_start_against_the_end_of_its_session(u: str) -> Race:
    session, parent = u + "s", u + "p"
    race = [
        make.start(u, A, session),
        make.end_session(session),
        make.start(u + "c", A, session, parent),
        make.append(parent, A, session),
    ]
    return Race([make.create(session), make.start(parent, A, session)], each(*race), [u, parent, u + "c"], [session])


def ends_of_one_session_at_different_times(u: str) -> Race:
    ends = [make.end_session(u), make.end_session(u, "2026-03-01T10:00:00.5Z"), make.end_session(u, None)]
    return Race([make.create(u)], each(*ends, make.create(u)), sessions=[u])


def an_append_against_the_end_of_its_run(u: str) -> Race:
    appends = [[make.append(u, key=f"k{n}"), make.append(u, key=f"l{n}")] for n in range(CALLERS - 2)]
    return Race([make.start(u)], [*appends, [make.terminal(u)], [make.load(u)] * 2], [u])


def two_records_under_one_key(u: str) -> Race:
    session = u + "s"
    appends = [make.append(u, A, session, payload=payload) for payload in ('{"a":1}', '{"a": 1}', '{"a":2}')]
    return Race([make.create(session), make.start(u, A, session)], each(*appends), [u], [session])


def cancellations_for_two_reasons_against_ends(u: str) -> Race:
    calls = [
        make.cancellation(u, reason="user"),
        make.cancellation(u, reason="timeout"),
        make.terminal(u, status="canceled", reason="user"),
        make.terminal(u, status="canceled", reason="engine_canceled"),
        make.cancellation(u, reason="user", key="another"),
    ]
    return Race([make.start(u)], each(*calls), [u])


def continuations_of_a_run_that_is_being_suspended(u: str) -> Race:
    session = u + "s"
    calls = [
        make.suspension(u, A, session),
        make.start(u + "1", A, session, predecessor=u),
        make.start(u + "2", A, session, predecessor=u),
    ]
    return Race([make.create(session), make.start(u, A, session)], each(*calls), [u, u + "1", u + "2"], [session])


def a_purge_against_everything_in_its_session(u: str) -> Race:
    session, other, child = u + "s", u + "t", u + "c"
    before = [
        make.create(session),
        make.create(other),
        make.start(u, A, session),
        make.append(u, A, session),
        make.suspension(u, A, session),
        make.end_session(session),
    ]
    race = [
        [Call("purge_session", session), Call("purge_session", session)],
        [make.append(u, A, session), make.append(u, A, session)],
        [make.start(u, A, session), make.start(u, A, other)],
        [make.start(child, A, session), make.load(child)],
        [make.start(u + "n", A, session, predecessor=u), make.suspension(u, A, session)],
        [make.create(session), Call("load_session", session)],
        [make.end_session(session), Call("list_session_run_records", session)],
        [Call("load_run_suspension", u), Call("list_run_records", u), make.load(u)],
        [make.start(u, B, other), make.append(u, B, other)],
    ]
    return Race(before, race, [u, child, u + "n"], [session, other])


def a_purge_against_a_run_that_is_still_running(u: str) -> Race:
    session = u + "s"
    before = [make.create(session), make.start(u, A, session), make.end_session(session)]
    race = [Call("purge_session", session), make.terminal(u, A, session), make.append(u, A, session), make.load(u)]
    return Race(before, each(*race), [u], [session])


def a_purge_against_everything_in_its_tree(u: str) -> Race:
    child, grandchild = u + "/1", u + "/1/1"
    before = [make.start(u), make.start(child, A, parent=u), make.append(child), make.suspension(child)]
    race = [
        [make.terminal(u), Call("purge_one_shot_run", u)],
        [Call("purge_one_shot_run", u)] * 2,
        [make.start(u + "/2", A, parent=u), make.terminal(u + "/2")],
        [make.start(grandchild, A, parent=child), make.load(grandchild)],
        [make.append(child), make.append(u)],
        [make.start(u), make.start(child, A, parent=u)],
        [Call("purge_one_shot_run", child), Call("load_run_suspension", child)],
        [Call("list_run_records", u), Call("list_run_records", child)],
    ]
    return Race(before, race, [u, child, grandchild, u + "/2"])


def requests_with_the_same_runs_in_opposite_order(u: str) -> Race:
    runs = [u + str(n) for n in range(4)]
    sessions = ["", "", u + "s", u + "t"]
    before = [
        *(make.create(session) for session in sessions if session),
        *(make.start(run, A, session) for run, session in zip(runs, sessions, strict=True)),
    ]
    owners = list(zip(runs, sessions, strict=True))
    race = []
    for caller in range(4):
        turned = owners if caller % 2 else owners[::-1]
        race.append([make.batch(*(make.append(run, A, session, key=f"k{caller}") for run, session in turned))])
        race.append([make.batch(*(make.append(run, A, session, key="same") for run, session in turned))])
    return Race(before, race, runs, [session for session in sessions if session])


def starts_in_opposite_order(u: str) -> Race:
    sessions = [u + "s", u + "t"]
    starts = [make.start(u + "1", A, sessions[0]), make.start(u + "2", A, sessions[1]), make.start(u + "3", A)]
    race = [make.batch(*starts), make.batch(*starts[::-1]), make.batch(starts[1], starts[0], starts[2])]
    return Race([make.create(session) for session in sessions], each(*race), [u + "1", u + "2", u + "3"], sessions)


RACES: Sequence[Callable[[str], Race]] = (
    two_ends,
    an_end_and_a_repair_as_another,
    the_same_end_under_two_keys,
    two_checkpoints,
    two_starts_of_one_id,
    starts_of_one_id_in_two_sessions_and_in_none,
    a_child_start_against_the_end_of_its_parent,
    a_one_shot_child_start_against_the_end_of_its_parent,
    a_start_against_the_end_of_its_session,
    ends_of_one_session_at_different_times,
    an_append_against_the_end_of_its_run,
    two_records_under_one_key,
    cancellations_for_two_reasons_against_ends,
    continuations_of_a_run_that_is_being_suspended,
    a_purge_against_everything_in_its_session,
    a_purge_against_a_run_that_is_still_running,
    a_purge_against_everything_in_its_tree,
    requests_with_the_same_runs_in_opposite_order,
    starts_in_opposite_order,
)


@pytest.mark.parametrize("race", RACES, ids=lambda race: race.__name__)
def test_every_outcome_is_that_of_some_serial_order(servers: list[Server], race: Callable[[str], Race]) -> None:
    with Callers(servers, 10) as callers:
        for _ in range(ROUNDS):
            played, history = race(f"{uuid.uuid4().hex[:10]}-"), History()
            callers.alone(history, played.before)
            callers.together(history, played.callers)
            callers.alone(history, played.reads())
            assert_serial(history)


def test_the_same_command_from_many_callers_is_stored_once_and_has_one_answer(servers: list[Server]) -> None:
    """Every storing command, twenty times in parallel over two services."""
    with Callers(servers, 20) as callers:
        u = f"{uuid.uuid4().hex[:10]}-"
        session, parent = u + "s", u + "p"
        commands = [
            make.start(parent, A, session),
            make.start(u + "c", A, session, parent),
            make.start(u + "o", A),
            make.start(u + "oc", A, parent=u + "o"),
            make.append(parent, A, session),
            make.cancellation(parent, A, session),
            make.suspension(u + "o"),
            make.suspension(u + "oc", repair=True),
            make.terminal(parent, A, session, status="canceled", reason="user"),
            make.terminal(u + "c", A, session, repair=True),
        ]
        history = History()
        for command in (make.create(session), *commands):
            answers = [answer for [answer] in callers.together(history, [[command]] * 20)]
            assert {answer.status for answer in answers} == {200}, command
            if command.operation == "create_session":
                assert all(answer == answers[0] for answer in answers)
                continue
            first = [answer.body for answer in answers if '"inserted":true' in make.compact(answer.body)]
            assert len(first) == 1, command
            again = {
                make.compact(answer.body).replace("already_stored", "stored")
                for answer in answers
                if answer.body != first[0]
            }
            assert again == {make.compact(first[0]).replace("true", "false")}, command
        callers.alone(history, Race((), (), [parent, u + "c", u + "o", u + "oc"], [session]).reads())
        assert_serial(history)


def test_parallel_creations_of_a_session_without_a_time_agree_on_one(servers: list[Server]) -> None:
    with Callers(servers, 30) as callers:
        for _ in range(3):
            session, history = f"{uuid.uuid4().hex[:10]}-s", History()
            answers = callers.together(history, [[make.create(session, None)]] * 30)
            assert {answer.status for [answer] in answers} == {200}
            assert len({answer.body["created_at"] for [answer] in answers}) == 1
