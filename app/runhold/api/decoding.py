"""From parsed bodies to commands: unknown names, types, and the rules of single fields, all faults at once.

What is missing here is ``""``: whether that is allowed is a rule of the command, judged later. Source: the storage
contract, *Before every list below*.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from runhold.api.json_body import RepeatedNames, pointer_to, repeated_names
from runhold.commands.model import (
    AppendRunRecord,
    Command,
    CreateSession,
    EndSession,
    RecordRunCancellation,
    RecordRunSuspension,
    RecordRunTerminal,
    RepairRunSuspension,
    RepairRunTerminal,
    StartChildRun,
    StartOneShotChildRun,
    StartOneShotRun,
    StartRootRun,
)
from runhold.domain.errors import InvalidCommand, PayloadTooLarge, size_members
from runhold.domain.fields import (
    checkpoint_bytes_over,
    decode_checkpoint,
    id_fault,
    labels_fault,
    payload_bytes_over,
    payload_fault,
    reason_fault,
)
from runhold.domain.limits import CHECKPOINT_BYTES, ID_BYTES, PAYLOAD_BYTES
from runhold.domain.times import TimeError, parse_run_time, parse_session_time
from runhold.domain.values import NO_TIME, RunRecord, RunStart, RunStatus, RunSuspension

_RECORD = frozenset({"event_key", "run_id", "agent_id", "session_id", "turn_id", "type", "payload", "timestamp"})
_RUN = frozenset({"agent_id", "run_id", "session_id", "parent_run_id", "predecessor_run_id", "started_at", "labels"})
_SUSPENSION = frozenset({"id", "data"})
_TERMINAL = {status.value: status for status in (RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.CANCELED)}
_RECORDS = ("record", "parent_linked", "started", "canceled")

_ERRORS_SHOWN = 100
_NO_RECORD = RunRecord("", "", "", "", "", "", "", NO_TIME)
_NO_RUN = RunStart("", "", "", "", "", NO_TIME, {})

Decode = Callable[[str, Any], Command]
"""Reads the body of a call on the run or session of the path (``""`` where the path names none).

Raises InvalidCommand with every fault of the body, PayloadTooLarge before that.
"""


class _Faults:
    """What is wrong with a body, by pointer."""

    __slots__ = ("found", "sizes")

    def __init__(self) -> None:
        self.found: list[dict[str, str]] = []
        self.sizes: dict[str, int] = {}

    def add(self, pointer: str, detail: str) -> None:
        self.found.append({"pointer": pointer, "detail": str(detail)})
        self.sizes = self.sizes or size_members(detail)

    def check(self) -> None:
        """Raise InvalidCommand when there are faults."""
        if self.found:
            first = self.found[0]
            where = first["pointer"] or "body"
            raise InvalidCommand(f"{where}: {first['detail']}", errors=self.found[:_ERRORS_SHOWN], **self.sizes)


def _object(value: Any, names: frozenset[str], pointer: str, faults: _Faults) -> Mapping[str, Any]:
    """Check that a value is an object with no other names than ``names``."""
    if not isinstance(value, dict):
        faults.add(pointer, "must be present" if value is None else "must be an object")
        return {}
    if not value.keys() <= names:
        for name in value:
            if name not in names:
                faults.add(pointer_to(pointer, name), "is not a name known here")
    return value


def _text(value: Any, pointer: str, rule: Callable[[str], str | None], faults: _Faults) -> str:
    if value is None or value == "":
        return ""
    if not isinstance(value, str):
        faults.add(pointer, "must be a string")
        return ""
    fault = rule(value)
    if fault is not None:
        faults.add(pointer, fault)
        return ""
    return value


def _time_fault(text: str) -> str | None:
    try:
        parse_run_time(text)
    except TimeError as error:
        return str(error)
    return None


def _session_time_fault(text: str) -> str | None:
    try:
        parse_session_time(text)
    except TimeError as error:
        return str(error)
    return None


def _checkpoint_fault(text: str) -> str | None:
    return None if decode_checkpoint(text) is not None else "must be standard base64, padded and canonical"


def _record(value: Any, pointer: str, faults: _Faults) -> RunRecord:
    # Nearly every record is plain: eight strings, ASCII ids that are short together. One look finds that out.
    if type(value) is dict and value.keys() <= _RECORD:
        get = value.get
        event_key, run_id, agent_id = get("event_key", ""), get("run_id", ""), get("agent_id", "")
        session_id, turn_id, kind = get("session_id", ""), get("turn_id", ""), get("type", "")
        payload, timestamp = get("payload", ""), get("timestamp", "")
        try:
            # Joining refuses what is no string.
            ids = "".join([event_key, run_id, agent_id, session_id, turn_id, kind])  # noqa: FLY002
            plain = len(ids) <= ID_BYTES and ids.isascii() and "\0" not in ids
            if plain and type(payload) is str and type(timestamp) is str:
                time = parse_run_time(timestamp)
                if payload_fault(payload) is None:
                    return RunRecord(event_key, run_id, agent_id, session_id, turn_id, kind, payload, time)
        except (TypeError, TimeError):
            # Some field is no string, or no time; which one, and what else, is found below.
            pass
    return _any_record(value, pointer, faults)


def _any_record(value: Any, pointer: str, faults: _Faults) -> RunRecord:
    found = _object(value, _RECORD, pointer, faults)
    event_key, run_id, agent_id, session_id, turn_id, kind = (
        _text(found.get(name), f"{pointer}/{name}", id_fault, faults)
        for name in ("event_key", "run_id", "agent_id", "session_id", "turn_id", "type")
    )
    payload = _text(found.get("payload"), f"{pointer}/payload", payload_fault, faults)
    timestamp = _text(found.get("timestamp"), f"{pointer}/timestamp", _time_fault, faults)
    return RunRecord(event_key, run_id, agent_id, session_id, turn_id, kind, payload, parse_run_time(timestamp))


def _run_start(value: Any, pointer: str, faults: _Faults) -> RunStart:
    found = _object(value, _RUN, pointer, faults)
    agent_id, run_id, session_id, parent, predecessor = (
        _text(found.get(name), f"{pointer}/{name}", id_fault, faults)
        for name in ("agent_id", "run_id", "session_id", "parent_run_id", "predecessor_run_id")
    )
    started_at = _text(found.get("started_at"), f"{pointer}/started_at", _time_fault, faults)
    labels = _labels(found.get("labels"), f"{pointer}/labels", faults)
    return RunStart(agent_id, run_id, session_id, parent, predecessor, parse_run_time(started_at), labels)


def _labels(value: Any, pointer: str, faults: _Faults) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        faults.add(pointer, "must be an object of strings")
        return {}
    if not all(type(text) is str for text in value.values()):
        faults.add(pointer, "must hold strings only")
        return {}
    fault = labels_fault(value)
    if fault is not None:
        faults.add(pointer, fault)
    return value


def _suspension(value: Any, pointer: str, faults: _Faults) -> RunSuspension:
    found = _object(value, _SUSPENSION, pointer, faults)
    suspension_id = _text(found.get("id"), f"{pointer}/id", id_fault, faults)
    data = _text(found.get("data"), f"{pointer}/data", _checkpoint_fault, faults)
    return RunSuspension(suspension_id, decode_checkpoint(data) or b"")


def _status(value: Any, pointer: str, faults: _Faults) -> RunStatus:
    status = _TERMINAL.get(value) if isinstance(value, str) else None
    if status is None:
        faults.add(pointer, f"must be one of {', '.join(_TERMINAL)}")
        return RunStatus.COMPLETED
    return status


def _decode_create_session(_: str, body: Any) -> Command:
    faults = _Faults()
    found = _object(body, frozenset({"session_id", "created_at"}), "", faults)
    session_id = _text(found.get("session_id"), "/session_id", id_fault, faults)
    created_at = _text(found.get("created_at"), "/created_at", _session_time_fault, faults)
    faults.check()
    return CreateSession(session_id, parse_session_time(created_at))


def _decode_end_session(session_id: str, body: Any) -> Command:
    faults = _Faults()
    found = _object(body, frozenset({"ended_at"}), "", faults)
    ended_at = _text(found.get("ended_at"), "/ended_at", _session_time_fault, faults)
    faults.check()
    return EndSession(session_id, parse_session_time(ended_at))


def _decode_start_root_run(_: str, body: Any) -> Command:
    faults = _Faults()
    found = _object(body, frozenset({"run", "started", "canceled"}), "", faults)
    command = StartRootRun(
        _run_start(found.get("run"), "/run", faults),
        _record(found.get("started"), "/started", faults),
        _record(found.get("canceled"), "/canceled", faults),
    )
    faults.check()
    return command


def _decode_start_child_run(_: str, body: Any) -> Command:
    faults = _Faults()
    found = _object(body, frozenset({"run", "parent_linked", "started", "canceled"}), "", faults)
    command = StartChildRun(
        _run_start(found.get("run"), "/run", faults),
        _record(found.get("parent_linked"), "/parent_linked", faults),
        _record(found.get("started"), "/started", faults),
        _record(found.get("canceled"), "/canceled", faults),
    )
    faults.check()
    return command


def _decode_start_one_shot_run(_: str, body: Any) -> Command:
    faults = _Faults()
    found = _object(body, frozenset({"run", "started"}), "", faults)
    command = StartOneShotRun(
        _run_start(found.get("run"), "/run", faults),
        _record(found.get("started"), "/started", faults),
    )
    faults.check()
    return command


def _decode_start_one_shot_child_run(_: str, body: Any) -> Command:
    faults = _Faults()
    found = _object(body, frozenset({"run", "parent_linked", "started"}), "", faults)
    command = StartOneShotChildRun(
        _run_start(found.get("run"), "/run", faults),
        _record(found.get("parent_linked"), "/parent_linked", faults),
        _record(found.get("started"), "/started", faults),
    )
    faults.check()
    return command


def _decode_append_run_record(run_id: str, body: Any) -> Command:
    faults = _Faults()
    record = _record(body, "", faults)
    faults.check()
    return AppendRunRecord(run_id, record)


def _decode_record_run_cancellation(run_id: str, body: Any) -> Command:
    faults = _Faults()
    found = _object(body, frozenset({"reason", "record"}), "", faults)
    reason = _text(found.get("reason"), "/reason", reason_fault, faults)
    record = _record(found.get("record"), "/record", faults)
    faults.check()
    return RecordRunCancellation(run_id, reason, record)


def _suspension_and_record(body: Any) -> tuple[RunSuspension, RunRecord]:
    faults = _Faults()
    found = _object(body, frozenset({"suspension", "record"}), "", faults)
    suspension = _suspension(found.get("suspension"), "/suspension", faults)
    record = _record(found.get("record"), "/record", faults)
    faults.check()
    return suspension, record


def _decode_record_run_suspension(run_id: str, body: Any) -> Command:
    return RecordRunSuspension(run_id, *_suspension_and_record(body))


def _decode_repair_run_suspension(run_id: str, body: Any) -> Command:
    return RepairRunSuspension(run_id, *_suspension_and_record(body))


def _status_and_record(body: Any) -> tuple[RunStatus, RunRecord]:
    faults = _Faults()
    found = _object(body, frozenset({"status", "record"}), "", faults)
    status = _status(found.get("status"), "/status", faults)
    record = _record(found.get("record"), "/record", faults)
    faults.check()
    return status, record


def _decode_record_run_terminal(run_id: str, body: Any) -> Command:
    return RecordRunTerminal(run_id, *_status_and_record(body))


def _decode_repair_run_terminal(run_id: str, body: Any) -> Command:
    return RepairRunTerminal(run_id, *_status_and_record(body))


WORKER_COMMANDS: Mapping[str, tuple[bool, Decode]] = {
    "start_root_run": (False, _decode_start_root_run),
    "start_child_run": (False, _decode_start_child_run),
    "start_one_shot_run": (False, _decode_start_one_shot_run),
    "start_one_shot_child_run": (False, _decode_start_one_shot_child_run),
    "append_run_record": (True, _decode_append_run_record),
    "record_run_cancellation": (True, _decode_record_run_cancellation),
    "record_run_suspension": (True, _decode_record_run_suspension),
    "record_run_terminal": (True, _decode_record_run_terminal),
    "repair_run_suspension": (True, _decode_repair_run_suspension),
    "repair_run_terminal": (True, _decode_repair_run_terminal),
}
"""The ten writing worker commands, by operation: whether the path names a run, and how the body is read."""

_DECODERS: Mapping[str, Decode] = {
    **{operation: decode for operation, (_, decode) in WORKER_COMMANDS.items()},
    "create_session": _decode_create_session,
    "end_session": _decode_end_session,
}


def decode_command(operation: str, path_id: str, body: Any, body_bytes: int) -> Command:
    """Read the body of a single call, or that of an item of ``run_commands``.

    Args:
        operation: its id.
        path_id: the run or session of the path, or ``""``.
        body: as parsed.
        body_bytes: size of the request, which bounds the size of anything in it.

    Raises:
        PayloadTooLarge: before any other fault; InvalidCommand: with all faults.
    """
    if body_bytes > min(PAYLOAD_BYTES, CHECKPOINT_BYTES):
        _check_sizes(operation, body)
    try:
        command = _DECODERS[operation](path_id, body)
    except InvalidCommand as error:
        raise _with_repeated(error, body) from None
    if _holds_repeated(body):
        raise _with_repeated(None, body)
    return command


def _holds_repeated(body: Any) -> bool:
    # Every object of a command that was read is at one of these two levels, but for labels.
    if not isinstance(body, dict):
        return False
    if isinstance(body, RepeatedNames):
        return True
    for value in body.values():
        if type(value) is RepeatedNames or (type(value) is dict and type(value.get("labels")) is RepeatedNames):
            return True
    return False


def _with_repeated(error: InvalidCommand | None, body: Any) -> InvalidCommand:
    """Add the names that were given twice to the faults that were found."""
    faults = _Faults()
    for pointer in repeated_names(body, ""):
        faults.add(pointer, "must not be given twice")
        if len(faults.found) >= _ERRORS_SHOWN:
            break
    found = error.members.get("errors", []) if error is not None else []
    if isinstance(found, list):
        faults.found += [fault for fault in found if isinstance(fault, dict)]
    if error is not None:
        faults.sizes = {name: size for name, size in error.members.items() if isinstance(size, int)}
    try:
        faults.check()
    except InvalidCommand as refusal:
        return refusal
    return error or InvalidCommand("the body breaks a rule")


def _check_sizes(operation: str, body: Any) -> None:
    """Refuse a payload or checkpoint that is over its own limit, before anything else is judged."""
    if not isinstance(body, dict):
        return
    records = [("", body)] if operation == "append_run_record" else [(f"/{name}", body.get(name)) for name in _RECORDS]
    for pointer, record in records:
        payload = record.get("payload") if isinstance(record, dict) else None
        size = payload_bytes_over(payload) if isinstance(payload, str) else None
        if size is not None:
            raise _too_large(f"{pointer}/payload", size, PAYLOAD_BYTES)
    suspension = body.get("suspension")
    text = suspension.get("data") if isinstance(suspension, dict) else None
    if isinstance(text, str) and len(text) > CHECKPOINT_BYTES:
        # Four characters carry three bytes, whatever else is wrong with them.
        data = decode_checkpoint(text)
        size = checkpoint_bytes_over(data) if data is not None else None
        if size is None and data is None and len(text) // 4 * 3 - 2 > CHECKPOINT_BYTES:
            size = len(text) // 4 * 3
        if size is not None:
            raise _too_large("/suspension/data", size, CHECKPOINT_BYTES)


def _too_large(pointer: str, actual: int, limit: int) -> PayloadTooLarge:
    return PayloadTooLarge(f"{pointer}: must be at most {limit} bytes, is {actual}", limit=limit, actual=actual)
