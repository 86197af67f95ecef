"""Times: which spellings are read, to which instant, and how instants are written."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runhold.domain.times import (
    TimeError,
    format_run_time,
    format_session_time,
    parse_run_time,
    parse_session_time,
)
from runhold.domain.values import NO_TIME

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST, LAST = NO_TIME, 253_402_300_799_999


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01t00:00:00.001z", 1),
        ("1970-01-01T00:00:00.1Z", 100),
        ("1970-01-01T00:00:00.1230000000000000Z", 123),
        ("1969-12-31T23:59:59.999Z", -1),
        ("1970-01-01T05:30:00+05:30", 0),
        ("1969-12-31T00:01:00-23:59", 0),
        ("1970-01-01T00:00:00-00:00", 0),
        ("2024-02-29T00:00:00Z", 1_709_164_800_000),
        ("0001-01-01T00:00:00Z", NO_TIME),
        ("0001-01-01T01:00:00+01:00", NO_TIME),
        ("0000-12-31T23:00:00-01:00", NO_TIME),
        ("9999-12-31T23:59:59.999Z", LAST),
        ("", NO_TIME),
    ],
)
def test_a_time_is_read_as_an_instant(text: str, milliseconds: int) -> None:
    assert parse_run_time(text) == milliseconds


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-01",
        "2026-03-01T10:00Z",
        "2026-03-01T10:00:00",
        "2026-03-01 10:00:00Z",
        "2026-03-01T10:00:00.Z",
        "2026-03-01T10:00:00,5Z",
        "2026-03-01T10:00:60Z",
        "2026-03-01T10:60:00Z",
        "2026-03-01T24:00:00Z",
        "2026-02-29T10:00:00Z",
        "2026-13-01T10:00:00Z",
        "2026-00-01T10:00:00Z",
        "2026-03-01T10:00:00+24:00",
        "2026-03-01T10:00:00+10:60",
        "2026-03-01T10:00:00+1000",
        "2026-03-01T10:00:00+10",
        "+2026-03-01T10:00:00Z",
        "12026-03-01T10:00:00Z",
        " 2026-03-01T10:00:00Z",
        "2026-03-01T10:00:00Z\n",
        "2026-03-01T10:00:00.1234Z",
        "2026-03-01T10:00:00.123000001Z",
        "٢٠٢٦-03-01T10:00:00Z",
        "0001-01-01T00:00:00+00:01",
        "9999-12-31T23:59:59-00:01",
        "0000-01-01T00:00:00Z",
    ],
)
def test_any_other_spelling_is_refused(text: str) -> None:
    with pytest.raises(TimeError):
        parse_run_time(text)


def test_a_session_time_keeps_microseconds_and_cuts_what_is_finer() -> None:
    assert parse_session_time("1970-01-01T00:00:00.1234567Z") == 123_456
    assert parse_session_time("0001-01-01T00:00:00.0000009Z") is None
    assert parse_session_time("") is None
    assert parse_session_time("0001-01-01T00:00:00.000001Z") == NO_TIME * 1000 + 1


@given(st.integers(FIRST + 1, LAST))
def test_a_written_time_reads_as_itself(instant: int) -> None:
    text = format_run_time(instant)
    assert text == (EPOCH + timedelta(milliseconds=instant)).isoformat(timespec="milliseconds")[:-6] + "Z"
    assert parse_run_time(text) == instant


@given(st.integers(FIRST * 1000 + 1, LAST * 1000 + 999))
def test_a_written_session_time_reads_as_itself(instant: int) -> None:
    assert parse_session_time(format_session_time(instant)) == instant


@given(st.integers(FIRST + 86_400_000, LAST - 86_400_000), st.integers(-1439, 1439))
def test_an_offset_moves_the_text_and_not_the_instant(instant: int, minutes: int) -> None:
    local = format_run_time(instant + minutes * 60_000)[:-1]
    sign = "-" if minutes < 0 else "+"
    hours, rest = divmod(abs(minutes), 60)
    assert parse_run_time(f"{local}{sign}{hours:02}:{rest:02}") == instant
