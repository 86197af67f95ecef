"""Valid values for tests through the stores; a test overrides only what it is about."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from runhold_client import RunRecord, RunStart

AT = datetime(2026, 3, 1, 10, 0, 0, 123_000, UTC)


def fresh(prefix: str = "x") -> str:
    """An id that no other test uses."""
    return f"{prefix}-{uuid.uuid4().hex[:12]}"


@dataclass(frozen=True)
class ARun:
    """A run and the records that its life needs."""

    session_id: str
    run_id: str = field(default_factory=lambda: fresh("run"))
    agent_id: str = "svc.agent"
    parent_run_id: str = ""
    predecessor_run_id: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    started_at: datetime = AT

    @property
    def start(self) -> RunStart:
        return RunStart(
            self.agent_id,
            self.run_id,
            self.started_at,
            self.session_id,
            self.parent_run_id,
            self.predecessor_run_id,
            self.labels,
        )

    @property
    def started(self) -> RunRecord:
        payload = {
            "ParentRunID": self.parent_run_id,
            "PredecessorRunID": self.predecessor_run_id,
            "Labels": dict(self.labels),
        }
        return self.record("started", "run_started", payload, self.started_at)

    @property
    def canceled(self) -> RunRecord:
        return self.record("stopped", "run_completed", self._end("canceled", "session_ended"), self.started_at)

    def note(self, key: str, text: str = "hi", **changes: Any) -> RunRecord:
        return self.record(key, "planner_note", {"note": text}, **changes)

    def linked(self, child: ARun) -> RunRecord:
        payload = {
            "ToolName": "search",
            "ToolCallID": "call-1",
            "ChildRunID": child.run_id,
            "ChildAgentID": child.agent_id,
        }
        return self.record(f"link {child.run_id}", "child_run_linked", payload)

    def intent(self, reason: str) -> RunRecord:
        return self.record("cancel", "runtime.cancellation_intent", {"reason": reason})

    def suspended(self, suspension_id: str) -> RunRecord:
        payload = {"SuspensionID": suspension_id, "Version": "1", "PendingCount": 1, "RequiredTools": ["search"]}
        return self.record("suspended", "run_suspended", payload)

    def completed(self) -> RunRecord:
        return self.record("terminal", "run_completed", self._end("success"))

    def record(self, key: str, type_: str, payload: object, at: datetime = AT, turn_id: str = "") -> RunRecord:
        return RunRecord(
            key, self.run_id, self.agent_id, type_, json.dumps(payload), at, session_id=self.session_id, turn_id=turn_id
        )

    def _end(self, status: str, reason: str = "") -> dict[str, Any]:
        phase = {"success": "completed"}.get(status, status)
        end: dict[str, Any] = {"status": status, "phase": phase, "labels": dict(self.labels)}
        return {**end, "cancellation": {"reason": reason}} if reason else end
