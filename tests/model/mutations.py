"""A valid call with one thing changed: a name, a type, a text, a time, a payload, a checkpoint.

What the change means is the model's business: some of them are other spellings of the same thing.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from tests.model.choose import Choose
from tests.model.commands import compact
from tests.model.model import Call

MISSING = object()
TIMES = ("started_at", "timestamp", "created_at", "ended_at")
ODD_TIMES: tuple[Any, ...] = (
    "",
    "2026-03-01T10:00:00Z",
    "2026-03-01t10:00:00.000z",
    "2026-03-01T10:00:00.0+00:00",
    "2026-03-01T10:00:00-00:00",
    "2026-03-01T12:30:00.000000000+02:30",
    "2026-02-28T10:01:00-23:59",
    "2026-03-01T10:00:00.0001Z",
    "2026-03-01T10:00:00.001Z",
    "2026-03-01T10:00:00.0010000001Z",
    "2026-03-01T10:00:60Z",
    "2026-03-01T24:00:00Z",
    "2026-03-01T10:00:00+24:00",
    "2026-03-01T10:00:00+2:00",
    "2026-03-01T10:00:00+0200",
    "2026-03-01 10:00:00Z",
    "2026-03-01T10:00:00",
    "2026-03-01T10:00:00.Z",
    "2026-03-01T10:00:00,5Z",
    " 2026-03-01T10:00:00Z",
    "2026-03-01T10:00:00Z\n",
    "2026-02-29T10:00:00Z",
    "2024-02-29T10:00:00Z",
    "1969-12-31T23:59:59.999Z",
    "0001-01-01T00:00:00Z",
    "0001-01-01T01:00:00.000+01:00",
    "0001-01-01T00:00:00.001Z",
    "0001-01-01T00:00:00+00:01",
    "9999-12-31T23:59:59.999Z",
    "9999-12-31T23:59:59-00:01",
    "10000-01-01T00:00:00Z",
    "２０26-03-01T10:00:00Z",
    "1772359200",
    1772359200,
    "now",
)
WRONG_TYPES: tuple[Any, ...] = (5, True, [], {}, ["x"], 1.5)
WRONG_TEXTS: tuple[Any, ...] = ("", None, MISSING, "X" * 1025, "é" * 513, "a\0b", "\ud800", "x\udfff")
ODD_LABELS: tuple[Any, ...] = (
    None,
    MISSING,
    {},
    {"a": "b"},
    {"a": "b", "c": "d"},
    {"": ""},
    {"\0": "\0"},
    {"\ufffd": "\ufffd"},
    {"a": None},
    {"a": 1},
    {"\ud800": ""},
    {"a": "\udc00"},
    {f"l{i}": "" for i in range(256)},
    {f"l{i}": "" for i in range(257)},
    {"a": "b" * (64 * 1024 - 1)},
    {"a": "b" * (64 * 1024)},
    [],
    "a=b",
)
ODD_DATA: tuple[Any, ...] = (
    "",
    None,
    MISSING,
    "AA==",
    "AB==",
    "AAA=",
    "AAB=",
    "AAAA",
    "AA",
    "AA=",
    "A===",
    "AAAA\n",
    "AA A",
    "_-8=",
    "+/8=",
    5,
)
ODD_PAYLOADS: tuple[Any, ...] = (
    "",
    None,
    MISSING,
    "null",
    "{}",
    "[]",
    '"text"',
    "12345678901234567890123456789012345678901234567890.5e-400",
    " {} \n",
    "{",
    "{} {}",
    "NaN",
    "[1,]",
    "{'a':1}",
    '{"a":1}// no',
    "\ufeff{}",
    '"\t"',
    "01",
    "+1",
    "tru",
    '"\\ud800"',
    '"\\u0000"',
    '"\\x41"',
    '"\ud800"',
    "[" * 500 + "]" * 500,
    "[" * 501 + "]" * 501,
    '{"a":' * 250 + "[" * 250 + "]" * 250 + "}" * 250,
    '{"a":1,"a":2}',
    5,
    {},
)


def mutated(choose: Choose, call: Call, ids: Sequence[str]) -> Call:
    """The call with one thing changed, in its path or in its body."""
    if call.body is None or (call.path and choose.chance(5)):
        return replace(call, path=choose.pick([*ids, call.path + "x", ""]))
    body = copy.deepcopy(call.body)
    container, name = choose.pick(list(_places(body)))
    if name is MISSING:
        container["surprise" if choose.chance(50) else "Run_ID"] = None
    elif isinstance(name, int):
        container[name] = choose.pick([None, "", 5, container[name]])
    else:
        value = _changed(choose, name, container[name], ids)
        if value is MISSING:
            del container[name]
        else:
            container[name] = value
    return replace(call, body=body)


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every member of every object outside labels, and each object once more for a name of its own."""
    for name, member in value.items():
        yield value, name
        if isinstance(member, dict) and name != "labels":
            yield from _places(member)
    yield value, MISSING


def _changed(choose: Choose, name: str, value: Any, ids: Sequence[str]) -> Any:
    if name in TIMES:
        return choose.pick([*ODD_TIMES, None, MISSING])
    if name == "labels":
        return choose.pick(ODD_LABELS)
    if name == "data":
        return choose.pick(ODD_DATA)
    if name == "payload" and isinstance(value, str):
        return changed_payload(choose, value, ids)
    if name == "status":
        return choose.pick(["completed", "failed", "canceled", "success", "running", "", None, MISSING, 5])
    if name == "reason" and choose.chance(30):
        return choose.pick(["r" * 16 * 1024, "r" * (16 * 1024 + 1), "é" * 8193, "other"])
    if isinstance(value, dict):
        return choose.pick([None, MISSING, [], {}, "x"])
    if choose.chance(15):
        return choose.pick(WRONG_TYPES)
    # What can become an id holds one of ours: others may use the same database, and ids of their own.
    mine = [ids[0] + " ", ids[0] + "\U0001f600", ids[0].ljust(1024 - len(ids[0].encode()) + len(ids[0]), "X")]
    others = [*ids, *WRONG_TEXTS, *mine]
    if isinstance(value, str):
        others += [value + " ", value.upper(), value.lower(), value + "\u0301"]
    if name == "type":
        others += ["run_started", "run_completed", "run_suspended", "child_run_linked", "runtime.cancellation_intent"]
        others += ["RUN_STARTED", "planner_note"]
    return choose.pick(others)


def changed_payload(choose: Choose, text: str, ids: Sequence[str]) -> Any:
    """Another text of the same JSON, other JSON, or no JSON."""
    if choose.chance(25):
        return choose.pick(ODD_PAYLOADS)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text + " "
    if not isinstance(value, dict) or not value or choose.chance(15):
        return choose.pick([text + " ", compact(value), json.dumps(value), text.replace(":", " : ", 1)])
    name = choose.pick(sorted(value))
    match choose.pick(["value", "leaf", "drop", "null", "unknown", "case", "twice", "escaped"]):
        case "value":
            value[name] = choose.pick(
                [0, -0.0, 10**18, 10**19, True, "", "other", [], ["x"], [None], {}, {"a": "b"}, *ids]
            )
        case "leaf":
            value[name] = _other_leaf(choose, value[name])
        case "drop":
            del value[name]
        case "null":
            value[name] = None
        case "unknown":
            value[choose.pick(["Surprise", "reason", "Status", "labels "])] = choose.pick([None, "x"])
        case "case":
            value[name.swapcase()] = value.pop(name)
        case "twice":
            return compact(value)[:-1] + f",{compact(name)}:{compact(value[name])}}}"
        case "escaped":
            return compact(value).replace(f'"{name}"', f'"\\u{ord(name[0]):04x}{name[1:]}"', 1)
    return compact(value)


def _other_leaf(choose: Choose, value: Any) -> Any:
    match value:
        case dict() if value:
            name = choose.pick(sorted(value))
            return value | {name: choose.pick([None, "", "other", 5, {}, 2**63, 2**63 - 1, -(2**63) - 1, True])}
        case dict() | None:
            return choose.pick([{}, {"a": "b"}, {"reason": "x"}, {"message": "m", "kind": "k"}, {"x": None}])
        case list():
            return choose.pick([[], ["a", "b"], [None], [1], [["x"]]])
        case str():
            return choose.pick([value + "x", value.upper(), "", " "])
    return choose.pick([0, 1, -1, 2**63, 2**63 - 1, -(2**63), 1.0, "1", True, None])
