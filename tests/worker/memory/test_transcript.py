"""Transcripts rebuilt from what a product remembers."""

from __future__ import annotations

import json

import pytest

from runhold_client.memory import Event, EventType, Snapshot, transcript_payload
from tests.worker.memory.test_stores import AT

TEXT = '{"kind":"text","text":"hello"}'
CALL = '{"kind": "tool_use", "id": "t1", "name": "n", "input": {"n": 1.50, "n": 9e99}}'
RESULT = '{"kind":"tool_result","tool_use_id":"t1","content":1.0}'
THOUGHT = '{"kind":"thinking","text":"","signature":"c2ln"}'


def snapshot(*events: tuple[EventType, str]) -> Snapshot:
    return Snapshot("a", "r", tuple(Event(kind, AT, data) for kind, data in events))


def test_events_in_a_row_make_a_message_and_parts_keep_every_byte() -> None:
    payload = transcript_payload(
        snapshot(
            (EventType.USER_MESSAGE, TEXT),
            (EventType.USER_MESSAGE, f" [{TEXT}, {TEXT}] "),
            (EventType.THINKING, THOUGHT),
            (EventType.ASSISTANT_MESSAGE, TEXT),
            (EventType.PLANNER_NOTE, '"not a part"'),
            (EventType.TOOL_CALL, CALL),
            (EventType.TOOL_CALL, CALL),
            (EventType.TOOL_RESULT, RESULT),
            (EventType.TOOL_RESULT, RESULT),
            (EventType.USER_MESSAGE, TEXT),
            (EventType.ASSISTANT_MESSAGE, "[]"),
        )
    )
    assert payload == (
        f'[{{"role":"user","parts":[{TEXT}]}},{{"role":"user","parts":[{TEXT}, {TEXT}]}},'
        f'{{"role":"assistant","parts":[{THOUGHT},{TEXT},{CALL},{CALL}]}},'
        f'{{"role":"user","parts":[{RESULT},{RESULT}]}},{{"role":"user","parts":[{TEXT}]}},'
        '{"role":"assistant","parts":[]}]'
    )
    assert len(json.loads(payload)) == 6


def test_nothing_remembered_is_no_message() -> None:
    assert transcript_payload(Snapshot("a", "r")) == "[]"


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        (EventType.USER_MESSAGE, '{"text":"hello"}'),
        (EventType.USER_MESSAGE, '"hello"'),
        (EventType.USER_MESSAGE, CALL),
        (EventType.TOOL_CALL, TEXT),
        (EventType.TOOL_RESULT, f"[{RESULT},{TEXT}]"),
        (EventType.ASSISTANT_MESSAGE, THOUGHT),
        (EventType.THINKING, '{"kind":["thinking"]}'),
    ],
)
def test_data_that_are_no_parts_of_their_event_are_an_error_that_names_it(kind: EventType, data: str) -> None:
    with pytest.raises(ValueError, match=f"event 1: a {kind.value}"):
        transcript_payload(snapshot((EventType.PLANNER_NOTE, "{}"), (kind, data)))
