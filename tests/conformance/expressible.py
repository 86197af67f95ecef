"""Which steps of a scenario the typed arguments of a store can say, and what they are then.

The rule: the operation is a store's method; every field is there in its type, or is optional and missing; times are
such that a ``datetime`` holds all their digits; ``limit`` is a number other than 0, which a store reads as "the
default"; a path names the run that its record names where a method takes only the record. Everything else, such as a
wrong type, an unknown name, ``null``, a misspelled time or ``run_commands`` itself, exists on the wire alone.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from runhold_client import RunRecord, RunStart, RunStatus, RunSuspension, TerminalStatus

Step = Mapping[str, Any]

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)?", re.ASCII)

STARTS = {
    "start_root_run": ("run", "started", "canceled"),
    "start_child_run": ("run", "parent_linked", "started", "canceled"),
    "start_one_shot_run": ("run", "started"),
    "start_one_shot_child_run": ("run", "parent_linked", "started"),
}
"""The starts, each with its arguments in the order of the method."""


class NotExpressible(Exception):
    """The typed arguments of a store cannot say this."""


def expressible(step: Step) -> bool:
    """Whether a store's method can be called with exactly what the step sends."""
    try:
        typed_arguments(step)
    except NotExpressible:
        return False
    return True


def typed_arguments(step: Step) -> tuple[Any, ...]:
    """The arguments of the store's method named as the step's operation. Raises: NotExpressible."""
    operation, args = step["op"], step["args"]
    if operation in STARTS:
        names = STARTS[operation]
        fields = _fields(args, required=names)
        return (_run_start(fields["run"]), *(_record(fields[name]) for name in names[1:]))
    if operation not in READERS:
        raise NotExpressible(f"{operation} is not a method of a store")
    return READERS[operation](args)


def _append(args: Any) -> tuple[Any, ...]:
    fields = _fields(args, required=("run_id", "record"))
    record = _record(fields["record"])
    if record.run_id != fields["run_id"]:
        raise NotExpressible("the method takes the record alone")
    return (record,)


def _cancellation(args: Any) -> tuple[Any, ...]:
    fields = _fields(args, required=("run_id", "reason", "record"))
    return _text(fields["run_id"]), _text(fields["reason"]), _record(fields["record"])


def _suspension(args: Any) -> tuple[Any, ...]:
    fields = _fields(args, required=("run_id", "suspension", "record"))
    suspension = _fields(fields["suspension"], required=("id", "data"))
    checkpoint = RunSuspension(_text(suspension["id"]), _bytes(suspension["data"]))
    return _text(fields["run_id"]), checkpoint, _record(fields["record"])


def _terminal(args: Any) -> tuple[Any, ...]:
    fields = _fields(args, required=("run_id", "status", "record"))
    return _text(fields["run_id"]), _status(TerminalStatus, fields["status"]), _record(fields["record"])


def _run(args: Any) -> tuple[Any, ...]:
    return (_text(_fields(args, required=("run_id",))["run_id"]),)


def _session(args: Any) -> tuple[Any, ...]:
    return (_text(_fields(args, required=("session_id",))["session_id"]),)


def _created(args: Any) -> tuple[Any, ...]:
    fields = _fields(args, required=("session_id",), optional=("created_at",))
    return _text(fields["session_id"]), _time(fields["created_at"]) if "created_at" in fields else None


def _ended(args: Any) -> tuple[Any, ...]:
    fields = _fields(args, required=("session_id",), optional=("ended_at",))
    return _text(fields["session_id"]), _time(fields["ended_at"]) if "ended_at" in fields else None


def _run_records(args: Any) -> tuple[Any, ...]:
    fields = _fields(args, required=("run_id",), optional=("cursor", "limit"))
    return _text(fields["run_id"]), _text(fields.get("cursor", "")), _limit(fields)


def _session_records(args: Any) -> tuple[Any, ...]:
    fields = _fields(args, required=("session_id",), optional=("cursor", "limit"))
    return _text(fields["session_id"]), _text(fields.get("cursor", "")), _limit(fields)


def _session_runs(args: Any) -> tuple[Any, ...]:
    fields = _fields(args, required=("session_id",), optional=("statuses", "cursor", "limit"))
    statuses = [_status(RunStatus, status) for status in fields.get("statuses", [])]
    return _text(fields["session_id"]), statuses, _text(fields.get("cursor", "")), _limit(fields)


READERS: Mapping[str, Callable[[Any], tuple[Any, ...]]] = {
    "append_run_record": _append,
    "record_run_cancellation": _cancellation,
    "record_run_suspension": _suspension,
    "repair_run_suspension": _suspension,
    "record_run_terminal": _terminal,
    "repair_run_terminal": _terminal,
    "load_run": _run,
    "load_run_suspension": _run,
    "load_session_status": _session,
    "list_run_records": _run_records,
    "list_session_run_records": _session_records,
    "create_session": _created,
    "load_session": _session,
    "end_session": _ended,
    "purge_session": _session,
    "purge_one_shot_run": _run,
    "list_runs_by_session": _session_runs,
}


def _run_start(value: Any) -> RunStart:
    texts = ("session_id", "parent_run_id", "predecessor_run_id")
    fields = _fields(value, required=("agent_id", "run_id", "started_at"), optional=(*texts, "labels"))
    labels = fields.get("labels", {})
    if not isinstance(labels, dict) or not all(isinstance(text, str) for text in labels.values()):
        raise NotExpressible("labels map text to text")
    return RunStart(
        agent_id=_text(fields["agent_id"]),
        run_id=_text(fields["run_id"]),
        started_at=_time(fields["started_at"]),
        labels=labels,
        **{name: _text(fields.get(name, "")) for name in texts},
    )


def _record(value: Any) -> RunRecord:
    texts = ("event_key", "run_id", "agent_id", "type", "payload")
    fields = _fields(value, required=(*texts, "timestamp"), optional=("session_id", "turn_id"))
    return RunRecord(
        timestamp=_time(fields["timestamp"]),
        **{name: _text(text) for name, text in fields.items() if name != "timestamp"},
    )


def _fields(value: Any, *, required: tuple[str, ...], optional: tuple[str, ...] = ()) -> Mapping[str, Any]:
    if not isinstance(value, dict) or not set(required) <= value.keys() <= {*required, *optional}:
        raise NotExpressible("a field is missing or unknown")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise NotExpressible("not text")
    return value


def _limit(fields: Mapping[str, Any]) -> int:
    limit = fields.get("limit")
    if limit is None and "limit" not in fields:
        return 0
    if type(limit) is not int or limit == 0:
        raise NotExpressible("not a number other than 0")
    return limit


def _status(kind: Callable[[str], Any], value: Any) -> Any:
    try:
        return kind(value)
    except ValueError:
        raise NotExpressible("no such status") from None


def _bytes(value: Any) -> bytes:
    try:
        data = base64.b64decode(_text(value), validate=True)
    except (binascii.Error, ValueError):
        raise NotExpressible("not base64") from None
    if base64.b64encode(data).decode() != value:
        raise NotExpressible("not canonical base64")
    return data


def _time(value: Any) -> datetime:
    if not TIME.fullmatch(_text(value)):
        raise NotExpressible("not a time, or finer than a datetime")
    try:
        return datetime.fromisoformat(value)
    except ValueError:
        raise NotExpressible("not a time") from None
