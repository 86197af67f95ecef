"""The rule that says which steps of a scenario typed arguments can express."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.expressible import expressible

RECORD = {
    "event_key": "k",
    "run_id": "r",
    "agent_id": "a",
    "session_id": "",
    "turn_id": "",
    "type": "t",
    "payload": "{}",
    "timestamp": "2026-03-01T10:00:01.000Z",
}
RUN = {
    "agent_id": "a",
    "run_id": "r",
    "session_id": "",
    "parent_run_id": "",
    "predecessor_run_id": "",
    "started_at": "2026-03-01T10:00:01.000Z",
    "labels": {},
}


CHECKPOINT = {"id": "", "data": "AA=="}
MISSPELLED = {"id": "", "data": "AB=="}


def without(fields: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if key != name}


def append(**changes: Any) -> dict[str, Any]:
    return {"op": "append_run_record", "args": {"run_id": "r", "record": {**RECORD, **changes}}}


@pytest.mark.parametrize(
    "step",
    [
        append(),
        append(payload="not json", event_key="", type="\x00"),
        append(timestamp="2026-03-01T10:00:01"),
        append(timestamp="2026-03-01T10:00:01.123456+05:30"),
        append(timestamp="0001-01-01T00:00:00Z"),
        {"op": "append_run_record", "args": {"run_id": "r", "record": without(RECORD, "turn_id")}},
        {"op": "start_one_shot_run", "args": {"run": RUN, "started": RECORD}},
        {"op": "list_run_records", "args": {"run_id": "r", "cursor": "x", "limit": -1}},
        {"op": "record_run_terminal", "args": {"run_id": "x", "status": "failed", "record": RECORD}},
        {"op": "record_run_suspension", "args": {"run_id": "x", "suspension": CHECKPOINT, "record": RECORD}},
    ],
)  # fmt: skip
def test_what_typed_arguments_can_say(step: dict[str, Any]) -> None:
    assert expressible(step)


@pytest.mark.parametrize(
    "step",
    [
        append(payload={}),
        append(payload=None),
        append(unknown=""),
        append(run_id="another"),
        append(timestamp="yesterday"),
        append(timestamp="2026-03-01T10:00:01.1234567Z"),
        append(timestamp="2026-02-30T10:00:01Z"),
        append(timestamp="2026-03-01t10:00:01z"),
        {"op": "append_run_record", "args": {"run_id": "r"}},
        {"op": "append_run_record", "args": {"run_id": "r", "record": None}},
        {"op": "start_one_shot_run", "args": {"run": {**RUN, "labels": None}, "started": RECORD}},
        {"op": "start_one_shot_run", "args": {"run": {**RUN, "labels": {"a": 1}}, "started": RECORD}},
        {"op": "start_one_shot_run", "args": {"run": RUN, "started": RECORD, "canceled": RECORD}},
        {"op": "list_run_records", "args": {"run_id": "r", "limit": 0}},
        {"op": "list_run_records", "args": {"run_id": "r", "limit": "5"}},
        {"op": "list_run_records", "args": {"run_id": "r", "limit": True}},
        {"op": "record_run_terminal", "args": {"run_id": "x", "status": "running", "record": RECORD}},
        {"op": "record_run_suspension", "args": {"run_id": "x", "suspension": MISSPELLED, "record": RECORD}},
        {"op": "run_commands", "args": {"commands": []}},
        {"op": "raw", "args": {"method": "GET", "path": "/"}},
    ],
)  # fmt: skip
def test_what_exists_on_the_wire_alone(step: dict[str, Any]) -> None:
    assert not expressible(step)
