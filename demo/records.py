"""The records of the demo, as a worker would build them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from runhold_client import RunRecord, RunStart


def now() -> datetime:
    """The time of day in whole milliseconds, as records carry it."""
    moment = datetime.now(UTC)
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def a_record(run: RunStart, event_key: str, kind: str, payload: Any, *, turn_id: str = "") -> RunRecord:
    """A record of ``run``, stamped now; ``payload`` is any JSON value."""
    return RunRecord(
        event_key=event_key,
        run_id=run.run_id,
        agent_id=run.agent_id,
        session_id=run.session_id,
        turn_id=turn_id,
        type=kind,
        payload=json.dumps(payload, ensure_ascii=False),
        timestamp=now(),
    )


def started(run: RunStart) -> RunRecord:
    """The record that a run started."""
    payload = {
        "ParentRunID": run.parent_run_id,
        "PredecessorRunID": run.predecessor_run_id,
        "Labels": dict(run.labels) or None,
    }
    return _at_start(run, a_record(run, "run_started", "run_started", payload))


def stopped(run: RunStart) -> RunRecord:
    """The record that is stored in place of work when the session has ended."""
    return _at_start(run, a_record(run, "run_completed", "run_completed", _completed(run, "canceled", "session_ended")))


def linked(parent: RunStart, child: RunStart, tool: str, call_id: str) -> RunRecord:
    """The record on the parent's log that a tool call became a child run."""
    payload = {
        "ToolName": tool,
        "ToolCallID": call_id,
        "ChildRunID": child.run_id,
        "ChildAgentID": child.agent_id,
    }
    return a_record(parent, f"linked/{call_id}", "child_run_linked", payload)


def suspended(run: RunStart, suspension_id: str) -> RunRecord:
    """The record that a run was suspended."""
    payload = {"SuspensionID": suspension_id, "Version": "1", "PendingCount": 1, "RequiredTools": ["confirm_refund"]}
    return a_record(run, f"suspended/{suspension_id}", "run_suspended", payload)


def cancellation(run: RunStart, reason: str) -> RunRecord:
    """The record that somebody wants a run to stop."""
    return a_record(run, "cancellation", "runtime.cancellation_intent", {"reason": reason})


def completed(run: RunStart, status: str = "success", reason: str = "") -> RunRecord:
    """The record that a run ended, in success or canceled for ``reason``."""
    return a_record(run, "run_completed", "run_completed", _completed(run, status, reason))


def messages(run: RunStart, event_key: str, *said: Mapping[str, Any], seeded: bool = False) -> RunRecord:
    """A record of transcript messages: those from before the run, or the run's own."""
    kind = "transcript_messages_seeded" if seeded else "transcript_messages_appended"
    return a_record(run, event_key, kind, list(said), turn_id="turn-1")


def text(role: str, words: str) -> dict[str, Any]:
    """A message of one text."""
    return {"role": role, "parts": [{"kind": "text", "text": words}]}


def _completed(run: RunStart, status: str, reason: str) -> dict[str, Any]:
    found: dict[str, Any] = {"status": status, "phase": "completed" if status == "success" else status}
    if reason:
        found["cancellation"] = {"reason": reason}
    if run.labels:
        found["labels"] = dict(run.labels)
    return found


def _at_start(run: RunStart, record: RunRecord) -> RunRecord:
    return RunRecord(
        event_key=record.event_key,
        run_id=record.run_id,
        agent_id=record.agent_id,
        session_id=record.session_id,
        type=record.type,
        payload=record.payload,
        timestamp=run.started_at,
    )
