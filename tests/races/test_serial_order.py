"""The search for a serial order finds one where there is one, and none where there is none."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.model import commands as make
from tests.model.model import Answer, Call, Model
from tests.races.histories import History
from tests.races.serial_order import assert_serial, serial_order

Moment = tuple[float, float]


def answers(calls: Sequence[Call]) -> list[Answer]:
    """What the calls answer one after the other."""
    model = Model()
    return [model.call(call.operation, call.path, call.query, call.body) for call in calls]


def overlapping(calls: Sequence[Call], told: Sequence[Answer]) -> History:
    """All calls at the same time, each by a caller of its own."""
    history = History()
    for caller, (call, answer) in enumerate(zip(calls, told, strict=True)):
        history.add(call, answer, 0.0, 1.0, caller)
    return history


START = make.start("r")
COMPLETED = make.terminal("r", status="completed")
FAILED = make.terminal("r", status="failed", key="other end")


def test_calls_at_the_same_time_may_have_any_order() -> None:
    calls = [START, make.append("r"), COMPLETED]
    told = answers(calls)
    for turned in ([0, 1, 2], [2, 1, 0], [1, 0, 2]):
        history = overlapping([calls[n] for n in turned], [told[n] for n in turned])
        order = serial_order(history)
        assert order is not None
        assert [event.call for event in order] == calls


def test_two_ends_that_both_succeed_have_no_order() -> None:
    started, completed, _ = answers([START, COMPLETED, FAILED])
    history = overlapping([START, COMPLETED, FAILED], [started, completed, completed])
    with pytest.raises(AssertionError, match="no serial order"):
        assert_serial(history)


def test_an_answer_that_came_before_a_call_was_sent_comes_first_in_every_order() -> None:
    not_found, started = answers([make.load("r"), START])
    history = History()
    history.add(START, started, 0.0, 1.0, caller=0)
    history.add(make.load("r"), not_found, 0.5, 1.5, caller=1)
    assert serial_order(history) is not None
    history = History()
    history.add(START, started, 0.0, 1.0, caller=0)
    history.add(make.load("r"), not_found, 1.1, 1.5, caller=1)
    assert serial_order(history) is None


def test_an_id_given_twice_has_no_order() -> None:
    one, other = make.append("r", key="k1"), make.append("r", key="k2")
    started, first, _ = answers([START, one, other])
    assert serial_order(overlapping([START, one, other], [started, first, first])) is None


def test_commands_of_one_request_keep_their_order_and_others_may_come_between() -> None:
    one, between, other = (make.append("r", key=key) for key in ("k1", "k2", "k3"))
    started, first, second, third = answers([START, one, between, other])
    batch = make.batch(one, other)

    def history(*of_batch: Answer, alone: Answer) -> History:
        results = [{"status": answer.status, "body": answer.body} for answer in of_batch]
        found = History()
        found.add(START, started, 0.0, 1.0, caller=0)
        found.add(batch, Answer(200, {"results": results}), 2.0, 3.0, caller=1)
        found.add(between, alone, 2.0, 3.0, caller=2)
        return found

    assert serial_order(history(first, third, alone=second)) is not None
    assert serial_order(history(second, third, alone=first)) is not None
    assert serial_order(history(third, second, alone=first)) is None
