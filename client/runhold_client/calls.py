"""What each operation asks and how its answer is read; no sending, so that both stores share it.

A ``Call`` is one HTTP request, built by the generated operation of the same name, whose answer is one value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from runhold_client import answers, wire
from runhold_client._generated.api.closing import end_session as end_session_operation
from runhold_client._generated.api.closing import purge_one_shot_run as purge_one_shot_run_operation
from runhold_client._generated.api.closing import purge_session as purge_session_operation
from runhold_client._generated.api.records import list_run_records as list_run_records_operation
from runhold_client._generated.api.records import list_session_run_records as list_session_run_records_operation
from runhold_client._generated.api.runs import list_runs as list_runs_operation
from runhold_client._generated.api.runs import load_run as load_run_operation
from runhold_client._generated.api.runs import load_run_suspension as load_run_suspension_operation
from runhold_client._generated.api.sessions import create_session as create_session_operation
from runhold_client._generated.api.sessions import list_runs_by_session as list_runs_by_session_operation
from runhold_client._generated.api.sessions import list_sessions as list_sessions_operation
from runhold_client._generated.api.sessions import load_session as load_session_operation
from runhold_client._generated.api.sessions import load_session_status as load_session_status_operation
from runhold_client._generated.types import UNSET, Unset
from runhold_client.errors import InvalidCommand
from runhold_client.path_ids import path_segment
from runhold_client.types import (
    Page,
    RunMeta,
    RunPage,
    RunStatus,
    RunSuspension,
    Session,
    SessionPage,
    SessionStatus,
)

Answer = TypeVar("Answer")

Named = TypeVar("Named", bound=str)

Order: TypeAlias = Literal["asc", "desc"]
"""Which end a list is read from."""

View: TypeAlias = Literal["full", "summary"]
"""Whether records come with their payloads, or with the payloads' sizes only."""


@dataclass(frozen=True, slots=True)
class Call(Generic[Answer]):
    """One request and how to read its answer."""

    request: Mapping[str, Any]
    """What ``httpx.Client.request`` takes."""
    decode: Callable[[Any], Answer]

    def read(self, content: bytes) -> Answer:
        """Read the body of a success. Raises: UnexpectedAnswer."""
        return self.decode(answers.decode_json(content) if content else None)


@dataclass(frozen=True, slots=True)
class ListOptions:
    """What every list of records takes beside its cursor and limit."""

    order: Order = "asc"
    types: Sequence[str] = ()
    turn_ids: Sequence[str] = ()
    view: View = "full"
    wait_ms: int = 0


# --------------------------------------------------------------------------------------------------------------- worker


def load_run(run_id: str) -> Call[RunMeta]:
    """Read a run's state."""
    return Call(load_run_operation.request(path_segment(run_id)), answers.decode_run_meta)


def load_run_suspension(run_id: str) -> Call[RunSuspension]:
    """Read a suspended run's checkpoint."""
    return Call(load_run_suspension_operation.request(path_segment(run_id)), answers.decode_run_suspension)


def load_session_status(session_id: str) -> Call[SessionStatus]:
    """Read whether a session is active."""
    return Call(load_session_status_operation.request(path_segment(session_id)), answers.decode_session_status)


def list_run_records(run_id: str, cursor: str, limit: int, options: ListOptions) -> Call[Page]:
    """Read a run's records by position."""
    request = list_run_records_operation.request(
        path_segment(run_id),
        cursor=_text_or_unset(cursor),
        limit=_number_or_unset(limit),
        order=_unless(options.order, "asc"),
        type_=_texts_or_unset(options.types),
        turn_id=_texts_or_unset(options.turn_ids),
        view=_unless(options.view, "full"),
        wait_ms=_number_or_unset(options.wait_ms),
    )
    return Call(request, answers.decode_page)


def list_session_run_records(session_id: str, cursor: str, limit: int, options: ListOptions) -> Call[Page]:
    """Read a session's records in commit order."""
    request = list_session_run_records_operation.request(
        path_segment(session_id),
        cursor=_text_or_unset(cursor),
        limit=_number_or_unset(limit),
        order=_unless(options.order, "asc"),
        type_=_texts_or_unset(options.types),
        turn_id=_texts_or_unset(options.turn_ids),
        view=_unless(options.view, "full"),
        wait_ms=_number_or_unset(options.wait_ms),
    )
    return Call(request, answers.decode_page)


# ----------------------------------------------------------------------------------------------------------------- host


def create_session(session_id: str, created_at: datetime | None) -> Call[Session]:
    """Create a session, or read the active one of that id."""
    body: wire.Json = {"session_id": session_id}
    if created_at is not None and not wire.is_missing(created_at):
        body["created_at"] = wire.encode_session_time(created_at, "created_at")
    return Call(create_session_operation.request(content=wire.encode_json(body)), answers.decode_session)


def load_session(session_id: str) -> Call[Session]:
    """Read a session."""
    return Call(load_session_operation.request(path_segment(session_id)), answers.decode_session)


def end_session(session_id: str, ended_at: datetime | None) -> Call[Session]:
    """End a session."""
    body: wire.Json = {}
    if ended_at is not None and not wire.is_missing(ended_at):
        body["ended_at"] = wire.encode_session_time(ended_at, "ended_at")
    request = end_session_operation.request(path_segment(session_id), content=wire.encode_json(body))
    return Call(request, answers.decode_session)


def purge_session(session_id: str) -> Call[None]:
    """Delete a session for ever."""
    return Call(purge_session_operation.request(path_segment(session_id)), _nothing)


def purge_one_shot_run(run_id: str) -> Call[None]:
    """Delete a one-shot run and its tree for ever."""
    return Call(purge_one_shot_run_operation.request(path_segment(run_id)), _nothing)


def list_sessions(statuses: Sequence[SessionStatus], cursor: str, limit: int, order: Order) -> Call[SessionPage]:
    """Read sessions by (created_at, id)."""
    request = list_sessions_operation.request(
        status=_values_or_unset(statuses),
        cursor=_text_or_unset(cursor),
        limit=_number_or_unset(limit),
        order=_unless(order, "asc"),
    )
    return Call(request, answers.decode_session_page)


def list_runs_by_session(
    session_id: str, statuses: Sequence[RunStatus], cursor: str, limit: int, order: Order
) -> Call[RunPage]:
    """Read a session's runs in the order in which their starts committed."""
    request = list_runs_by_session_operation.request(
        path_segment(session_id),
        status=_values_or_unset(statuses),
        cursor=_text_or_unset(cursor),
        limit=_number_or_unset(limit),
        order=_unless(order, "asc"),
    )
    return Call(request, answers.decode_run_page)


def list_runs(
    statuses: Sequence[RunStatus],
    cursor: str,
    limit: int,
    *,
    agent_id: str,
    session_id: str,
    parent_run_id: str,
    labels: Mapping[str, str] | None,
    started_after: datetime | None,
    started_before: datetime | None,
    order: Order,
) -> Call[RunPage]:
    """Read runs by (started_at, id)."""
    request = list_runs_operation.request(
        status=_values_or_unset(statuses),
        agent_id=_text_or_unset(agent_id),
        session_id=_text_or_unset(session_id),
        parent_run_id=_text_or_unset(parent_run_id),
        label=_texts_or_unset([_label(name, value) for name, value in (labels or {}).items()]),
        started_after=_time_or_unset(started_after, "started_after"),
        started_before=_time_or_unset(started_before, "started_before"),
        cursor=_text_or_unset(cursor),
        limit=_number_or_unset(limit),
        order=_unless(order, "asc"),
    )
    return Call(request, answers.decode_run_page)


# ----------------------------------------------------------------------------------------------------- query parameters


def _nothing(_: Any) -> None:
    return None


def _unless(value: Named, default: Named) -> Named | Unset:
    return UNSET if value == default else value


def _text_or_unset(text: str) -> str | Unset:
    return _sendable(text) if text else UNSET


def _number_or_unset(number: int) -> int | Unset:
    return number or UNSET


def _texts_or_unset(texts: Iterable[str]) -> list[str] | Unset:
    found = [_sendable(text) for text in texts]
    return found or UNSET


def _values_or_unset(statuses: Iterable[SessionStatus] | Iterable[RunStatus]) -> list[Any] | Unset:
    found = [status.value for status in statuses]
    return found or UNSET


def _time_or_unset(time: datetime | None, name: str) -> datetime | Unset:
    return UNSET if time is None or wire.is_missing(time) else wire.whole_milliseconds(time, name)


def _label(name: str, value: str) -> str:
    if "=" in name:
        raise InvalidCommand("a label name with '=' cannot be asked for: the filter splits at the first one")
    return f"{name}={value}"


def _sendable(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidCommand("a filter or cursor holds a lone surrogate") from None
    return text
