"""From the JSON of answers to the values of ``types``: pure functions, no HTTP; the way there is ``wire``.

Answers are read strictly: one that does not fit is an ``UnexpectedAnswer`` that names the field, never a guess. Names
that are not known are passed over, so that a newer service may say more.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, TypeVar

from runhold_client.errors import UnexpectedAnswer
from runhold_client.types import (
    AppendResult,
    ChildStartResult,
    OneShotChildStartResult,
    OneShotStartResult,
    Page,
    RepairOutcome,
    RepairResult,
    RootStartResult,
    RunMeta,
    RunPage,
    RunRecord,
    RunStatus,
    RunSuspension,
    Session,
    SessionPage,
    SessionStatus,
    StartOutcome,
    StoredRecord,
)

Choice = TypeVar("Choice", bound=StrEnum)
Item = TypeVar("Item")


def decode_json(content: bytes) -> Any:
    """Read an answer's body. Raises: UnexpectedAnswer when it is not JSON in UTF-8."""
    try:
        return json.loads(content.decode())
    except (ValueError, RecursionError) as error:
        raise UnexpectedAnswer(f"the answer is not JSON: {error}") from None


def decode_append_result(answer: Any) -> AppendResult:
    """Read what became of one record."""
    value = _object(answer, "the result")
    status = _text(value, "session_status")
    if status not in ("", "active", "ended"):
        raise _misfit("session_status", "active, ended or empty")
    return AppendResult(_text(value, "id"), _flag(value, "inserted"), status)


def decode_root_start(answer: Any) -> RootStartResult:
    """Read what a root start did."""
    value = _object(answer, "the result")
    return RootStartResult(
        outcome=_choice(StartOutcome, value, "outcome"),
        started=_result(value, "started"),
        canceled=_result_or_none(value, "canceled"),
    )


def decode_child_start(answer: Any) -> ChildStartResult:
    """Read what a child start did."""
    value = _object(answer, "the result")
    return ChildStartResult(
        outcome=_choice(StartOutcome, value, "outcome"),
        parent_record=_result(value, "parent_record"),
        started=_result(value, "started"),
        canceled=_result_or_none(value, "canceled"),
    )


def decode_one_shot_start(answer: Any) -> OneShotStartResult:
    """Read what a one-shot start did."""
    return OneShotStartResult(record=_result(_object(answer, "the result"), "record"))


def decode_one_shot_child_start(answer: Any) -> OneShotChildStartResult:
    """Read what a one-shot child start did."""
    value = _object(answer, "the result")
    return OneShotChildStartResult(parent_record=_result(value, "parent_record"), started=_result(value, "started"))


def decode_repair(answer: Any) -> RepairResult:
    """Read what a repair found or did."""
    value = _object(answer, "the result")
    return RepairResult(
        outcome=_choice(RepairOutcome, value, "outcome"),
        status=_choice(RunStatus, value, "status"),
        record=_result_or_none(value, "record"),
    )


def decode_session(answer: Any) -> Session:
    """Read a session."""
    value = _object(answer, "the session")
    if "ended_at" not in value:
        raise _misfit("ended_at", "present")
    return Session(
        session_id=_text(value, "session_id"),
        status=_choice(SessionStatus, value, "status"),
        created_at=_time(value, "created_at"),
        ended_at=None if value["ended_at"] is None else _time(value, "ended_at"),
    )


def decode_session_status(answer: Any) -> SessionStatus:
    """Read whether a session is active."""
    return _choice(SessionStatus, _object(answer, "the answer"), "status")


def decode_run_meta(answer: Any) -> RunMeta:
    """Read a run's state."""
    value = _object(answer, "the run")
    return RunMeta(
        agent_id=_text(value, "agent_id"),
        run_id=_text(value, "run_id"),
        session_id=_text(value, "session_id"),
        parent_run_id=_text(value, "parent_run_id"),
        status=_choice(RunStatus, value, "status"),
        start_outcome=_choice(StartOutcome, value, "start_outcome"),
        started_at=_time(value, "started_at"),
        updated_at=_time(value, "updated_at"),
        labels=_labels(value, "labels"),
        cancellation_reason=_text(value, "cancellation_reason"),
        record_count=_count(value, "record_count"),
        head_digest=_text(value, "head_digest"),
    )


def decode_run_suspension(answer: Any) -> RunSuspension:
    """Read a checkpoint."""
    value = _object(answer, "the suspension")
    try:
        data = base64.b64decode(_text(value, "data"), validate=True)
    except (binascii.Error, ValueError):
        raise _misfit("data", "base64") from None
    return RunSuspension(id=_text(value, "id"), data=data)


def decode_stored_record(answer: Any) -> StoredRecord:
    """Read one record of a list, in full or in summary."""
    value = _object(answer, "a record")
    record = RunRecord(
        event_key=_text(value, "event_key"),
        run_id=_text(value, "run_id"),
        agent_id=_text(value, "agent_id"),
        type=_text(value, "type"),
        payload=_text(value, "payload"),
        timestamp=_time(value, "timestamp"),
        session_id=_text(value, "session_id"),
        turn_id=_text(value, "turn_id"),
    )
    size = None if value.get("payload_bytes") is None else _count(value, "payload_bytes")
    return StoredRecord(id=_text(value, "id"), record=record, stored_at=_time(value, "stored_at"), payload_bytes=size)


def decode_page(answer: Any) -> Page:
    """Read a page of records."""
    value = _object(answer, "the page")
    return Page(
        records=_items(value, "records", decode_stored_record),
        next_cursor=_text(value, "next_cursor"),
        end_cursor=_text(value, "end_cursor"),
    )


def decode_session_page(answer: Any) -> SessionPage:
    """Read a page of sessions."""
    value = _object(answer, "the page")
    return SessionPage(sessions=_items(value, "sessions", decode_session), next_cursor=_text(value, "next_cursor"))


def decode_run_page(answer: Any) -> RunPage:
    """Read a page of runs."""
    value = _object(answer, "the page")
    return RunPage(runs=_items(value, "runs", decode_run_meta), next_cursor=_text(value, "next_cursor"))


# ------------------------------------------------------------------------------------------------- parts of an answer


def _misfit(name: str, wanted: str) -> UnexpectedAnswer:
    # The value itself is left out: it may be a payload, a label or a reason.
    return UnexpectedAnswer(f"the answer does not fit the contract: {name} is not {wanted}")


def _object(value: Any, name: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise _misfit(name, "an object")
    return value


def _text(value: Mapping[str, Any], name: str) -> str:
    found = value.get(name)
    if not isinstance(found, str):
        raise _misfit(name, "text")
    return found


def _flag(value: Mapping[str, Any], name: str) -> bool:
    found = value.get(name)
    if not isinstance(found, bool):
        raise _misfit(name, "true or false")
    return found


def _count(value: Mapping[str, Any], name: str) -> int:
    found = value.get(name)
    if type(found) is not int or found < 0:
        raise _misfit(name, "a count")
    return found


def _choice(kind: type[Choice], value: Mapping[str, Any], name: str) -> Choice:
    try:
        return kind(_text(value, name))
    except ValueError:
        raise _misfit(name, f"one of {', '.join(kind)}") from None


def _time(value: Mapping[str, Any], name: str) -> datetime:
    text = _text(value, name)
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise _misfit(name, "a time") from None
    if found.tzinfo is UTC:
        return found
    if found.utcoffset() != timedelta(0):
        raise _misfit(name, "a time in UTC")
    return found.replace(tzinfo=UTC)


def _items(value: Mapping[str, Any], name: str, decode: Callable[[Any], Item]) -> tuple[Item, ...]:
    found = value.get(name)
    if not isinstance(found, list):
        raise _misfit(name, "a list")
    return tuple(decode(item) for item in found)


def _labels(value: Mapping[str, Any], name: str) -> dict[str, str]:
    found = _object(value.get(name), name)
    if not all(isinstance(text, str) for text in found.values()):
        raise _misfit(name, "an object of texts")
    return dict(found)


def _result(value: Mapping[str, Any], name: str) -> AppendResult:
    return decode_append_result(value.get(name))


def _result_or_none(value: Mapping[str, Any], name: str) -> AppendResult | None:
    if name not in value:
        raise _misfit(name, "present")
    return None if value[name] is None else _result(value, name)
