"""From parsed bodies to commands, without a server: what is accepted, and every fault with its pointer."""

from __future__ import annotations

import base64
import copy
import json
from typing import Any

import pytest

from runhold.api.decoding import decode_command
from runhold.api.examples import BODIES
from runhold.api.json_body import parse_body
from runhold.commands.model import AppendRunRecord, CreateSession, EndSession, RecordRunSuspension, StartRootRun
from runhold.domain.errors import InvalidCommand, PayloadTooLarge
from runhold.domain.limits import CHECKPOINT_BYTES, PAYLOAD_BYTES
from runhold.domain.values import NO_TIME, RunRecord

RECORD: dict[str, Any] = {
    "event_key": "k-1",
    "run_id": "r-1",
    "agent_id": "svc.agent",
    "session_id": "s-1",
    "turn_id": "t-1",
    "type": "planner_note",
    "payload": '{"note":"hi"}',
    "timestamp": "2026-03-01T10:00:00.123Z",
}


def decode(operation: str, body: Any, run_id: str = "r-1") -> Any:
    text = json.dumps(body).encode()
    return decode_command(operation, run_id, parse_body(text), len(text))


def faults(operation: str, body: Any) -> dict[str, str]:
    with pytest.raises(InvalidCommand) as refusal:
        decode(operation, body)
    errors = refusal.value.members["errors"]
    assert isinstance(errors, list)
    return {fault["pointer"]: fault["detail"] for fault in errors if isinstance(fault, dict)}


def test_a_record_is_read_field_by_field() -> None:
    command = decode("append_run_record", RECORD)
    assert command == AppendRunRecord(
        "r-1",
        RunRecord("k-1", "r-1", "svc.agent", "s-1", "t-1", "planner_note", '{"note":"hi"}', 1_772_359_200_123),
    )


@pytest.mark.parametrize("absent", [None, ""])
def test_missing_null_and_empty_fields_are_all_absent(absent: str | None) -> None:
    empty = RunRecord("", "", "", "", "", "", "", NO_TIME)
    assert decode("append_run_record", {}).record == empty
    assert decode("append_run_record", dict.fromkeys(RECORD, absent)).record == empty
    assert decode("create_session", {"session_id": absent, "created_at": absent}) == CreateSession("", None)
    assert decode("end_session", {"ended_at": absent}) == EndSession("r-1", None)


@pytest.mark.parametrize("name", RECORD)
@pytest.mark.parametrize("value", [1, 1.5, True, False, [], {}, ["x"], {"a": "b"}])
def test_a_field_of_another_type_is_named(name: str, value: Any) -> None:
    assert faults("append_run_record", {**RECORD, name: value}) == {f"/{name}": "must be a string"}


def test_all_faults_of_a_body_are_told_at_once() -> None:
    record = {**RECORD, "event_key": "a\0", "payload": "{", "timestamp": "yesterday", "surprise": 1}
    found = faults("record_run_terminal", {"status": "done", "record": record, "extra": None})
    assert set(found) == {
        "/status",
        "/record/event_key",
        "/record/payload",
        "/record/timestamp",
        "/record/surprise",
        "/extra",
    }


@pytest.mark.parametrize(
    ("operation", "name"),
    [
        (operation, name)
        for operation, names in {
            "start_root_run": ("run", "started", "canceled"),
            "start_child_run": ("run", "parent_linked", "started", "canceled"),
            "start_one_shot_run": ("run", "started"),
            "start_one_shot_child_run": ("run", "parent_linked", "started"),
            "record_run_cancellation": ("record",),
            "record_run_suspension": ("suspension", "record"),
            "repair_run_suspension": ("suspension", "record"),
            "record_run_terminal": ("record",),
            "repair_run_terminal": ("record",),
        }.items()
        for name in names
    ],
)
def test_a_required_object_must_be_there_and_an_object(operation: str, name: str) -> None:
    body = copy.deepcopy(BODIES[operation])
    for wrong, detail in ((None, "must be present"), ([], "must be an object"), ("", "must be an object")):
        assert faults(operation, {**body, name: wrong}) == {f"/{name}": detail}
    del body[name]
    assert faults(operation, body) == {f"/{name}": "must be present"}


@pytest.mark.parametrize("operation", [operation for operation in BODIES if operation != "run_commands"])
@pytest.mark.parametrize("body", [None, [], "text", 1, True])
def test_a_body_that_is_no_object_is_refused(operation: str, body: Any) -> None:
    assert set(faults(operation, body)) >= {""}


@pytest.mark.parametrize("status", [None, "", "running", "suspended", "success", "Completed", 1, ["completed"]])
def test_a_terminal_status_is_one_of_three(status: Any) -> None:
    assert set(faults("record_run_terminal", {"status": status, "record": RECORD})) == {"/status"}


@pytest.mark.parametrize("id_", ["a\0b", "\ud800", "x" * 1_025, "\u00e9" * 513])
def test_the_rules_of_ids_hold_for_every_id_of_a_record(id_: str) -> None:
    for name in ("event_key", "run_id", "agent_id", "session_id", "turn_id", "type"):
        assert set(faults("append_run_record", {**RECORD, name: id_})) == {f"/{name}"}


def test_many_long_ids_are_each_within_their_own_limit() -> None:
    record = decode("append_run_record", {**RECORD, "event_key": "k" * 1_024, "agent_id": "a" * 1_024}).record
    assert (len(record.event_key), len(record.agent_id)) == (1_024, 1_024)


@pytest.mark.parametrize(
    ("labels", "fault"),
    [
        (None, None),
        ({}, None),
        ({"a": "b", "": "\0"}, None),
        ([], "must be an object of strings"),
        ("", "must be an object of strings"),
        ({"a": 1}, "must hold strings only"),
        ({"a": None}, "must hold strings only"),
        ({"\ud800": "x"}, "must not hold a lone surrogate"),
        ({str(number): "" for number in range(257)}, "must be at most 256 labels, are 257"),
        ({"a": "x" * 65_536}, "must be at most 65536 bytes of UTF-8 together, are 65537"),
    ],
)
def test_labels_are_strings_within_their_limits(labels: Any, fault: str | None) -> None:
    body = copy.deepcopy(BODIES["start_root_run"])
    body["run"]["labels"] = labels
    if fault is None:
        command = decode("start_root_run", body)
        assert isinstance(command, StartRootRun)
        assert command.run.labels == (labels or {})
    else:
        assert faults("start_root_run", body) == {"/run/labels": fault}


@pytest.mark.parametrize("data", ["QQ", "QR==", "QQ==\n", "Q*==", "_w==", "QQ= =", "====", 7, ["QQ=="]])
def test_checkpoint_data_is_canonical_base64_only(data: Any) -> None:
    body = copy.deepcopy(BODIES["record_run_suspension"])
    body["suspension"]["data"] = data
    assert set(faults("record_run_suspension", body)) == {"/suspension/data"}


def test_checkpoint_data_keeps_every_byte() -> None:
    body = copy.deepcopy(BODIES["record_run_suspension"])
    data = bytes(range(256)) * 3
    body["suspension"]["data"] = base64.b64encode(data).decode()
    command = decode("record_run_suspension", body)
    assert isinstance(command, RecordRunSuspension)
    assert command.suspension.data == data


@pytest.mark.parametrize(
    ("text", "pointers"),
    [
        ('{"run_id":"a","run_id":"a"}', {"/run_id"}),
        ('{"run_id":"a","run_id":"a","nope":1}', {"/run_id", "/nope"}),
        ('{"labels":{"a":{"b":1,"b":2}}}', {"/labels"}),
        ('{"x":[{"b":1,"b":2}]}', {"/x/0/b", "/x"}),
    ],
)
def test_a_repeated_name_is_refused_at_any_level(text: str, pointers: set[str]) -> None:
    with pytest.raises(InvalidCommand) as refusal:
        decode_command("append_run_record", "a", parse_body(text.encode()), len(text))
    errors = refusal.value.members["errors"]
    assert isinstance(errors, list)
    assert {fault["pointer"] for fault in errors if isinstance(fault, dict)} >= pointers


def test_a_repeated_name_inside_a_start_is_refused_though_all_else_is_right() -> None:
    text = json.dumps(BODIES["start_root_run"])
    for wrong in (
        text.replace('"tier": "gold"', '"tier": "gold", "tier": "gold"', 1),
        text.replace('"event_key": "run/started"', '"event_key": "run/started", "event_key": "run/started"', 1),
    ):
        assert wrong != text
        with pytest.raises(InvalidCommand) as refusal:
            decode_command("start_root_run", "", parse_body(wrong.encode()), len(wrong))
        assert "must not be given twice" in refusal.value.detail


def test_a_payload_over_its_limit_is_too_large_before_anything_else_is_wrong() -> None:
    body = {**RECORD, "payload": '"' + "x" * (PAYLOAD_BYTES - 1) + '"', "nonsense": 1}
    with pytest.raises(PayloadTooLarge) as refusal:
        decode("append_run_record", body)
    assert refusal.value.members == {"limit": PAYLOAD_BYTES, "actual": PAYLOAD_BYTES + 1}
    body = {**RECORD, "payload": '"' + "x" * (PAYLOAD_BYTES - 2) + '"'}
    assert len(decode("append_run_record", body).record.payload) == PAYLOAD_BYTES


def test_a_checkpoint_over_its_limit_is_too_large() -> None:
    body = copy.deepcopy(BODIES["record_run_suspension"])
    body["suspension"]["data"] = base64.b64encode(bytes(CHECKPOINT_BYTES + 1)).decode()
    with pytest.raises(PayloadTooLarge) as refusal:
        decode("record_run_suspension", body)
    assert refusal.value.members["limit"] == CHECKPOINT_BYTES
    body["suspension"]["data"] = base64.b64encode(bytes(CHECKPOINT_BYTES)).decode()
    assert len(decode("record_run_suspension", body).suspension.data) == CHECKPOINT_BYTES
