"""Payload texts and bytes that other stores lost, changed, or broke on: section C of the field cases."""

from __future__ import annotations

import json

import pytest

from tests.hostile.asking import done, listed, refused
from tests.model import commands as make
from tests.model.model import Call
from tests.model.wire import Wire
from tests.support.server import Server

MIB = 1024 * 1024


@pytest.mark.parametrize(
    "payload",
    [
        '{"text":"a\\u0000b"}',
        '{"text":"half an emoji: \\ud83d"}',
        '{"text":"\\udc00\\ud800"}',
        '{"text":"\\ud83d\\ude00 and 😀"}',
        '"\\u0000"',
        '{"\\u0000":"\\u0000","\\ud83d":null}',
        "5" * 5_000,
        "-0." + "123" * 133 + "e-400000",
        "[" * 400 + "]" * 400,
        ' \t\r\n{"a" : 1.0, "a" : 1e0}\n ',
    ],
    ids=lambda payload: payload[:24],
)
def test_a_payload_of_any_valid_json_comes_back_as_it_was(wire: Wire, unique: str, payload: str) -> None:
    done(wire, make.create(f"{unique}-s"), make.start(unique, session=f"{unique}-s"))
    call = make.append(unique, session=f"{unique}-s", payload=payload)
    assert done(wire, call)["inserted"]
    assert not done(wire, call)["inserted"]
    for operation, owner in (("list_run_records", unique), ("list_session_run_records", f"{unique}-s")):
        assert listed(wire, operation, owner)[1]["payload"] == payload
    assert listed(wire, "list_run_records", unique, view="summary")[1]["payload_bytes"] == len(payload.encode())


def test_equal_numbers_and_escapes_of_other_spelling_are_other_payloads(wire: Wire, unique: str) -> None:
    done(wire, make.start(unique), make.append(unique, payload='{"n":1.0,"t":"\\u00e9"}'))
    for other in (
        '{"n":1,"t":"\\u00e9"}',
        '{"n":1.0,"t":"é"}',
        '{"n":1.0,"t":"\\u00E9"}',
        '{"n":1.0,"n":1.0,"t":"\\u00e9"}',
    ):
        assert refused(wire, make.append(unique, payload=other), "event_conflict")["differs"] == ["payload"]


@pytest.mark.parametrize("depth", [501, 9_000, 200_000])
def test_a_payload_that_nests_too_deep_is_refused_and_the_service_goes_on(wire: Wire, unique: str, depth: int) -> None:
    done(wire, make.start(unique))
    for bomb in ("[" * depth + "]" * depth, '{"a":' * depth + "1" + "}" * depth):
        problem = refused(wire, make.append(unique, payload=bomb), "invalid_command")
        assert [error["pointer"] for error in problem["errors"]] == ["/payload"]
    assert done(wire, make.load(unique))["record_count"] == 1


def test_a_name_given_twice_is_refused_in_an_envelope_and_in_a_lifecycle_payload_only(wire: Wire, unique: str) -> None:
    done(wire, make.start(unique))
    twice = '{"a":1,"a":2}'
    done(wire, make.append(unique, payload=twice))
    assert listed(wire, "list_run_records", unique)[1]["payload"] == twice
    refused(wire, make.append(unique, payload='{"a":2}'), "event_conflict")

    end = make.terminal(unique)
    end.body["record"]["payload"] = '{"status":"success","status":"failed","phase":"completed"}'
    refused(wire, end, "invalid_command")

    body = json.dumps(make.append(unique, key="k2").body)
    spoiled = f'{body[:-1]}, "run_id": "{unique}"}}'
    answer = wire.http.post(
        f"/v1/runs/{unique}/records", content=spoiled.encode(), headers={"content-type": "application/json"}
    )
    assert answer.status_code == 422
    assert answer.json()["errors"] == [{"pointer": "/run_id", "detail": "must not be given twice"}]
    assert done(wire, make.load(unique))["record_count"] == 2


@pytest.mark.parametrize("data", ["AAA=\n", "\nAAA=", "AA*A", "AAA", "AA-_", "AAB=", "AB==", "AAA==", "AAAA=", "éAA="])
def test_a_checkpoint_has_one_spelling(wire: Wire, unique: str, data: str) -> None:
    done(wire, make.start(unique))
    call = make.suspension(unique)
    call.body["suspension"]["data"] = data
    problem = refused(wire, call, "invalid_command")
    assert [error["pointer"] for error in problem["errors"]] == ["/suspension/data"]
    assert done(wire, make.load(unique))["status"] == "running"


def test_a_checkpoint_keeps_every_byte(wire: Wire, unique: str) -> None:
    done(wire, make.start(unique), make.suspension(unique, data=bytes(range(256))))
    expected = make.suspension(unique, data=bytes(range(256))).body["suspension"]
    assert done(wire, Call("load_run_suspension", unique)) == expected


def test_a_payload_of_the_limit_is_stored_and_one_byte_more_is_told_the_limit(wire: Wire, unique: str) -> None:
    limit = 8 * MIB
    largest = '"' + "é" * (limit // 2 - 1) + '"'
    done(wire, make.start(unique), make.append(unique, payload=largest))
    problem = refused(wire, make.append(unique, key="k2", payload=largest + " "), "payload_too_large")
    assert (problem["status"], problem["limit"]) == (413, limit)
    assert listed(wire, "list_run_records", unique)[1]["payload"] == largest
    assert done(wire, make.load(unique))["record_count"] == 2


def test_a_checkpoint_of_the_limit_is_stored_and_one_byte_more_is_told_the_limit(wire: Wire, unique: str) -> None:
    limit = 8 * MIB
    done(wire, make.start(unique))
    problem = refused(wire, make.suspension(unique, data=bytes(limit + 1)), "payload_too_large")
    assert (problem["status"], problem["limit"]) == (413, limit)
    assert done(wire, make.suspension(unique, data=bytes(limit)))["inserted"]


def test_odd_texts_leave_no_trace_of_a_failure_in_the_log(server: Server, wire: Wire, unique: str) -> None:
    before = len(server.output())
    done(wire, make.start(unique))
    for name in ("session_id", "event_key", "agent_id", "turn_id", "type"):
        for text in ("a\0b", "\ud800", "x\udfff"):
            call = make.append(unique)
            call.body[name] = text
            problem = refused(wire, call, "invalid_command")
            assert [error["pointer"] for error in problem["errors"]] == [f"/{name}"]
    for text in ("a\0b", "\ud83d"):
        problem = refused(wire, make.create(text), "invalid_command")
        assert [error["pointer"] for error in problem["errors"]] == ["/session_id"]
        problem = refused(wire, make.cancellation(unique, reason=text), "invalid_command")
        assert problem["errors"][0]["pointer"] == "/reason"
    said = server.output()[before:]
    assert "Traceback" not in said
    assert '"level":"error"' not in said.replace(" ", "")
