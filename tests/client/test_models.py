"""The models generated from openapi.yaml hold the client's own encoding and reading to the document."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import attrs
import pytest
from hypothesis import given

from runhold_client import RunSuspension, TerminalStatus, answers, commands, wire
from runhold_client._generated import models
from tests.client.stories import AT, ARun
from tests.client.test_wire import ANSWERS, records

MODEL_OF: dict[str, Any] = {
    "decode_append_result": models.AppendResult,
    "decode_root_start": models.RootStartResult,
    "decode_child_start": models.ChildStartResult,
    "decode_one_shot_start": models.OneShotStartResult,
    "decode_one_shot_child_start": models.OneShotChildStartResult,
    "decode_repair": models.RepairResult,
    "decode_session": models.Session,
    "decode_session_status": models.SessionState,
    "decode_run_meta": models.RunMeta,
    "decode_run_suspension": models.Checkpoint,
    "decode_stored_record": models.StoredRecord,
    "decode_page": models.RecordPage,
    "decode_session_page": models.SessionPage,
    "decode_run_page": models.RunPage,
}

PARENT = ARun("s", labels={"a": "b"})
CHILD = ARun("s", parent_run_id=PARENT.run_id)
ALONE = ARun("")
UNDER = ARun("", parent_run_id=ALONE.run_id)
CHECKPOINT = RunSuspension("c", bytes(range(256)))

BODIES: list[tuple[commands.Command[Any], Any]] = [
    (commands.start_root_run(PARENT.start, PARENT.started, PARENT.canceled), models.RootStart),
    (
        commands.start_child_run(CHILD.start, PARENT.linked(CHILD), CHILD.started, CHILD.canceled),
        models.ChildStart,
    ),
    (commands.start_one_shot_run(ALONE.start, ALONE.started), models.OneShotStart),
    (commands.start_one_shot_child_run(UNDER.start, ALONE.linked(UNDER), UNDER.started), models.OneShotChildStart),
    (commands.append_run_record(PARENT.note("k")), models.RunRecord),
    (commands.record_run_cancellation("r", "why", PARENT.intent("why")), models.Cancellation),
    (commands.record_run_suspension("r", CHECKPOINT, PARENT.suspended("c")), models.SuspensionBody),
    (commands.repair_run_suspension("r", CHECKPOINT, PARENT.suspended("c")), models.SuspensionBody),
    (commands.record_run_terminal("r", TerminalStatus.COMPLETED, PARENT.completed()), models.Terminal),
    (commands.repair_run_terminal("r", TerminalStatus.COMPLETED, PARENT.completed()), models.Terminal),
]


def same_instants(value: Any) -> Any:
    """JSON with its times as instants: models write them with other digits and offsets."""
    if isinstance(value, dict):
        return {name: same_instants(item) for name, item in value.items()}
    if isinstance(value, list):
        return [same_instants(item) for item in value]
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) and "T" in value else value
    except ValueError:
        return value


def fields_of(model: Any) -> set[str]:
    return {field.name.rstrip("_") for field in attrs.fields(model)} - {"additional_properties"}


@pytest.mark.parametrize("decode", ANSWERS)
def test_an_answer_has_exactly_the_fields_of_its_model(decode: str) -> None:
    assert fields_of(MODEL_OF[decode]) == ANSWERS[decode].keys()


@pytest.mark.parametrize("decode", ANSWERS)
def test_an_answer_that_went_through_its_model_is_read_the_same(decode: str) -> None:
    read = getattr(answers, decode)
    through = MODEL_OF[decode].from_dict(ANSWERS[decode]).to_dict()
    assert read(json.loads(json.dumps(through))) == read(ANSWERS[decode])


@pytest.mark.parametrize(("command", "model"), BODIES, ids=lambda value: getattr(value, "name", ""))
def test_a_body_is_written_as_its_model_writes_it(command: commands.Command[Any], model: Any) -> None:
    body = json.loads(command.body)
    assert same_instants(model.from_dict(body).to_dict()) == same_instants(body)
    assert fields_of(model) == body.keys()


@pytest.mark.parametrize(("command", "model"), BODIES, ids=lambda value: getattr(value, "name", ""))
def test_an_item_of_many_commands_is_written_as_its_model_writes_it(command: commands.Command[Any], model: Any) -> None:
    item = json.loads(command.item())
    assert models.CommandItem.from_dict(item).to_dict() == item
    frame = json.loads(commands.run_commands_request([command.item()] * 2)["content"])
    assert models.CommandsBody.from_dict(frame).to_dict() == frame == {"commands": [item, item]}


def test_every_writing_command_is_among_them() -> None:
    names = set(models.command_item_operation.COMMAND_ITEM_OPERATION_VALUES)
    assert {command.name for command, _ in BODIES} == names


@given(records)
def test_any_record_is_written_as_its_model_writes_it(record: Any) -> None:
    body = json.loads(wire.encode_json(wire.encode_run_record(record)))
    through = models.RunRecord.from_dict(body).to_dict()
    assert datetime.fromisoformat(through.pop("timestamp")) == datetime.fromisoformat(body.pop("timestamp"))
    assert through == body


def test_a_hosts_bodies_are_written_as_their_models_write_them() -> None:
    created = {"session_id": "s", "created_at": wire.encode_session_time(AT, "created_at")}
    assert same_instants(models.NewSession.from_dict(created).to_dict()) == same_instants(created)
    ended = {"ended_at": wire.encode_session_time(AT, "ended_at")}
    assert same_instants(models.SessionEnd.from_dict(ended).to_dict()) == same_instants(ended)
