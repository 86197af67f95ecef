"""The examples of the OpenAPI document: one story that works from top to bottom on an empty database.

A traveller's session: the planner's run calls a search agent as a child and is suspended until the traveller answers; a
one-shot run beside it is canceled; everything is ended and purged.
"""

from __future__ import annotations

import base64
import json
from typing import Any

SESSION = "trip-to-lisbon"
ROOT = "plan-1"
CHILD = "plan-1/agent/find_flights/call-1"
ONE_SHOT = "nightly-report"
ONE_SHOT_CHILD = "nightly-report/agent/collect_figures/call-1"

_PLANNER, _FINDER, _REPORTER, _COLLECTOR = "travel.planner", "travel.flights", "report.writer", "report.figures"
_OWNERS = {
    ROOT: (_PLANNER, SESSION),
    CHILD: (_FINDER, SESSION),
    ONE_SHOT: (_REPORTER, ""),
    ONE_SHOT_CHILD: (_COLLECTOR, ""),
}

Json = dict[str, Any]


def _text(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _record(run_id: str, event_key: str, kind: str, payload: Any, second: int, turn_id: str = "") -> Json:
    agent_id, session_id = _OWNERS[run_id]
    return {
        "event_key": event_key,
        "run_id": run_id,
        "agent_id": agent_id,
        "session_id": session_id,
        "turn_id": turn_id,
        "type": kind,
        "payload": _text(payload),
        "timestamp": f"2026-03-01T10:00:{second:02d}.000Z",
    }


def _run(run_id: str, second: int, parent: str = "", labels: dict[str, str] | None = None) -> Json:
    agent_id, session_id = _OWNERS[run_id]
    return {
        "agent_id": agent_id,
        "run_id": run_id,
        "session_id": session_id,
        "parent_run_id": parent,
        "predecessor_run_id": "",
        "started_at": f"2026-03-01T10:00:{second:02d}.000Z",
        "labels": labels or {},
    }


def _started(run_id: str, second: int, parent: str = "", labels: dict[str, str] | None = None) -> Json:
    payload = {"ParentRunID": parent, "PredecessorRunID": "", "Labels": labels}
    return _record(run_id, "run/started", "run_started", payload, second)


def _stopped(run_id: str, second: int, labels: dict[str, str] | None = None) -> Json:
    payload: Json = {"status": "canceled", "phase": "canceled", "cancellation": {"reason": "session_ended"}}
    return _record(run_id, "run/stopped", "run_completed", payload | ({"labels": labels} if labels else {}), second)


def _link(parent: str, child: str, tool: str, second: int) -> Json:
    payload = {
        "ToolName": tool,
        "ToolCallID": "call-1",
        "ChildRunID": child,
        "ChildAgentID": _OWNERS[child][0],
    }
    return _record(parent, f"child/{tool}/call-1", "child_run_linked", payload, second)


_LABELS = {"customer": "c-1001", "tier": "gold"}
_CHECKPOINT = {"id": "checkpoint-1", "data": base64.b64encode(b"\x00waiting for the traveller").decode()}
_SUSPENSION = {
    "suspension": _CHECKPOINT,
    "record": _record(
        ROOT,
        "run/suspended/1",
        "run_suspended",
        {
            "SuspensionID": "checkpoint-1",
            "Version": "1",
            "PendingCount": 1,
            "RequiredTools": ["ask_traveller"],
        },
        6,
    ),
}

BODIES: dict[str, Json] = {
    "create_session": {"session_id": SESSION, "created_at": "2026-03-01T09:59:00.000000Z"},
    "start_root_run": {
        "run": _run(ROOT, 0, labels=_LABELS),
        "started": _started(ROOT, 0, labels=_LABELS),
        "canceled": _stopped(ROOT, 0, _LABELS),
    },
    "start_child_run": {
        "run": _run(CHILD, 2, ROOT),
        "parent_linked": _link(ROOT, CHILD, "find_flights", 2),
        "started": _started(CHILD, 2, ROOT),
        "canceled": _stopped(CHILD, 2),
    },
    "start_one_shot_run": {"run": _run(ONE_SHOT, 3), "started": _started(ONE_SHOT, 3)},
    "start_one_shot_child_run": {
        "run": _run(ONE_SHOT_CHILD, 4, ONE_SHOT),
        "parent_linked": _link(ONE_SHOT, ONE_SHOT_CHILD, "collect_figures", 4),
        "started": _started(ONE_SHOT_CHILD, 4, ONE_SHOT),
    },
    "record_run_cancellation": {
        "reason": "no longer needed",
        "record": _record(
            ONE_SHOT, "run/cancel", "runtime.cancellation_intent", {"reason": "no longer needed", "by": "operator"}, 5
        ),
    },
    "record_run_suspension": _SUSPENSION,
    "repair_run_suspension": _SUSPENSION,
    "record_run_terminal": {
        "status": "completed",
        "record": _record(
            ONE_SHOT_CHILD, "run/completed", "run_completed", {"status": "success", "phase": "completed"}, 7
        ),
    },
    "repair_run_terminal": {
        "status": "canceled",
        "record": _record(
            ONE_SHOT,
            "run/completed",
            "run_completed",
            {"status": "canceled", "phase": "canceled", "cancellation": {"reason": "no longer needed"}},
            8,
        ),
    },
    "append_run_record": _record(
        CHILD, "turn-1/note", "planner_note", {"note": "Looking for flights to Lisbon."}, 9, "turn-1"
    ),
    "run_commands": {
        "commands": [
            {
                "operation": "append_run_record",
                "run_id": CHILD,
                "body": _record(
                    CHILD,
                    "turn-1/result",
                    "tool_result_received",
                    {"tool": "search", "flights": [{"from": "BER", "to": "LIS", "price": 129.90}]},
                    10,
                    "turn-1",
                ),
            },
            {
                "operation": "record_run_terminal",
                "run_id": CHILD,
                "body": {
                    "status": "completed",
                    "record": _record(
                        CHILD, "run/completed", "run_completed", {"status": "success", "phase": "completed"}, 11
                    ),
                },
            },
        ]
    },
    "end_session": {"ended_at": "2026-03-01T10:05:00.000000Z"},
}
"""The body of each operation that takes one."""

PATH_IDS: dict[str, str] = {
    "load_session_status": SESSION,
    "list_runs_by_session": SESSION,
    "record_run_cancellation": ONE_SHOT,
    "record_run_suspension": ROOT,
    "load_run_suspension": ROOT,
    "repair_run_suspension": ROOT,
    "record_run_terminal": ONE_SHOT_CHILD,
    "repair_run_terminal": ONE_SHOT,
    "append_run_record": CHILD,
    "list_run_records": CHILD,
    "list_session_run_records": SESSION,
    "end_session": SESSION,
    "load_session": SESSION,
    "purge_session": SESSION,
    "load_run": ONE_SHOT,
    "purge_one_shot_run": ONE_SHOT,
}
"""The id in the path of each operation that has one."""

_APPENDED: Json = {"id": "2", "inserted": True, "session_status": "active"}
_STARTED: Json = {"id": "1", "inserted": True, "session_status": "active"}
_ALONE: Json = {"inserted": True, "session_status": ""}
_SESSION: Json = {
    "session_id": SESSION,
    "status": "active",
    "created_at": "2026-03-01T09:59:00.000000Z",
    "ended_at": None,
}
_ENDED: Json = _SESSION | {"status": "ended", "ended_at": "2026-03-01T10:05:00.000000Z"}
_ONE_SHOT: Json = {
    "agent_id": _REPORTER,
    "run_id": ONE_SHOT,
    "session_id": "",
    "parent_run_id": "",
    "status": "canceled",
    "start_outcome": "proceed",
    "started_at": "2026-03-01T10:00:03.000Z",
    "updated_at": "2026-03-01T10:00:08.125Z",
    "labels": {},
    "cancellation_reason": "no longer needed",
    "record_count": 4,
    "head_digest": "5b1f0c2c6e0a4e3e8d43a5f0d1f0b7a96f3e3d8c1a2b4c5d6e7f8091a2b3c4d5",
}
_STORED: Json = {
    "id": "1",
    **_started(CHILD, 2, ROOT),
    "stored_at": "2026-03-01T10:00:02.034Z",
}
_PAGE: Json = {"records": [_STORED], "next_cursor": "1", "end_cursor": "1"}

ANSWERS: dict[str, Json] = {
    "create_session": _SESSION,
    "list_sessions": {"sessions": [_SESSION], "next_cursor": ""},
    "load_session_status": {"status": "active"},
    "list_runs_by_session": {"runs": [], "next_cursor": ""},
    "start_root_run": {"outcome": "proceed", "started": _STARTED, "canceled": None},
    "start_child_run": {
        "outcome": "proceed",
        "parent_record": _APPENDED,
        "started": _STARTED,
        "canceled": None,
    },
    "start_one_shot_run": {"record": {"id": "1", **_ALONE}},
    "start_one_shot_child_run": {"parent_record": {"id": "2", **_ALONE}, "started": {"id": "1", **_ALONE}},
    "record_run_cancellation": {"id": "3", **_ALONE},
    "record_run_suspension": {"id": "3", "inserted": True, "session_status": "active"},
    "load_run_suspension": _CHECKPOINT,
    "repair_run_suspension": {
        "outcome": "already_stored",
        "status": "suspended",
        "record": {"id": "3", "inserted": False, "session_status": "active"},
    },
    "record_run_terminal": {"id": "2", **_ALONE},
    "repair_run_terminal": {"outcome": "stored", "status": "canceled", "record": {"id": "4", **_ALONE}},
    "list_runs": {"runs": [_ONE_SHOT], "next_cursor": ""},
    "append_run_record": _APPENDED,
    "list_run_records": _PAGE,
    "list_session_run_records": {
        "records": [_STORED],
        "next_cursor": "",
        "end_cursor": "AYj0Vq1vL3mGq2b3d5kAAAAAAAAAAQ",
    },
    "run_commands": {
        "results": [
            {"status": 200, "body": {"id": "3", "inserted": True, "session_status": "active"}},
            {"status": 200, "body": {"id": "4", "inserted": True, "session_status": "active"}},
        ]
    },
    "end_session": _ENDED,
    "load_session": _ENDED,
    "load_run": _ONE_SHOT,
}
"""What each operation answers in the story."""

PROBLEM_MEMBERS: dict[str, Json] = {
    "event_conflict": {"run_id": CHILD, "event_key": "turn-1/note", "differs": ["payload"]},
    "invalid_command": {"errors": [{"pointer": "/timestamp", "detail": "must be present"}]},
    "payload_too_large": {"limit": 16_777_216},
}
"""What some problems tell beside the members that all have."""
