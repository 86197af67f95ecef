"""From the calls that showed a disagreement to the fewest that still do, and how to tell them."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import httpx

from tests.model.machine import new_token
from tests.model.model import COMMANDS, Call
from tests.model.pair import Disagreement, Pair
from tests.model.wire import Wire

Step = tuple[Call, bool]
"""A call, and whether its path is spelled plainly."""


def renamed(value: Any, old: str, new: str) -> Any:
    """The same with other ids: ``old`` replaced wherever it stands."""
    match value:
        case str():
            return value.replace(old, new)
        case dict():
            return {renamed(name, old, new): renamed(member, old, new) for name, member in value.items()}
        case list() | tuple():
            return type(value)(renamed(member, old, new) for member in value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: renamed(getattr(value, field.name), old, new) for field in dataclasses.fields(value)}
        return dataclasses.replace(value, **fields)
    return value


def disagreement(url: str, steps: Sequence[Step], token: str) -> str | None:
    """Play calls once more, on ids of their own. Returns what the service and the model disagree about, or None."""
    fresh = new_token()
    with Wire(url) as wire:
        pair = Pair(wire)
        try:
            for call, plain in steps:
                pair.step(renamed(call, token, fresh), plain)
        except (AssertionError, httpx.HTTPError) as error:
            what = error.what if isinstance(error, Disagreement) else str(error) or type(error).__name__
            return what.replace(fresh, token)
        except KeyError:
            # A cursor whose page is no longer asked for.
            return None
    return None


def reduced(url: str, steps: Sequence[Step], token: str, seconds: float) -> list[Step]:
    """Leave out calls, and items of batches, as long as what is left still shows a disagreement."""
    deadline = time.monotonic() + seconds
    kept = list(steps)
    size = max(1, len(kept) // 2)
    while time.monotonic() < deadline:
        smaller = _without_some(url, kept, token, size, deadline)
        if smaller is not None:
            kept = smaller
        elif size > 1:
            size //= 2
        else:
            break
        size = min(size, max(1, len(kept) // 2))
    return _smaller_batches(url, kept, token, deadline)


def _without_some(url: str, steps: list[Step], token: str, size: int, deadline: float) -> list[Step] | None:
    """The same without one stretch of calls, the latest that is not needed; None when all are."""
    for end in range(len(steps), 0, -size):
        rest = [*steps[: max(0, end - size)], *steps[end:]]
        if time.monotonic() > deadline:
            return None
        if rest and disagreement(url, rest, token):
            return rest
    return None


def _smaller_batches(url: str, steps: list[Step], token: str, deadline: float) -> list[Step]:
    """The same with fewer items in its batches, and with single calls in place of batches of one."""
    for place in range(len(steps)):
        if steps[place][0].operation == "run_commands":
            steps = _smaller_batch(url, steps, place, token, deadline)
    return steps


def _smaller_batch(url: str, steps: list[Step], place: int, token: str, deadline: float) -> list[Step]:
    call, plain = steps[place]
    items = call.body["commands"]
    trials = [[other for other in items if other is not item] for item in items]
    for fewer in trials:
        trial = [*steps[:place], (replace(call, body={"commands": fewer}), plain), *steps[place + 1 :]]
        if fewer and time.monotonic() < deadline and disagreement(url, trial, token):
            return _smaller_batch(url, trial, place, token, deadline)
    single = Call(items[0].get("operation"), items[0].get("run_id", ""), body=items[0].get("body"))
    trial = [*steps[:place], (single, plain), *steps[place + 1 :]]
    is_enough = len(items) == 1 and single.operation in COMMANDS and disagreement(url, trial, token)
    return trial if is_enough else steps


def told(call: Call, token: str) -> str:
    """One call in one line."""
    parts = [call.operation]
    if call.path:
        parts.append(repr(call.path))
    parts += [f"{name}={value if isinstance(value, str) else '<cursor>'}" for name, value in call.query]
    if call.operation == "run_commands":
        parts += [
            told(Call(item.get("operation"), item.get("run_id", ""), body=item.get("body")), token)
            for item in call.body["commands"]
        ]
        parts = [parts[0], "[" + "; ".join(parts[1:]) + "]"]
    elif call.body is not None:
        parts.append(_facts(call.body))
    line = " ".join(parts).replace(token, "")
    return "".join(character if character.isprintable() else ascii(character)[1:-1] for character in line)


def _facts(body: Any) -> str:
    """A body without its absent members; long texts cut."""
    if isinstance(body, dict):
        body = {name: member for name, member in body.items() if member not in ("", None, {})}
        return "{" + ", ".join(f"{name}: {_facts(member)}" for name, member in body.items()) + "}"
    text = json.dumps(body, ensure_ascii=False, default=str)
    return text if len(text) <= 120 else f"{text[:100]}… ({len(text)} characters)"
