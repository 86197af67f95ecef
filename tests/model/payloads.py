"""Typed payloads, decoded strictly: the contract's lifecycle records and what each may say."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from tests.model.values import Number, Obj, decode_json, invalid, is_text

PHASES = ("prompted", "planning", "executing_tools", "synthesizing", "completed", "failed", "canceled", "suspended")
TYPED = ("run_started", "child_run_linked", "run_suspended", "run_completed")
LIFECYCLE = (*TYPED, "runtime.cancellation_intent")

_INTEGER = re.compile(r"-?(0|[1-9][0-9]*)")


@dataclass(frozen=True)
class Completion:
    status: str
    phase: str
    reason: str
    labels: dict[str, str]


@dataclass(frozen=True)
class Started:
    parent_run_id: str
    predecessor_run_id: str
    labels: dict[str, str]


@dataclass(frozen=True)
class Linked:
    tool_name: str
    tool_call_id: str
    child_run_id: str
    child_agent_id: str


def started(payload: str) -> Started:
    members = _members(_decoded(payload), "ParentRunID", "PredecessorRunID", "Labels")
    return Started(
        _text(members.get("ParentRunID")), _text(members.get("PredecessorRunID")), _labels(members.get("Labels"))
    )


def linked(payload: str) -> Linked:
    names = ("ToolName", "ToolCallID", "ChildRunID", "ChildAgentID")
    members = _members(_decoded(payload), *names)
    return Linked(*(_text(members.get(name)) for name in names))


def suspended(payload: str) -> str:
    """The suspension id it names."""
    members = _members(_decoded(payload), "SuspensionID", "Version", "PendingCount", "RequiredTools")
    _text(members.get("Version"))
    _integer(members.get("PendingCount"))
    tools = members.get("RequiredTools")
    if tools is not None and not (isinstance(tools, list) and all(is_text(tool) for tool in tools)):
        raise invalid("RequiredTools is not a list of texts")
    return _text(members.get("SuspensionID"))


def completed(payload: str) -> Completion:
    members = _members(_decoded(payload), "status", "phase", "failure", "cancellation", "labels")
    status, phase = _text(members.get("status")), _text(members.get("phase"))
    failure, cancellation = members.get("failure"), members.get("cancellation")
    message, kind = _failure(failure) if failure is not None else ("", "")
    reason = _text(_members(cancellation, "reason").get("reason")) if cancellation is not None else ""
    may_hold = {
        "success": failure is None and cancellation is None,
        "failed": failure is not None and bool(message) and bool(kind) and cancellation is None,
        "canceled": failure is None and bool(reason),
    }
    if not may_hold.get(status, False) or phase not in ("", *PHASES):
        raise invalid("a completion that does not hold together")
    return Completion(status, phase, reason, _labels(members.get("labels")))


def intent(payload: str) -> str:
    """The reason it names; other names are allowed, whatever they hold."""
    value = decode_json(payload)
    if not isinstance(value, Obj):
        raise invalid("not an object")
    reasons = [member for name, member in value.pairs if name == "reason"]
    if len(reasons) > 1:
        raise invalid("reason twice")
    return _text(reasons[0]) if reasons else ""


def _decoded(payload: str) -> Obj:
    value = decode_json(payload)
    if not isinstance(value, Obj):
        raise invalid("not an object")
    _refuse_repeated_names(value)
    return value


def _refuse_repeated_names(value: Any) -> None:
    if isinstance(value, Obj):
        if len({_readable(name) for name in value.names}) != len(value.names):
            raise invalid("a name is given twice")
        for _, member in value.pairs:
            _refuse_repeated_names(member)
    elif isinstance(value, list):
        for member in value:
            _refuse_repeated_names(member)


def _members(value: Any, *known: str) -> dict[str, Any]:
    if not isinstance(value, Obj):
        raise invalid("not an object")
    if unknown := set(value.names) - set(known):
        raise invalid(f"unknown names {sorted(unknown)}")
    return value.unique()


def _failure(value: Any) -> tuple[str, str]:
    texts = ("message", "debug_message", "provider", "operation", "kind", "code")
    members = _members(value, *texts, "http_status", "retryable")
    for name in texts:
        _text(members.get(name))
    _integer(members.get("http_status"))
    if not isinstance(members.get("retryable"), bool | None):
        raise invalid("retryable is not a boolean")
    return _text(members.get("message")), _text(members.get("kind"))


def _text(value: Any) -> str:
    """Text as comparisons read it: an escaped lone surrogate is U+FFFD."""
    if value is None:
        return ""
    if not is_text(value):
        raise invalid("not text")
    return _readable(value)


def _readable(text: str) -> str:
    return re.sub("[\ud800-\udfff]", "\ufffd", text)


def _labels(value: Any) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, Obj) or not all(is_text(member) for _, member in value.pairs):
        raise invalid("labels are not texts")
    return {_readable(name): _readable(member) for name, member in value.pairs}


def _integer(value: Any) -> None:
    if value is None:
        return
    if not isinstance(value, Number) or not _INTEGER.fullmatch(value):
        raise invalid("not an integer")
    # Twenty characters hold every 64-bit integer; longer ones are not even converted.
    if len(value) > 20 or not -(2**63) <= int(value) < 2**63:
        raise invalid("an integer beyond 64 bits")
