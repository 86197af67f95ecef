"""The runs of the demo: what a worker knows of a run, and the records that its life needs.

A record is built once and sent as often as it takes: an exact retry is equal in every field, its timestamp included.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from runhold_client import RunRecord, RunStart


def now() -> datetime:
    """The time in whole milliseconds, which is what records carry."""
    at = datetime.now(UTC)
    return at.replace(microsecond=at.microsecond // 1000 * 1000)


@dataclass(frozen=True)
class Life:
    """One run of one agent in a session."""

    run_id: str
    agent_id: str
    session_id: str
    parent_run_id: str = ""
    predecessor_run_id: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    started_at: datetime = field(default_factory=now)

    @property
    def start(self) -> RunStart:
        """The run as its start describes it."""
        return RunStart(
            self.agent_id,
            self.run_id,
            self.started_at,
            session_id=self.session_id,
            parent_run_id=self.parent_run_id,
            predecessor_run_id=self.predecessor_run_id,
            labels=self.labels,
        )

    @property
    def started(self) -> RunRecord:
        """The first record of its log."""
        payload = {
            "ParentRunID": self.parent_run_id,
            "PredecessorRunID": self.predecessor_run_id,
            "Labels": dict(self.labels) or None,
        }
        return self.record("run/started", "run_started", payload, at=self.started_at)

    @property
    def stopped(self) -> RunRecord:
        """What the service stores at the start when the session has ended, so that no work begins."""
        return self._end("run/stopped", "canceled", "session_ended", at=self.started_at)

    @property
    def completed(self) -> RunRecord:
        """Its end with success."""
        return self._end("run/completed", "success")

    def canceled(self, reason: str) -> RunRecord:
        """Its end after a cancellation with that reason."""
        return self._end("run/completed", "canceled", reason)

    def intent(self, reason: str) -> RunRecord:
        """The wish that it stop."""
        return self.record("run/cancel", "runtime.cancellation_intent", {"reason": reason})

    def suspended(self, suspension_id: str, waits_for: str) -> RunRecord:
        """Its end for now: it waits for somebody."""
        payload = {"SuspensionID": suspension_id, "Version": "1", "PendingCount": 1, "RequiredTools": [waits_for]}
        return self.record("run/suspended", "run_suspended", payload)

    def link(self, child: Life, tool: str, call_id: str) -> RunRecord:
        """The record on its own log that a tool call is carried out by a child run."""
        payload = {"ToolName": tool, "ToolCallID": call_id, "ChildRunID": child.run_id, "ChildAgentID": child.agent_id}
        return self.record(f"child/{call_id}", "child_run_linked", payload)

    def record(self, key: str, kind: str, payload: Any, *, turn: str = "", at: datetime | None = None) -> RunRecord:
        """Any record of its log; ``at`` is now unless told."""
        text = json.dumps(payload, ensure_ascii=False)
        return RunRecord(
            key, self.run_id, self.agent_id, kind, text, at or now(), session_id=self.session_id, turn_id=turn
        )

    def _end(self, key: str, status: str, reason: str = "", *, at: datetime | None = None) -> RunRecord:
        payload: dict[str, Any] = {"status": status, "phase": "completed" if status == "success" else status}
        if self.labels:
            payload["labels"] = dict(self.labels)
        if reason:
            payload["cancellation"] = {"reason": reason}
        return self.record(key, "run_completed", payload, at=at)
