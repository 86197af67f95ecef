"""Plays the scenarios of the contract: each step's answer must hold what the scenario expects of it.

``{{u}}`` in any text stands for a token of this play, so a scenario can be played again on the same database. Of an
expected object the named fields must be equal, others may be anything; lists are as long as expected; labels are whole.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.conformance.expressible import Step, expressible
from tests.conformance.ports import GATHERED, Port
from tests.conformance.statuses import STATUS

SCENARIOS = Path(__file__).parent / "scenarios"


@dataclass
class Count:
    """How many steps a port could play itself."""

    played: int = 0
    not_expressible: int = 0


def all_scenarios() -> list[tuple[str, Mapping[str, Any]]]:
    """Every scenario with the name of its file."""
    return [
        (file.stem, scenario) for file in sorted(SCENARIOS.glob("*.json")) for scenario in json.loads(file.read_text())
    ]


def play(port: Port, scenario: Mapping[str, Any]) -> int:
    """Play every step through one port; how many there were. Raises: AssertionError at the first that does not hold."""
    steps = list(_steps(scenario))
    for where, step in steps:
        _check(port.call(step), step, where)
    return len(steps)


def play_typed(port: Port, scenario: Mapping[str, Any], wire: Port | None, count: Count) -> None:
    """Play the steps that typed arguments can express through a store, and count the others.

    Those go over ``wire``, to the same service. A store without a wire gets what stands for them, where later steps
    build on it: the commands of ``run_commands`` one by one, and a session's time cut as the service would cut it.
    """
    for where, step in _steps(scenario):
        if expressible(step):
            count.played += 1
            _check(port.call(step), step, where)
            continue
        count.not_expressible += 1
        if wire is not None:
            _check(wire.call(step), step, where)
        else:
            for single in _stand_ins(step):
                _check(port.call(single), single, where)


def _steps(scenario: Mapping[str, Any]) -> Iterator[tuple[str, Step]]:
    token = uuid.uuid4().hex[:12]
    for number, step in enumerate(scenario["steps"], 1):
        yield f"step {number}, {step['op']}", _filled(step, token)


def _filled(value: Any, token: str) -> Any:
    if isinstance(value, str):
        return value.replace("{{u}}", token)
    if isinstance(value, list):
        return [_filled(item, token) for item in value]
    if isinstance(value, dict):
        return {_filled(name, token): _filled(item, token) for name, item in value.items()}
    return value


def _stand_ins(step: Step) -> Iterator[Step]:
    if step["op"] == "run_commands" and "ok" in step["expect"]:
        for command, result in zip(step["args"]["commands"], step["expect"]["ok"]["results"], strict=True):
            single = _single(command, result)
            if single["op"] in GATHERED and expressible(single):
                yield single
    if step["op"] == "create_session" and "ok" in step["expect"]:
        created_at = step["args"]["created_at"]
        digits = created_at.partition(".")[2].partition("+")[0]
        yield {**step, "args": {**step["args"], "created_at": created_at.replace(digits, digits[:6])}}


def _single(command: Mapping[str, Any], result: Mapping[str, Any]) -> Step:
    body = command["body"]
    args = {"record": body} if command["operation"] == "append_run_record" else body
    if "run_id" in command:
        args = {"run_id": command["run_id"], **args}
    expect = {"error": result["problem"]["code"]} if "problem" in result else {"ok": result["body"]}
    return {"op": command["operation"], "args": args, "expect": expect}


def _check(answer: Mapping[str, Any], step: Step, where: str) -> None:
    expect = step["expect"]
    if "error" in expect:
        code = expect["error"]
        assert answer.get("error") == code, f"{where}: expected {code}, got {answer}"
        assert answer["permanent"] is True, f"{where}: {code} is permanent"
        assert answer.get("status", STATUS[code]) == STATUS[code], f"{where}: {code} is {STATUS[code]}, got {answer}"
    else:
        assert "ok" in answer, f"{where}: expected success, got {answer}"
        _match(expect["ok"], answer["ok"], where)


def _match(expected: Any, found: Any, where: str) -> None:
    if isinstance(expected, dict) and not where.endswith(".labels"):
        assert isinstance(found, dict), f"{where}: expected an object, got {found!r}"
        for name, value in expected.items():
            assert name in found, f"{where}: {name} is missing"
            _match(value, found[name], f"{where}.{name}")
    elif isinstance(expected, list):
        assert isinstance(found, list), f"{where}: expected a list, got {found!r}"
        assert len(found) == len(expected), f"{where}: expected {len(expected)} items, got {len(found)}"
        for place, (value, item) in enumerate(zip(expected, found, strict=True)):
            _match(value, item, f"{where}[{place}]")
    else:
        assert type(found) is type(expected) and found == expected, f"{where}: expected {expected!r}, got {found!r}"
