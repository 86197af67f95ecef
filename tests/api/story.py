"""Bodies for the tests of the API, each with ids of its own."""

from __future__ import annotations

import json
from typing import Any

TIME = "2026-03-01T10:00:00.123Z"


def a_record(run_id: str, event_key: str = "k-1", session_id: str = "", **changes: Any) -> dict[str, Any]:
    """An ordinary record."""
    return {
        "event_key": event_key,
        "run_id": run_id,
        "agent_id": "svc.agent",
        "session_id": session_id,
        "turn_id": "",
        "type": "planner_note",
        "payload": '{"note":"hi"}',
        "timestamp": TIME,
        **changes,
    }


def a_run(run_id: str, session_id: str = "", **changes: Any) -> dict[str, Any]:
    """A run to start."""
    return {"agent_id": "svc.agent", "run_id": run_id, "session_id": session_id, "started_at": TIME, **changes}


def a_started_record(run: dict[str, Any]) -> dict[str, Any]:
    """The record of a run's start."""
    payload = {
        "ParentRunID": run.get("parent_run_id", ""),
        "PredecessorRunID": run.get("predecessor_run_id", ""),
        "Labels": run.get("labels"),
    }
    return a_record(run["run_id"], "started", run["session_id"], type="run_started", payload=json.dumps(payload))


def a_one_shot_start(run_id: str, **changes: Any) -> dict[str, Any]:
    """The body that starts a one-shot run."""
    run = a_run(run_id, **changes)
    return {"run": run, "started": a_started_record(run)}


def a_root_start(run_id: str, session_id: str, **changes: Any) -> dict[str, Any]:
    """The body that starts a run of a session."""
    run = a_run(run_id, session_id, **changes)
    payload: dict[str, Any] = {"status": "canceled", "phase": "canceled", "cancellation": {"reason": "session_ended"}}
    if "labels" in run:
        payload["labels"] = run["labels"]
    canceled = a_record(run_id, "stopped", session_id, type="run_completed", payload=json.dumps(payload))
    return {"run": run, "started": a_started_record(run), "canceled": canceled}


def a_completion(run_id: str, session_id: str = "") -> dict[str, Any]:
    """The body that completes a run."""
    payload = json.dumps({"status": "success", "phase": "completed"})
    record = a_record(run_id, "completed", session_id, type="run_completed", payload=payload)
    return {"status": "completed", "record": record}
