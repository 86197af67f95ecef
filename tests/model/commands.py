"""Valid calls, built from a few facts; a test changes only what it is about."""

from __future__ import annotations

import base64
import json
from typing import Any

from tests.model.model import ON_A_RUN, Call

T0 = "2026-03-01T10:00:00.000Z"


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def record(run: str, agent: str, session: str, key: str, type_: str, payload: Any, at: str = T0) -> dict[str, Any]:
    return {
        "event_key": key,
        "run_id": run,
        "agent_id": agent,
        "session_id": session,
        "turn_id": "",
        "type": type_,
        "payload": payload if isinstance(payload, str) else compact(payload),
        "timestamp": at,
    }


def completion(status: str, reason: str = "", labels: dict[str, str] | None = None) -> dict[str, Any]:
    """The payload of a run_completed record for a command's status."""
    said: dict[str, Any] = {"status": "success" if status == "completed" else status, "phase": status}
    if status == "failed":
        said["failure"] = {"message": "it broke", "kind": "internal", "http_status": 503, "retryable": True}
    if status == "canceled":
        said["cancellation"] = {"reason": reason or "engine_canceled"}
    return said | ({"labels": labels} if labels else {})


def start(
    run: str,
    agent: str = "agent",
    session: str = "",
    parent: str = "",
    parent_agent: str = "agent",
    predecessor: str = "",
    at: str = T0,
    labels: dict[str, str] | None = None,
    key: str = "started",
    link_key: str = "",
    stop_key: str = "stopped",
) -> Call:
    """A start of the kind that session and parent say. The link's key is free when none is given."""
    said = {"ParentRunID": parent, "PredecessorRunID": predecessor, "Labels": labels or None}
    body: dict[str, Any] = {
        "run": {
            "agent_id": agent,
            "run_id": run,
            "session_id": session,
            "parent_run_id": parent,
            "predecessor_run_id": predecessor,
            "started_at": at,
            "labels": labels or {},
        },
        "started": record(run, agent, session, key, "run_started", said, at),
    }
    if parent:
        link = {"ToolName": "tool", "ToolCallID": "call", "ChildRunID": run, "ChildAgentID": agent}
        body["parent_linked"] = record(
            parent, parent_agent, session, link_key or f"link {run}", "child_run_linked", link
        )
    if session:
        stopped = completion("canceled", "session_ended", labels)
        body["canceled"] = record(run, agent, session, stop_key, "run_completed", stopped, at)
    kind = ("start_child_run" if parent else "start_root_run") if session else ""
    return Call(kind or ("start_one_shot_child_run" if parent else "start_one_shot_run"), body=body)


def create(session: str, at: str | None = T0) -> Call:
    return Call("create_session", body={"session_id": session} | ({"created_at": at} if at else {}))


def end_session(session: str, at: str | None = T0) -> Call:
    return Call("end_session", session, body={"ended_at": at} if at else None)


def append(
    run: str, agent: str = "agent", session: str = "", key: str = "k", payload: Any = '{"a": 1}', at: str = T0
) -> Call:
    return Call("append_run_record", run, body=record(run, agent, session, key, "planner_note", payload, at))


def cancellation(run: str, agent: str = "agent", session: str = "", key: str = "cancel", reason: str = "user") -> Call:
    intent = record(run, agent, session, key, "runtime.cancellation_intent", {"reason": reason})
    return Call("record_run_cancellation", run, body={"reason": reason, "record": intent})


def suspension(
    run: str,
    agent: str = "agent",
    session: str = "",
    key: str = "suspend",
    id_: str = "s-1",
    data: bytes = b"\0checkpoint\xff",
    repair: bool = False,
) -> Call:
    said = {"SuspensionID": id_, "Version": "1", "PendingCount": 1, "RequiredTools": ["t"]}
    body = {
        "suspension": {"id": id_, "data": base64.b64encode(data).decode()},
        "record": record(run, agent, session, key, "run_suspended", said),
    }
    return Call("repair_run_suspension" if repair else "record_run_suspension", run, body=body)


def terminal(
    run: str,
    agent: str = "agent",
    session: str = "",
    key: str = "end",
    status: str = "completed",
    reason: str = "",
    labels: dict[str, str] | None = None,
    repair: bool = False,
) -> Call:
    said = record(run, agent, session, key, "run_completed", completion(status, reason, labels))
    body = {"status": status, "record": said}
    return Call("repair_run_terminal" if repair else "record_run_terminal", run, body=body)


def load(run: str) -> Call:
    return Call("load_run", run)


def batch(*calls: Call) -> Call:
    """The calls in one request; each must be one of the ten writing commands."""
    items = []
    for call in calls:
        item = {"operation": call.operation, "body": call.body}
        items.append(item | {"run_id": call.path} if call.operation in ON_A_RUN else item)
    return Call("run_commands", body={"commands": items})
