"""The typed payloads of the lifecycle records, decoded strictly. Source: the storage contract, *Typed payloads*.

One JSON object; no unknown and no repeated name at any level; right types; a missing or ``null`` field is its zero
value; ``null`` inside labels or a list is refused. An escaped lone surrogate reads as U+FFFD; the stored text keeps it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NoReturn

from runhold.domain.json_text import holds_too_many_values
from runhold.domain.values import Value

RUN_STARTED = "run_started"
CHILD_RUN_LINKED = "child_run_linked"
RUN_SUSPENDED = "run_suspended"
RUN_COMPLETED = "run_completed"
CANCELLATION_INTENT = "runtime.cancellation_intent"
LIFECYCLE_TYPES = frozenset({RUN_STARTED, CHILD_RUN_LINKED, RUN_SUSPENDED, RUN_COMPLETED, CANCELLATION_INTENT})
"""The record types that only their own commands may store."""

SESSION_ENDED = "session_ended"
"""The reason of a run that was stopped at its start because its session had ended."""
ENGINE_CANCELED = "engine_canceled"
"""The reason of a run that ended canceled without a cancellation having been recorded."""

PHASES = frozenset(
    {"prompted", "planning", "executing_tools", "synthesizing", "completed", "failed", "canceled", "suspended"}
)


class PayloadError(ValueError):
    """A typed payload that does not fit; the text names what is wrong and quotes nothing of it."""


class RunStarted(Value, frozen=True):
    """Decoded ``run_started``."""

    parent_run_id: str
    predecessor_run_id: str
    labels: dict[str, str]


class ChildRunLinked(Value, frozen=True):
    """Decoded ``child_run_linked``."""

    tool_name: str
    tool_call_id: str
    child_run_id: str
    child_agent_id: str


class RunSuspended(Value, frozen=True):
    """Decoded ``run_suspended``."""

    suspension_id: str
    version: str
    pending_count: int
    required_tools: list[str]


class RunCompleted(Value, frozen=True):
    """Decoded ``run_completed``; ``reason`` is that of a cancellation, else ``""``."""

    status: str
    phase: str
    labels: dict[str, str]
    reason: str


_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_INT64 = 1 << 63

Read = Callable[[Any, str], Any]


class _Number:
    """A number that is no integer: kept apart so that no field takes it."""


def _integer(text: str) -> int | _Number:
    # Twenty characters hold every 64-bit integer; longer ones are not worth converting.
    if len(text) > 20:
        return _Number()
    value = int(text)
    return value if -_INT64 <= value < _INT64 else _Number()


def _constant(_: str) -> NoReturn:
    raise PayloadError("must be one JSON object")


def _read(text: str) -> str:
    return _LONE_SURROGATE.sub("\ufffd", text)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = {_read(name): value for name, value in pairs}
    if len(found) != len(pairs):
        raise PayloadError("must not give a name twice")
    return found


class _Pairs(list[tuple[str, Any]]):
    """An object whose repeated names matter to nobody but its reader."""


_STRICT = json.JSONDecoder(
    object_pairs_hook=_unique, parse_int=_integer, parse_float=lambda _: _Number(), parse_constant=_constant
)
_LENIENT = json.JSONDecoder(object_pairs_hook=_Pairs, parse_int=len, parse_float=len, parse_constant=_constant)


def _decode(payload: str, decoder: json.JSONDecoder) -> Any:
    if holds_too_many_values(payload):
        raise PayloadError("must not hold this many values")
    try:
        return decoder.decode(payload)
    except PayloadError:
        raise
    except (ValueError, RecursionError):
        raise PayloadError("must be one JSON object") from None


def _text(value: Any, name: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise PayloadError(f"{name} must be a string")
    return _read(value)


def _int(value: Any, name: str) -> int:
    if value is None:
        return 0
    if not isinstance(value, int) or isinstance(value, bool):
        raise PayloadError(f"{name} must be an integer of 64 bits")
    return value


def _flag(value: Any, name: str) -> bool:
    if value is None:
        return False
    if not isinstance(value, bool):
        raise PayloadError(f"{name} must be true or false")
    return value


def _labels(value: Any, name: str) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise PayloadError(f"{name} must be an object of strings")
    if not all(isinstance(text, str) for text in value.values()):
        raise PayloadError(f"{name} must hold strings only")
    return {key: _read(text) for key, text in value.items()}


def _texts(value: Any, name: str) -> list[str]:
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise PayloadError(f"{name} must be a list of strings")
    return [_read(text) for text in value]


def _fields(value: Any, where: str, shape: dict[str, Read]) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise PayloadError(f"{where} must be one JSON object")
    if not value.keys() <= shape.keys():
        raise PayloadError(f"{where} must hold no other names than {', '.join(shape)}")
    return {name: read(value.get(name), name) for name, read in shape.items()}


_FAILURE: dict[str, Read] = {
    "message": _text,
    "debug_message": _text,
    "provider": _text,
    "operation": _text,
    "kind": _text,
    "code": _text,
    "http_status": _int,
    "retryable": _flag,
}


def _failure(value: Any, name: str) -> dict[str, Any] | None:
    return None if value is None else _fields(value, name, _FAILURE)


def _cancellation(value: Any, name: str) -> dict[str, Any] | None:
    return None if value is None else _fields(value, name, {"reason": _text})


def decode_run_started(payload: str) -> RunStarted:
    """Decode strictly. Raises: PayloadError."""
    found = _fields(
        _decode(payload, _STRICT),
        RUN_STARTED,
        {"ParentRunID": _text, "PredecessorRunID": _text, "Labels": _labels},
    )
    return RunStarted(found["ParentRunID"], found["PredecessorRunID"], found["Labels"])


def decode_child_run_linked(payload: str) -> ChildRunLinked:
    """Decode strictly. Raises: PayloadError."""
    found = _fields(
        _decode(payload, _STRICT),
        CHILD_RUN_LINKED,
        {"ToolName": _text, "ToolCallID": _text, "ChildRunID": _text, "ChildAgentID": _text},
    )
    return ChildRunLinked(found["ToolName"], found["ToolCallID"], found["ChildRunID"], found["ChildAgentID"])


def decode_run_suspended(payload: str) -> RunSuspended:
    """Decode strictly. Raises: PayloadError."""
    found = _fields(
        _decode(payload, _STRICT),
        RUN_SUSPENDED,
        {"SuspensionID": _text, "Version": _text, "PendingCount": _int, "RequiredTools": _texts},
    )
    return RunSuspended(found["SuspensionID"], found["Version"], found["PendingCount"], found["RequiredTools"])


def decode_run_completed(payload: str) -> RunCompleted:
    """Decode strictly, with the parts that each status demands and forbids. Raises: PayloadError."""
    found = _fields(
        _decode(payload, _STRICT),
        RUN_COMPLETED,
        {"status": _text, "phase": _text, "failure": _failure, "cancellation": _cancellation, "labels": _labels},
    )
    status, failure, cancellation = found["status"], found["failure"], found["cancellation"]
    if found["phase"] and found["phase"] not in PHASES:
        raise PayloadError("phase must be one of the phases of a run")
    match status:
        case "success":
            if failure is not None or cancellation is not None:
                raise PayloadError("a success has no failure and no cancellation")
        case "failed":
            if failure is None or not failure["message"] or not failure["kind"] or cancellation is not None:
                raise PayloadError("a failed run has a failure with message and kind, and no cancellation")
        case "canceled":
            if cancellation is None or not cancellation["reason"] or failure is not None:
                raise PayloadError("a canceled run has a cancellation with a reason, and no failure")
        case _:
            raise PayloadError("status must be success, failed or canceled")
    reason = cancellation["reason"] if cancellation is not None else ""
    return RunCompleted(status, found["phase"], found["labels"], reason)


def decode_cancellation_intent(payload: str) -> str:
    """Read the reason of a cancellation intent; other names are allowed. Raises: PayloadError."""
    found = _decode(payload, _LENIENT)
    if not isinstance(found, _Pairs):
        raise PayloadError("must be one JSON object")
    reasons = [value for name, value in found if name == "reason"]
    if len(reasons) > 1:
        raise PayloadError("must not give reason twice")
    return _text(reasons[0] if reasons else None, "reason")
