"""``POST /v1/commands``: many commands in one request, each answered as its single call would be."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tests.api.story import a_completion, a_one_shot_start, a_record
from tests.api.test_requests import JSON, problem


def item(operation: str, body: Any, run_id: str | None = None) -> dict[str, Any]:
    return {"operation": operation, "body": body} | ({} if run_id is None else {"run_id": run_id})


def run(http: httpx.Client, *items: dict[str, Any]) -> list[dict[str, Any]]:
    answer = http.post("/v1/commands", json={"commands": items})
    assert answer.status_code == 200, answer.text
    results: list[dict[str, Any]] = answer.json()["results"]
    assert len(results) == len(items)
    return results


def test_a_later_command_sees_what_an_earlier_one_wrote(http: httpx.Client, unique: str) -> None:
    results = run(
        http,
        item("start_one_shot_run", a_one_shot_start(unique)),
        item("append_run_record", a_record(unique), unique),
        item("append_run_record", a_record(unique), unique),
        item("record_run_terminal", a_completion(unique), unique),
        item("append_run_record", a_record(unique, "late"), unique),
    )
    assert [result["status"] for result in results] == [200, 200, 200, 200, 409]
    assert results[0]["body"] == {"record": {"id": "1", "inserted": True, "session_status": ""}}
    assert results[2]["body"] == {"id": "2", "inserted": False, "session_status": ""}
    assert results[4]["problem"]["code"] == "run_not_active"
    assert results[4]["problem"]["status"] == 409


def test_an_item_that_is_wrong_fails_alone_with_pointers_into_its_body(http: httpx.Client, unique: str) -> None:
    good = item("append_run_record", a_record(unique, "good"), unique)
    results = run(
        http,
        item("start_one_shot_run", a_one_shot_start(unique)),
        item("purge_session", {"session_id": "x"}),
        item("no such operation", {}),
        item("append_run_record", {**a_record(unique), "payload": "{", "extra": 1}, unique),
        item("append_run_record", a_record(unique)),
        item("append_run_record", a_record(unique), "a\0"),
        item("start_one_shot_run", a_one_shot_start(unique), unique),
        item("append_run_record", None, unique),
        item("append_run_record", a_record("other"), unique),
        {"operation": ["append_run_record"], "run_id": unique, "body": {}},
        good,
    )
    assert [result["status"] for result in results] == [200, *[422] * 9, 200]
    assert {error["pointer"] for error in results[3]["problem"]["errors"]} == {"/payload", "/extra"}
    assert all(result["problem"]["code"] == "invalid_command" for result in results[1:-1])
    assert results[-1]["body"]["id"] == "2"


def test_a_repeated_name_inside_a_body_fails_its_item_alone(http: httpx.Client, unique: str) -> None:
    record = json.dumps(a_record(unique))
    twice = record[:-1] + ',"run_id":"x"}'
    text = (
        f'{{"commands":[{json.dumps(item("start_one_shot_run", a_one_shot_start(unique)))},'
        f'{{"operation":"append_run_record","run_id":"{unique}","body":{twice}}},'
        f'{{"operation":"append_run_record","run_id":"{unique}","body":{record}}}]}}'
    )
    results = http.post("/v1/commands", content=text.encode(), headers=JSON).json()["results"]
    assert [result["status"] for result in results] == [200, 422, 200]
    assert results[1]["problem"]["errors"][0]["pointer"] == "/run_id"


@pytest.mark.parametrize(
    ("text", "pointer"),
    [
        ("null", ""),
        ("[]", ""),
        ("{}", "/commands"),
        ('{"commands":null}', "/commands"),
        ('{"commands":{}}', "/commands"),
        ('{"commands":[]}', "/commands"),
        ('{"commands":[GOOD],"more":1}', "/more"),
        ('{"commands":[GOOD],"commands":[GOOD]}', "/commands"),
        ('{"commands":[GOOD,1]}', "/commands/1"),
        ('{"commands":[GOOD,null]}', "/commands/1"),
        (
            '{"commands":[GOOD,{"operation":"append_run_record","run_id":"a","body":{},"when":"now"}]}',
            "/commands/1/when",
        ),
        ('{"commands":[GOOD,{"operation":"a","operation":"b","body":{}}]}', "/commands/1/operation"),
    ],
)
def test_a_wrong_frame_or_envelope_refuses_the_request(
    http: httpx.Client, unique: str, text: str, pointer: str
) -> None:
    good = json.dumps(item("start_one_shot_run", a_one_shot_start(unique)))
    answer = http.post("/v1/commands", content=text.replace("GOOD", good).encode(), headers=JSON)
    found = problem(answer, 422, "invalid_command")
    assert pointer in {error["pointer"] for error in found["errors"]}
    problem(http.get(f"/v1/runs/{unique}"), 404, "run_not_found")


def test_up_to_256_commands_fit_in_a_request(http: httpx.Client, unique: str) -> None:
    start = item("start_one_shot_run", a_one_shot_start(unique))
    records = [item("append_run_record", a_record(unique, f"k-{number}"), unique) for number in range(256)]
    results = run(http, start, *records[:255])
    assert [result["status"] for result in results] == [200] * 256
    assert results[-1]["body"]["id"] == "256"
    problem(http.post("/v1/commands", json={"commands": [start, *records]}), 422, "invalid_command")


def test_an_item_over_a_size_limit_is_too_large_alone(http: httpx.Client, unique: str) -> None:
    large = a_record(unique, "large", payload='"' + "x" * (8 * 1024 * 1024) + '"')
    results = run(
        http,
        item("start_one_shot_run", a_one_shot_start(unique)),
        item("append_run_record", large, unique),
        item("append_run_record", a_record(unique), unique),
    )
    assert [result["status"] for result in results] == [200, 413, 200]
    assert results[1]["problem"]["limit"] == 8 * 1024 * 1024
    problem(http.post(f"/v1/runs/{unique}/records", json=large), 413, "payload_too_large")
