"""Times as text and as integers. Pure; the clock is passed in by whoever has one.

Source: the storage contract, *Values*, *Time*: RFC 3339 in ASCII, compared as instants, years 1 to 9999 in UTC.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache

from runhold.domain.values import NO_SESSION_TIME, NO_TIME, Microseconds, Milliseconds

_TIME = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]+))?"
    r"(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))"
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EPOCH_ORDINAL = date(1970, 1, 1).toordinal()
_LAST_SECOND = int((datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC) - _EPOCH).total_seconds())
_FIRST_SECOND = NO_TIME // 1000


class TimeError(ValueError):
    """A time that is not written as the contract asks; the text says what is wrong."""


def _parse(text: str) -> tuple[int, str]:
    """Split a time into seconds since 1970 in UTC and the digits of its fraction, as sent."""
    match = _TIME.fullmatch(text)
    if match is None:
        raise TimeError("must be a time like 2026-03-01T10:00:00.123Z")
    year, month, day, hour, minute, second = (int(part) for part in match.groups()[:6])
    if hour > 23 or minute > 59 or second > 59:
        raise TimeError("must be a time with hours to 23, minutes and seconds to 59")
    try:
        # Year 0 is a leap year like 4; with a negative offset its last hours lie in year 1 of UTC.
        ordinal = date(year, month, day).toordinal() if year else date(4, month, day).toordinal() - 1461
    except ValueError:
        raise TimeError("must be a day of the calendar") from None
    seconds = (ordinal - _EPOCH_ORDINAL) * 86_400 + hour * 3_600 + minute * 60 + second
    if match[8] is not None:
        offset_hour, offset_minute = int(match[9]), int(match[10])
        if offset_hour > 23 or offset_minute > 59:
            raise TimeError("must have an offset to 23:59")
        offset = offset_hour * 3_600 + offset_minute * 60
        seconds += -offset if match[8] == "+" else offset
    if not _FIRST_SECOND <= seconds <= _LAST_SECOND:
        raise TimeError("must lie in the years 1 to 9999 of UTC")
    return seconds, match[7] or ""


@lru_cache(maxsize=4_096)
def _second(text: str) -> int:
    return _parse(text + "Z")[0]


def parse_run_time(text: str) -> Milliseconds:
    """Read the time of a run or record; ``""`` is a missing one.

    Raises:
        TimeError: another spelling, or a non-zero digit finer than a millisecond.
    """
    if not text:
        return NO_TIME
    if len(text) == 24 and text[19] == "." and text[23] == "Z" and text.isascii() and text[20:23].isdigit():
        # As the service itself writes times; most share their second with others of the moment.
        return _second(text[:19]) * 1_000 + int(text[20:23])
    seconds, fraction = _parse(text)
    if fraction[3:].strip("0"):
        raise TimeError("must not be finer than a millisecond")
    return seconds * 1_000 + int(fraction[:3].ljust(3, "0"))


def parse_session_time(text: str) -> Microseconds | None:
    """Read the time of a session, cutting digits finer than a microsecond; None when it counts as missing.

    Raises:
        TimeError: another spelling.
    """
    if not text:
        return None
    seconds, fraction = _parse(text)
    instant = seconds * 1_000_000 + int(fraction[:6].ljust(6, "0"))
    return None if instant == NO_SESSION_TIME else instant


def format_run_time(instant: Milliseconds) -> str:
    """Write the time of a run or record: UTC, ``Z``, three decimals."""
    seconds, milliseconds = divmod(instant, 1_000)
    return f"{_second_text(seconds)}.{milliseconds:03d}Z"


@lru_cache(maxsize=4_096)
def _second_text(seconds: int) -> str:
    return (_EPOCH + timedelta(seconds=seconds)).isoformat(timespec="seconds")[:-6]


def format_session_time(instant: Microseconds) -> str:
    """Write the time of a session: UTC, ``Z``, six decimals."""
    return (_EPOCH + timedelta(microseconds=instant)).isoformat(timespec="microseconds")[:-6] + "Z"
