"""The OpenAPI document: whole, true to the code, and with examples that work one after another."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

import runhold.api
from runhold.api import schemas
from runhold.api.openapi import build_document
from runhold.api.operations import OPERATIONS
from runhold.api.problems import PROBLEMS, problem
from runhold.domain import errors, values
from runhold.main import create_app
from runhold.settings import Settings

DOCUMENT: dict[str, Any] = build_document(OPERATIONS)
STATIC = Path(runhold.api.__file__).parent / "static" / "swagger-ui"

CONTRACT = """
create_session POST /v1/sessions
list_sessions GET /v1/sessions
load_session GET /v1/sessions/{session_id}
purge_session DELETE /v1/sessions/{session_id}
end_session POST /v1/sessions/{session_id}/end
load_session_status GET /v1/sessions/{session_id}/status
list_runs_by_session GET /v1/sessions/{session_id}/runs
list_session_run_records GET /v1/sessions/{session_id}/records
start_root_run POST /v1/runs/root
start_child_run POST /v1/runs/child
start_one_shot_run POST /v1/runs/one-shot
start_one_shot_child_run POST /v1/runs/one-shot-child
append_run_record POST /v1/runs/{run_id}/records
record_run_cancellation POST /v1/runs/{run_id}/cancellation
record_run_suspension POST /v1/runs/{run_id}/suspension
load_run_suspension GET /v1/runs/{run_id}/suspension
record_run_terminal POST /v1/runs/{run_id}/terminal
repair_run_suspension POST /v1/runs/{run_id}/suspension/repair
repair_run_terminal POST /v1/runs/{run_id}/terminal/repair
run_commands POST /v1/commands
load_run GET /v1/runs/{run_id}
purge_one_shot_run DELETE /v1/runs/{run_id}
list_run_records GET /v1/runs/{run_id}/records
list_runs GET /v1/runs
"""


def test_the_operations_are_those_of_the_contract() -> None:
    found = {
        f"{operation['operationId']} {method.upper()} {path}"
        for path, methods in DOCUMENT["paths"].items()
        for method, operation in methods.items()
    }
    assert found == set(CONTRACT.strip().splitlines())


def test_the_framework_has_a_route_for_every_operation() -> None:
    routes = {getattr(route, "operation_id", None) for route in create_app(Settings()).routes}
    assert routes >= {operation.id for operation in OPERATIONS}


def test_the_document_is_the_same_each_time_it_is_built() -> None:
    assert json.dumps(build_document(OPERATIONS)) == json.dumps(DOCUMENT)
    assert create_app(Settings()).openapi() == DOCUMENT


def test_every_reference_leads_somewhere() -> None:
    def look(value: Any) -> None:
        if isinstance(value, dict):
            if "$ref" in value:
                found: Any = DOCUMENT
                for part in value["$ref"].removeprefix("#/").split("/"):
                    found = found[part]
            for inner in value.values():
                look(inner)
        elif isinstance(value, list):
            for inner in value:
                look(inner)

    look(DOCUMENT)


def test_every_problem_has_one_status_and_only_the_live_ones_are_left_out() -> None:
    documented = set(DOCUMENT["components"]["examples"])
    # The first two belong to no operation, the others to views that do not exist yet.
    assert set(PROBLEMS) - documented <= {
        "not_found",
        "method_not_allowed",
        "transcript_not_found",
        "transcript_invalid",
    }
    for code, (kind, status) in PROBLEMS.items():
        permanent = status in (400, 404, 405, 409, 410, 413, 415, 422)
        assert kind.permanent is permanent, code


def test_every_description_says_something() -> None:
    for name, schema in DOCUMENT["components"]["schemas"].items():
        assert schema["description"], name
        for field, told in schema["properties"].items():
            assert told.get("description"), f"{name}.{field}"


@pytest.mark.parametrize(
    ("model", "value", "other"),
    [
        (schemas.RunStart, values.RunStart, set()),
        (schemas.RunRecord, values.RunRecord, set()),
        (schemas.RunSuspension, values.RunSuspension, set()),
        (schemas.Checkpoint, values.RunSuspension, set()),
        (schemas.AppendResult, values.AppendResult, set()),
        (schemas.RootStartResult, values.RootStartResult, set()),
        (schemas.ChildStartResult, values.ChildStartResult, set()),
        (schemas.OneShotStartResult, values.OneShotStartResult, set()),
        (schemas.OneShotChildStartResult, values.OneShotChildStartResult, set()),
        (schemas.RepairResult, values.RepairResult, set()),
        (schemas.Session, values.Session, {"record_count", "run_count"}),
        (schemas.RunMeta, values.Run, {"predecessor_run_id", "link_position", "session_ordinal"}),
    ],
)
def test_the_models_have_the_fields_of_the_values(
    model: type[schemas.Body | schemas.Answer], value: type[values.Value], other: set[str]
) -> None:
    fields = {field.name for field in msgspec.structs.fields(value)}
    assert set(model.model_fields) == fields - other


def test_the_models_have_the_statuses_of_the_values() -> None:
    found = DOCUMENT["components"]["schemas"]
    runs = [status.value for status in values.RunStatus if status is not values.RunStatus.PURGED]
    assert found["RunMeta"]["properties"]["status"]["enum"] == runs
    assert found["RepairResult"]["properties"]["status"]["enum"] == runs
    assert found["RepairResult"]["properties"]["outcome"]["enum"] == list(values.RepairOutcome)
    assert found["RootStartResult"]["properties"]["outcome"]["enum"] == list(values.StartOutcome)
    sessions = [status.value for status in values.SessionStatus if status is not values.SessionStatus.PURGED]
    assert found["Session"]["properties"]["status"]["enum"] == sessions


def test_every_class_of_refusal_has_a_problem() -> None:
    def family(kind: type[errors.RefusalError]) -> set[str]:
        own = {kind.code} if "code" in vars(kind) and kind is not errors.RefusalError else set()
        return own.union(*(family(child) for child in kind.__subclasses__() if child.__module__ == errors.__name__))

    assert family(errors.RefusalError) == set(PROBLEMS)


def test_only_a_reader_cannot_see_checkpoints() -> None:
    roles = {operation.id: operation.roles for operation in OPERATIONS}
    assert {name for name, allowed in roles.items() if "admin" not in allowed} == set()
    assert "reader" not in roles["load_run_suspension"]
    assert {name for name, allowed in roles.items() if allowed == {"admin"}} == {
        "create_session",
        "end_session",
        "purge_session",
        "purge_one_shot_run",
    }


def test_the_examples_work_one_after_another_on_an_empty_database(own_server: Any) -> None:
    with httpx.Client(base_url=own_server.url, trust_env=False, timeout=30) as http:
        document = http.get("/openapi.json").json()
        for path, methods in document["paths"].items():
            for method, operation in methods.items():
                answer = _execute(http, method, path, operation)
                expected = next(status for status in operation["responses"] if status.startswith("2"))
                assert str(answer.status_code) == expected, (operation["operationId"], answer.text)
                _compare(operation, answer)


def _execute(http: httpx.Client, method: str, path: str, operation: dict[str, Any]) -> httpx.Response:
    for parameter in operation["parameters"]:
        if parameter["in"] == "path":
            escaped = "".join(f"%{byte:02X}" for byte in parameter["example"].encode())
            path = path.replace(f"{{{parameter['name']}}}", escaped)
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("example")
    return http.request(method, path, json=body)


def _compare(operation: dict[str, Any], answer: httpx.Response) -> None:
    """The documented answer has the names of the real one, and its values where they do not depend on the clock."""
    if answer.status_code == 204:
        assert not answer.content
        return
    documented = operation["responses"]["200"]["content"]["application/json"]["example"]
    found = answer.json()
    assert set(found) == set(documented), operation["operationId"]
    clocked = {"updated_at", "head_digest", "next_cursor", "end_cursor", "runs", "records"}
    for name in set(found) - clocked:
        assert found[name] == documented[name], (operation["operationId"], name)
    for name in ("runs", "records"):
        if documented.get(name):
            assert set(found[name][0]) == set(documented[name][0]), operation["operationId"]


def test_the_page_needs_nothing_from_elsewhere(http: httpx.Client) -> None:
    page = http.get("/docs")
    assert page.status_code == 200
    assert "http" not in page.text.replace("https://", "http://").split("<body>")[1]
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    for asset in ("swagger-ui/swagger-ui-bundle.js", "swagger-ui/swagger-ui.css", "docs.js"):
        assert f"static/{asset}" in page.text
        assert http.get(f"/static/{asset}").status_code == 200
    assert http.get("/openapi.json").json() == DOCUMENT


def test_the_assets_of_the_page_are_those_that_were_published() -> None:
    lines = [line.split("  ") for line in (STATIC / "SHA256SUMS").read_text().splitlines()]
    sums = {name: digest for digest, name in lines}
    assert {"swagger-ui-bundle.js", "swagger-ui.css", "LICENSE", "NOTICE"} <= set(sums)
    for name, digest in sums.items():
        assert hashlib.sha256((STATIC / name).read_bytes()).hexdigest() == digest, name


def test_the_type_of_every_problem_opens_its_entry(http: httpx.Client) -> None:
    refused = http.get("/v1/runs/none-of-that-name").json()
    page = http.get(refused["type"])
    assert page.status_code == 200
    for code, (kind, status) in PROBLEMS.items():
        assert problem(kind(), "r")["type"] == f"/docs/problems#{code}"
        entry = page.text.split(f'<section id="{code}">')[1].split("</section>")[0]
        assert f"<small>{status}</small>" in entry
        assert ("Permanent" in entry) == kind.permanent
    assert http.get("/static/problems.css").status_code == 200
