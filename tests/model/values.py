"""The contract's values: ids, text, times, payload text, checkpoint bytes, labels, and ids spelled in a path.

Everything here judges one value alone. A value that breaks a rule raises `Refused`, with the contract's code.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote_to_bytes

ID_BYTES = 1024
LABELS = 256
LABELS_BYTES = 64 * 1024
REASON_BYTES = 16 * 1024
PAYLOAD_BYTES = CHECKPOINT_BYTES = 8 * 1024 * 1024
BODY_BYTES = 16 * 1024 * 1024
PAYLOAD_LEVELS = 500

STATUS_OF = {
    code: status
    for status, codes in {
        400: "malformed_request",
        404: "session_not_found run_not_found run_suspension_not_found not_found",
        409: "session_ended session_active session_has_active_runs run_conflict event_conflict run_not_active "
        "run_terminal_conflict run_cancellation_conflict run_suspension_conflict run_session_mismatch "
        "run_record_owner_mismatch continuation_conflict run_tree_active",
        410: "session_purged run_purged",
        413: "payload_too_large",
        422: "invalid_command invalid_cursor invalid_limit parent_run_id_required child_run_id_required "
        "child_agent_id_required child_session_id_required",
    }.items()
    for code in codes.split()
}


class Refused(Exception):
    """The command is refused; `code` is the contract's name for why, `extra` the members the problem adds."""

    def __init__(self, code: str, why: str = "", **extra: Any) -> None:
        super().__init__(f"{code}: {why}" if why else code)
        self.code = code
        self.extra = extra


def invalid(why: str) -> Refused:
    return Refused("invalid_command", why)


@dataclass
class Obj:
    """A JSON object as it was written: pairs in order, names perhaps twice."""

    pairs: list[tuple[str, Any]] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.pairs]

    def unique(self) -> dict[str, Any]:
        """The members by name; a name given twice is refused."""
        if len(set(self.names)) != len(self.pairs):
            raise invalid("a name is given twice")
        return dict(self.pairs)


class Number(str):
    """A JSON number, by its spelling: no number of any length is ever converted."""

    __slots__ = ()


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)


def levels(text: str) -> int:
    """How many containers are open at once, at most; text that is not JSON may give any number."""
    deepest = open_now = 0
    for char in re.sub(r"[^\[\]{}]", "", _STRING.sub("", text)):
        open_now += 1 if char in "[{" else -1
        deepest = max(deepest, open_now)
    return deepest


def decode_json(text: str) -> Any:
    """One JSON value by RFC 8259. Raises ValueError for anything else."""
    return json.loads(
        text,
        object_pairs_hook=Obj,
        parse_int=Number,
        parse_float=Number,
        parse_constant=_no_constant,
    )


def decode_body(raw: bytes) -> Any:
    """A request body; `malformed_request` when it is not UTF-8, has a BOM or is not JSON."""
    try:
        return decode_json(raw.decode("utf-8", "strict"))
    except (ValueError, RecursionError) as error:
        raise Refused("malformed_request", str(error)) from None


def as_written(value: Any) -> Any:
    """A plain Python value as `decode_json` would have returned it."""
    match value:
        case dict():
            return Obj([(name, as_written(member)) for name, member in value.items()])
        case list():
            return [as_written(member) for member in value]
        case bool() | None | str() | Obj():
            return value
        case int() | float():
            return Number(value)
    raise TypeError(value)


# --- text ---------------------------------------------------------------------------------------------------------


def is_text(value: Any) -> bool:
    return isinstance(value, str) and not isinstance(value, Number)


def _utf8(value: Any, what: str) -> bytes:
    if not is_text(value):
        raise invalid(f"{what} is not text")
    try:
        return str(value).encode("utf-8")
    except UnicodeEncodeError:
        raise invalid(f"{what} holds a lone surrogate") from None


def identifier(value: Any, what: str = "id") -> str:
    """An id or key; missing and null read as empty."""
    if value is None:
        return ""
    data = _utf8(value, what)
    if len(data) > ID_BYTES or b"\0" in data:
        raise invalid(f"{what} is too long or holds U+0000")
    return str(value)


def reason(value: Any) -> str:
    if value is None:
        return ""
    data = _utf8(value, "reason")
    if len(data) > REASON_BYTES or b"\0" in data:
        raise invalid("the reason is too long or holds U+0000")
    return str(value)


def labels(value: Any) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, Obj):
        raise invalid("labels are not an object")
    members = value.unique()
    size = sum(len(_utf8(name, "label")) + len(_utf8(text, "label")) for name, text in members.items())
    if len(members) > LABELS or size > LABELS_BYTES:
        raise invalid("too many labels")
    return members


def payload(value: Any) -> str:
    """A payload's text; missing, null and empty read as empty. The JSON in it must be valid."""
    if value is None or value == "":
        return ""
    data = _utf8(value, "payload")
    if len(data) > PAYLOAD_BYTES:
        raise Refused("payload_too_large")
    if levels(value) > PAYLOAD_LEVELS:
        raise invalid("the payload is too deep")
    try:
        decode_json(value)
    except (ValueError, RecursionError):
        raise invalid("the payload is not JSON") from None
    return str(value)


def checkpoint(value: Any) -> bytes:
    """A checkpoint's bytes from base64 that has exactly one spelling; missing, null and empty read as empty."""
    if value is None:
        return b""
    text = _utf8(value, "checkpoint")
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise invalid("the checkpoint is not base64") from None
    if base64.b64encode(data) != text:
        raise invalid("the checkpoint is not canonical base64")
    if len(data) > CHECKPOINT_BYTES:
        raise Refused("payload_too_large")
    return data


# --- times --------------------------------------------------------------------------------------------------------
# Counted from 0001-01-01T00:00:00Z, so that zero is the time that counts as missing.

_TIME = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]+))?(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))"
)
_MONTH_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def _is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def _month_days(year: int, month: int) -> int:
    return 29 if month == 2 and _is_leap(year) else _MONTH_DAYS[month - 1]


def _days(year: int, month: int, day: int) -> int:
    before = year - 1
    days = 365 * before + before // 4 - before // 100 + before // 400
    return days + sum(_month_days(year, m) for m in range(1, month)) + day - 1


_LAST_SECOND = _days(9999, 12, 31) * 86400 + 86399


def _instant(value: Any) -> tuple[int, str]:
    """Seconds since year 1 in UTC and the digits of the fraction as sent."""
    found = _TIME.fullmatch(value) if is_text(value) else None
    if not found:
        raise invalid("not a time")
    year, month, day, hour, minute, second = (int(part) for part in found.groups()[:6])
    if not 1 <= month <= 12 or not 1 <= day <= _month_days(year, month):
        raise invalid("no such day")
    if hour > 23 or minute > 59 or second > 59:
        raise invalid("no such time of day")
    seconds = _days(year, month, day) * 86400 + hour * 3600 + minute * 60 + second
    if found[8]:
        hours, minutes = int(found[9]), int(found[10])
        if hours > 23 or minutes > 59:
            raise invalid("no such offset")
        offset = hours * 3600 + minutes * 60
        seconds -= offset if found[8] == "+" else -offset
    if not 0 <= seconds <= _LAST_SECOND:
        raise invalid("outside the years 1 to 9999")
    return seconds, found[7] or ""


def milliseconds(value: Any) -> int:
    """A run or record time; zero when missing."""
    if value is None or value == "":
        return 0
    seconds, digits = _instant(value)
    if digits[3:].strip("0"):
        raise invalid("finer than a millisecond")
    return seconds * 1000 + int(digits[:3].ljust(3, "0"))


def microseconds(value: Any) -> int:
    """A session time, finer digits cut; zero when missing."""
    if value is None or value == "":
        return 0
    seconds, digits = _instant(value)
    return seconds * 1_000_000 + int(digits[:6].ljust(6, "0"))


def time_text(count: int, decimals: int) -> str:
    """The one spelling answers use: UTC, `Z`, and exactly three decimals (runs, records) or six (sessions)."""
    seconds, fraction = divmod(count, 10**decimals)
    days, of_day = divmod(seconds, 86400)
    year = days // 366 + 1
    while _days(year + 1, 1, 1) <= days:
        year += 1
    month = 1
    while month < 12 and _days(year, month + 1, 1) <= days:
        month += 1
    day = days - _days(year, month, 1) + 1
    clock = f"{of_day // 3600:02}:{of_day % 3600 // 60:02}:{of_day % 60:02}"
    return f"{year:04}-{month:02}-{day:02}T{clock}.{fraction:0{decimals}}Z"


# --- ids in paths -------------------------------------------------------------------------------------------------


def path_id(segment: str) -> str:
    """The id a raw path segment spells."""
    if re.search(r"%(?![0-9A-Fa-f]{2})", segment):
        raise invalid("a percent sign without two digits")
    data = unquote_to_bytes(segment)
    if data.startswith(b"~"):
        try:
            data = _canonical_base64url(data[1:])
        except ValueError:
            raise invalid("not canonical base64url") from None
    try:
        return identifier(data.decode("utf-8"))
    except UnicodeDecodeError:
        raise invalid("not UTF-8") from None


def _canonical_base64url(text: bytes) -> bytes:
    if re.search(rb"[^A-Za-z0-9_-]", text) or len(text) % 4 == 1:
        raise ValueError(text)
    data = base64.urlsafe_b64decode(text + b"=" * (-len(text) % 4))
    if base64.urlsafe_b64encode(data).rstrip(b"=") != text:
        raise ValueError(text)
    return data
