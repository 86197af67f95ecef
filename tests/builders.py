"""Valid values of the domain; a test overrides only what it is about."""

from __future__ import annotations

import json
from typing import Any

from msgspec.structs import replace

from runhold.commands.model import (
    AppendRunRecord,
    CreateSession,
    EndSession,
    RecordRunCancellation,
    RecordRunSuspension,
    RecordRunTerminal,
    StartChildRun,
    StartOneShotChildRun,
    StartOneShotRun,
    StartRootRun,
)
from runhold.domain.values import RunRecord, RunStart, RunStatus, RunSuspension

AT = 1_772_359_200_123
"""2026-03-01T10:00:00.123Z"""


def a_record(**changes: Any) -> RunRecord:
    """An ordinary record of run ``r`` in session ``s``."""
    record = RunRecord(
        event_key="k",
        run_id="r",
        agent_id="a",
        session_id="s",
        turn_id="",
        type="planner_note",
        payload='{"note":"hi"}',
        timestamp=AT,
    )
    return replace(record, **changes)


def a_run(**changes: Any) -> RunStart:
    """Run ``r`` of session ``s``."""
    return replace(RunStart("a", "r", "s", "", "", AT, {}), **changes)


def a_started(run: RunStart, **changes: Any) -> RunRecord:
    """The ``run_started`` record of a run."""
    payload = {
        "ParentRunID": run.parent_run_id,
        "PredecessorRunID": run.predecessor_run_id,
        "Labels": run.labels or None,
    }
    return _of(run, "started", "run_started", payload, **changes)


def a_canceled(run: RunStart, **changes: Any) -> RunRecord:
    """The record of a run that was stopped at its start."""
    payload = a_completed_payload("canceled", reason="session_ended", labels=run.labels)
    return _of(run, "stopped", "run_completed", payload, **changes)


def a_link(run: RunStart, **changes: Any) -> RunRecord:
    """The ``child_run_linked`` record on the parent's log, by the parent's agent ``a``."""
    payload = {"ToolName": "t", "ToolCallID": "c", "ChildRunID": run.run_id, "ChildAgentID": run.agent_id}
    record = RunRecord(
        f"link/{run.run_id}", run.parent_run_id, "a", run.session_id, "", "child_run_linked", json.dumps(payload), AT
    )
    return replace(record, **changes)


def a_completed_payload(status: str, *, reason: str = "", labels: dict[str, str] | None = None) -> dict[str, Any]:
    """What a ``run_completed`` record says."""
    phase = "completed" if status == "success" else status
    payload: dict[str, Any] = {"status": status, "phase": phase}
    if status == "failed":
        payload["failure"] = {"message": "it broke", "kind": "internal"}
    if status == "canceled":
        payload["cancellation"] = {"reason": reason or "engine_canceled"}
    if labels:
        payload["labels"] = labels
    return payload


def a_root_start(run: RunStart | None = None) -> StartRootRun:
    """The start of a root run."""
    run = run or a_run()
    return StartRootRun(run, a_started(run), a_canceled(run))


def a_child_start(run: RunStart | None = None) -> StartChildRun:
    """The start of a child of run ``r``."""
    run = run or a_run(run_id="r/child", parent_run_id="r")
    return StartChildRun(run, a_link(run), a_started(run), a_canceled(run))


def a_one_shot_start(run: RunStart | None = None) -> StartOneShotRun:
    """The start of a one-shot run ``o``."""
    run = run or a_run(run_id="o", session_id="")
    return StartOneShotRun(run, a_started(run))


def a_one_shot_child_start(run: RunStart | None = None) -> StartOneShotChildRun:
    """The start of a child of the one-shot run ``o``."""
    run = run or a_run(run_id="o/child", session_id="", parent_run_id="o")
    return StartOneShotChildRun(run, a_link(run), a_started(run))


def an_append(**changes: Any) -> AppendRunRecord:
    """One more record."""
    record = a_record(**changes)
    return AppendRunRecord(record.run_id, record)


def a_cancellation(reason: str = "enough", **changes: Any) -> RecordRunCancellation:
    """The wish that run ``r`` should stop."""
    kind, payload = "runtime.cancellation_intent", json.dumps({"reason": reason})
    record = replace(a_record(event_key="cancel", type=kind, payload=payload), **changes)
    return RecordRunCancellation(record.run_id, reason, record)


def a_suspension(data: bytes = b"\x00\xff", **changes: Any) -> RecordRunSuspension:
    """The suspension of run ``r``."""
    payload = json.dumps({"SuspensionID": "p", "Version": "1", "PendingCount": 1, "RequiredTools": None})
    record = replace(a_record(event_key="suspend", type="run_suspended", payload=payload), **changes)
    return RecordRunSuspension(record.run_id, RunSuspension("p", data), record)


def a_terminal(status: str = "success", *, reason: str = "", **changes: Any) -> RecordRunTerminal:
    """The end of run ``r``."""
    payload = json.dumps(a_completed_payload(status, reason=reason))
    record = replace(a_record(event_key="end", type="run_completed", payload=payload), **changes)
    return RecordRunTerminal(record.run_id, RunStatus.COMPLETED if status == "success" else RunStatus(status), record)


def an_ending(run: RunStart, status: str) -> RecordRunTerminal:
    """The end of any run."""
    record = _of(run, "end", "run_completed", a_completed_payload(status, labels=run.labels))
    return RecordRunTerminal(run.run_id, RunStatus.COMPLETED if status == "success" else RunStatus(status), record)


def a_session(session_id: str = "s") -> CreateSession:
    """Session ``s``."""
    return CreateSession(session_id, AT * 1000)


def an_end(session_id: str = "s") -> EndSession:
    """The end of session ``s``."""
    return EndSession(session_id, AT * 1000)


def _of(run: RunStart, event_key: str, kind: str, payload: dict[str, Any], **changes: Any) -> RunRecord:
    record = RunRecord(
        event_key, run.run_id, run.agent_id, run.session_id, "", kind, json.dumps(payload), run.started_at
    )
    return replace(record, **changes)
