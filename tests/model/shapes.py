"""What is judged before any list of checks: a body's names and types, and every value that can be judged alone."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.model import values
from tests.model.values import Obj, invalid, is_text


@dataclass(frozen=True)
class Record:
    event_key: str
    run_id: str
    agent_id: str
    session_id: str
    turn_id: str
    type: str
    payload: str
    timestamp: int
    """Milliseconds since year 1; zero when missing."""

    def differs(self, other: Record) -> list[str]:
        return [name for name in RECORD if getattr(self, name) != getattr(other, name)]


@dataclass(frozen=True)
class Start:
    agent_id: str
    run_id: str
    session_id: str
    parent_run_id: str
    predecessor_run_id: str
    started_at: int
    labels: dict[str, str]


@dataclass(frozen=True)
class Suspension:
    id: str
    data: bytes

    def document(self) -> dict[str, Any]:
        return {"id": self.id, "data": base64.b64encode(self.data).decode()}


@dataclass(frozen=True)
class Body:
    """A command's body; each operation fills what it has."""

    session_id: str = ""
    created_at: int = 0
    ended_at: int = 0
    run: Start | None = None
    parent_linked: Record | None = None
    started: Record | None = None
    canceled: Record | None = None
    record: Record | None = None
    suspension: Suspension | None = None
    reason: str = ""
    status: str = ""


def _record(value: Any) -> Record:
    return Record(**_members(value, RECORD))


def _start(value: Any) -> Start:
    return Start(**_members(value, START))


def _suspension(value: Any) -> Suspension:
    return Suspension(**_members(value, {"id": values.identifier, "data": values.checkpoint}))


def _status(value: Any) -> str:
    if not is_text(value) or value not in ("completed", "failed", "canceled"):
        raise invalid("unknown status")
    return str(value)


RECORD: dict[str, Callable[[Any], Any]] = {
    "event_key": values.identifier,
    "run_id": values.identifier,
    "agent_id": values.identifier,
    "session_id": values.identifier,
    "turn_id": values.identifier,
    "type": values.identifier,
    "payload": values.payload,
    "timestamp": values.milliseconds,
}
START: dict[str, Callable[[Any], Any]] = {
    "agent_id": values.identifier,
    "run_id": values.identifier,
    "session_id": values.identifier,
    "parent_run_id": values.identifier,
    "predecessor_run_id": values.identifier,
    "started_at": values.milliseconds,
    "labels": values.labels,
}
BODY: dict[str, dict[str, Callable[[Any], Any]]] = {
    "create_session": {"session_id": values.identifier, "created_at": values.microseconds},
    "end_session": {"ended_at": values.microseconds},
    "start_root_run": {"run": _start, "started": _record, "canceled": _record},
    "start_child_run": {"run": _start, "parent_linked": _record, "started": _record, "canceled": _record},
    "start_one_shot_run": {"run": _start, "started": _record},
    "start_one_shot_child_run": {"run": _start, "parent_linked": _record, "started": _record},
    "append_run_record": RECORD,
    "record_run_cancellation": {"reason": values.reason, "record": _record},
    "record_run_suspension": {"suspension": _suspension, "record": _record},
    "record_run_terminal": {"status": _status, "record": _record},
    "repair_run_suspension": {"suspension": _suspension, "record": _record},
    "repair_run_terminal": {"status": _status, "record": _record},
}


def read_body(operation: str, body: Any) -> Body:
    """The body of one operation. Raises Refused for all that is wrong with it before state or presence matter."""
    members = _members(body, BODY[operation])
    return Body(record=Record(**members)) if operation == "append_run_record" else Body(**members)


def _members(value: Any, readers: dict[str, Callable[[Any], Any]]) -> dict[str, Any]:
    """Every known member, read; a missing one is read as null, which each reader judges by itself."""
    if not isinstance(value, Obj):
        raise invalid("not an object")
    members = value.unique()
    if unknown := members.keys() - readers.keys():
        raise invalid(f"unknown names {sorted(unknown)}")
    return {name: read(members.get(name)) for name, read in readers.items()}
