"""Events and how they are looked at."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from runhold_client.memory import Event, EventType, Snapshot, Turn
from tests.worker.memory.test_stores import AT, note

ASKED = note("asked", type=EventType.USER_MESSAGE, turn_id="t-1")
CALLED = note("called", type=EventType.TOOL_CALL)
ANSWERED = note("answered", type=EventType.ASSISTANT_MESSAGE, turn_id="t-1")
ASKED_AGAIN = note("asked again", type=EventType.USER_MESSAGE, turn_id="t-2")
LATE = note("late", type=EventType.ASSISTANT_MESSAGE, turn_id="t-1")


def test_a_snapshot_is_read_whole_by_type_and_by_the_latest_of_a_type() -> None:
    snapshot = Snapshot("a", "r", (ASKED, CALLED, ANSWERED, ASKED_AGAIN))
    assert snapshot.of_type(EventType.USER_MESSAGE) == (ASKED, ASKED_AGAIN)
    assert snapshot.of_type(EventType.TOOL_CALL, EventType.USER_MESSAGE) == (ASKED, CALLED, ASKED_AGAIN)
    assert snapshot.latest(EventType.USER_MESSAGE) == ASKED_AGAIN
    assert snapshot.latest(EventType.THINKING) is None


def test_turns_hold_each_event_once_in_the_order_in_which_they_were_first_seen() -> None:
    before = note("before any turn")
    snapshot = Snapshot("a", "r", (before, ASKED, CALLED, ANSWERED, ASKED_AGAIN, LATE))
    assert snapshot.turns() == (
        Turn("", (before,)),
        Turn("t-1", (ASKED, CALLED, ANSWERED, LATE)),
        Turn("t-2", (ASKED_AGAIN,)),
    )
    assert Snapshot("a", "r").turns() == ()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"type": "song"}, "song"),
        ({"timestamp": datetime(2026, 3, 1)}, "time zone"),
        ({"data": ""}, "not one JSON value"),
        ({"data": "{} {}"}, "not one JSON value"),
        ({"data": "NaN"}, "not one JSON value"),
        ({"data": '"\0"'}, "U\\+0000"),
        ({"data": '"\ud83d"'}, "lone surrogate"),
        ({"data": "[" * 100_000}, "too deeply|not one JSON value"),
        ({"turn_id": "\0"}, "turn_id"),
        ({"labels": {"a": 1}}, "labels"),
    ],
)
def test_an_event_that_could_not_be_kept_is_refused_when_it_is_made(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        note("x", **changes)


def test_numbers_of_any_length_are_kept_as_they_are_spelled() -> None:
    text = '{"n":' + "9" * 5_000 + ',"f":0.' + "0" * 400 + "1}"
    assert Event(EventType.PLANNER_NOTE, AT, text).data == text
