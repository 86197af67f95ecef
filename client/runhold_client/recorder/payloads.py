"""The payloads of a run's lifecycle records, and when two of them say the same.

Source: the storage contract, *Typed payloads*; docs/contract.md restates it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from runhold_client.types import RunStart

RUN_STARTED = "run_started"
CHILD_RUN_LINKED = "child_run_linked"
RUN_SUSPENDED = "run_suspended"
RUN_COMPLETED = "run_completed"
CANCELLATION_INTENT = "runtime.cancellation_intent"

SESSION_ENDED = "session_ended"
"""The reason of a run that was stopped at its start because its session had ended."""
ENGINE_CANCELED = "engine_canceled"
"""The reason of a run that ended canceled without a cancellation having been recorded."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a run failed."""

    message: str
    kind: str
    debug_message: str = ""
    provider: str = ""
    operation: str = ""
    code: str = ""
    http_status: int = 0
    retryable: bool = False


def run_started(start: RunStart) -> str:
    """What ``run_started`` says of a start."""
    return _write(
        {
            "ParentRunID": start.parent_run_id,
            "PredecessorRunID": start.predecessor_run_id,
            "Labels": dict(start.labels) or None,
        }
    )


def child_run_linked(tool_name: str, tool_call_id: str, child: RunStart) -> str:
    """What ``child_run_linked`` says of a child."""
    return _write(
        {
            "ToolName": tool_name,
            "ToolCallID": tool_call_id,
            "ChildRunID": child.run_id,
            "ChildAgentID": child.agent_id,
        }
    )


def run_suspended(suspension_id: str, version: str, pending_count: int, required_tools: Sequence[str]) -> str:
    """What ``run_suspended`` says."""
    return _write(
        {
            "SuspensionID": suspension_id,
            "Version": version,
            "PendingCount": pending_count,
            "RequiredTools": list(required_tools) or None,
        }
    )


def run_succeeded(labels: Mapping[str, str]) -> str:
    """What ``run_completed`` says of a success."""
    return _completed("success", "completed", labels)


def run_failed(labels: Mapping[str, str], failure: Failure) -> str:
    """What ``run_completed`` says of a failure."""
    return _completed("failed", "failed", labels, failure=asdict(failure))


def run_canceled(labels: Mapping[str, str], reason: str) -> str:
    """What ``run_completed`` says of a cancellation."""
    return _completed("canceled", "canceled", labels, cancellation={"reason": reason})


def cancellation_intent(reason: str) -> str:
    """What ``runtime.cancellation_intent`` says."""
    return _write({"reason": reason})


def says_the_same(stored: str, wanted: str) -> bool:
    """Whether two payloads mean the same: order, spelling and members at their zero value do not matter."""
    return bool(_meaning(json.loads(stored)) == _meaning(json.loads(wanted)))


def predecessor_run_id(run_started_payload: str) -> str:
    """The run that a started one continues, or ``""``."""
    return str(json.loads(run_started_payload).get("PredecessorRunID") or "")


def cancellation_reason(run_completed_payload: str) -> str:
    """The reason of a canceled end, or ``""``."""
    return str((json.loads(run_completed_payload).get("cancellation") or {}).get("reason") or "")


def _completed(status: str, phase: str, labels: Mapping[str, str], **more: Any) -> str:
    return _write({"status": status, "phase": phase, **more, **({"labels": dict(labels)} if labels else {})})


def _write(payload: dict[str, Any]) -> str:
    # In escapes, so that text of any kind has a payload; what the rules refuse is for the store to say.
    return json.dumps(payload, separators=(",", ":"))


def _meaning(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: meaning for name, one in value.items() if (meaning := _meaning(one))}
    return value
