"""The public scenarios hold on the model itself: that is how we know the model reads the contract rightly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from tests.model.lists import Between, Cursor
from tests.model.model import Answer, Model
from tests.model.state import Unknown
from tests.model.values import Refused, path_id

SCENARIOS = Path(__file__).parents[1] / "conformance" / "scenarios"
PLAYS = [
    pytest.param(scenario, id=f"{file.stem}: {scenario['name']}")
    for file in sorted(SCENARIOS.glob("*.json"))
    for scenario in json.loads(file.read_text())
]
SESSION_PATHS = ("load_session", "purge_session", "load_session_status", "end_session", "list_runs_by_session")


def filled(value: Any) -> Any:
    """The step with its token replaced; any twelve characters do: every scenario has a model of its own."""
    return json.loads(json.dumps(value).replace("{{u}}", "0123456789ab"))


def play(model: Model, step: dict[str, Any]) -> Answer:
    """One step of a scenario: path ids and query names lie beside the body's names in its arguments."""
    operation, arguments = step["op"], dict(step["args"])
    if operation == "raw":
        return play_raw(model, arguments)
    query: list[tuple[str, Any]] = [("status", status) for status in arguments.pop("statuses", [])]
    if operation.startswith("list_"):
        query += [(name, str(arguments.pop(name))) for name in ("cursor", "limit") if name in arguments]
    in_session = operation in (*SESSION_PATHS, "list_session_run_records")
    starts = operation.startswith("start_") or operation in ("create_session", "run_commands")
    path = "" if starts else arguments.pop("session_id" if in_session else "run_id", "")
    body = arguments["record"] if operation == "append_run_record" else arguments
    return model.call(operation, path, query, body)


def play_raw(model: Model, arguments: dict[str, Any]) -> Answer:
    """A step that fixes its own path: the run's id is spelled in it."""
    address = urlsplit(arguments["path"])
    parts = address.path.split("/")
    names = {
        ("POST", "sessions"): "create_session",
        ("POST", "records"): "append_run_record",
        ("GET", "records"): "list_run_records",
    }
    query = parse_qsl(address.query, keep_blank_values=True)
    try:
        path = path_id(parts[3]) if len(parts) > 3 else ""
    except Refused as refused:
        return Answer(422, {"code": refused.code, "status": 422, "permanent": True})
    operation = names.get((arguments["method"], parts[-1]), "load_run" if parts[2] == "runs" else "load_session")
    return model.call(operation, path, query, arguments.get("body"))


def mismatch(want: Any, got: Any, where: str = "answer") -> str | None:
    """The scenarios' way to compare: members that are not named may hold anything, labels are compared whole."""
    if isinstance(got, Unknown | Cursor | Between):
        return None if isinstance(want, str) and want else f"{where}: want {want!r}, got {got!r}"
    if isinstance(want, dict) and not where.endswith(".labels"):
        if not isinstance(got, dict):
            return f"{where}: want an object, got {got!r}"
        for name, value in want.items():
            if name not in got:
                return f"{where}.{name}: missing"
            if found := mismatch(value, got[name], f"{where}.{name}"):
                return found
        return None
    if isinstance(want, list):
        if not isinstance(got, list) or len(got) != len(want):
            return f"{where}: want {len(want)} items, got {got!r}"
        return next((m for i, w in enumerate(want) if (m := mismatch(w, got[i], f"{where}[{i}]"))), None)
    return None if want == got and type(want) is type(got) else f"{where}: want {want!r}, got {got!r}"


@pytest.mark.parametrize("scenario", PLAYS)
def test_the_scenario_holds_on_the_model(scenario: dict[str, Any]) -> None:
    model = Model()
    for number, step in enumerate(filled(scenario["steps"]), 1):
        answer, want = play(model, step), step["expect"]
        where = f"step {number} {step['op']}"
        if "error" in want:
            assert answer.code == want["error"], f"{where}: got {answer}"
        else:
            assert answer.status < 300, f"{where}: got {answer}"
            assert mismatch(want["ok"], answer.body) is None, where


def test_all_public_scenarios_are_here() -> None:
    assert len(PLAYS) == 66
