"""Limits and cursors: what is read, what is refused, and that every cursor belongs to its list."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import pytest
from msgspec.structs import replace

from runhold.domain import paging
from runhold.domain.errors import InvalidCursor, InvalidLimit
from runhold.domain.paging import Key, RecordQuery, RunQuery, SessionQuery
from runhold.domain.values import RunStatus, SessionStatus

LAST = 2**63 - 1


@pytest.mark.parametrize(
    ("text", "limit"),
    [("", 100), ("1", 1), ("007", 7), ("1000", 1000), ("1001", 1000), ("100000", 1000), ("9" * 5_000, 1000)],
)
def test_a_limit_is_a_positive_number_and_lowered_to_the_largest(text: str, limit: int) -> None:
    assert paging.parse_limit(text) == limit


@pytest.mark.parametrize("text", ["0", "000", "-1", "+1", "1.0", "1e2", " 1", "1 ", "x", "٣", "0x10", "1_0"])
def test_any_other_limit_is_refused(text: str) -> None:
    with pytest.raises(InvalidLimit):
        paging.parse_limit(text)


@pytest.mark.parametrize("position", [1, 9, 10, 2**31, LAST])
def test_a_runs_cursor_is_the_id_of_a_record(position: int) -> None:
    assert paging.run_cursor(position) == str(position)
    assert paging.parse_run_cursor(str(position)) == position


def test_no_cursor_is_the_beginning() -> None:
    assert paging.run_cursor(0) == paging.position_cursor(0, b"x" * 12) == paging.key_cursor(None, b"x" * 12) == ""
    assert paging.parse_run_cursor("") == paging.parse_position_cursor("", b"x" * 12) == 0
    assert paging.parse_key_cursor("", b"x" * 12) is None


@pytest.mark.parametrize(
    "text", ["0", "01", "-1", "+1", " 1", "1 ", "1\n", "x", "1.0", "٣", "1_0", str(LAST + 1), "9" * 5_000]
)
def test_any_other_cursor_of_a_run_is_refused(text: str) -> None:
    with pytest.raises(InvalidCursor):
        paging.parse_run_cursor(text)


RECORDS, RUNS, SESSIONS = RecordQuery(), RunQuery(), SessionQuery()
TAGS: dict[str, bytes] = {
    "a session's records": paging.session_records_tag("n", "s", RECORDS),
    "those of another session": paging.session_records_tag("n", "t", RECORDS),
    "those of another namespace": paging.session_records_tag("m", "s", RECORDS),
    "backwards": paging.session_records_tag("n", "s", replace(RECORDS, descending=True)),
    "of a type": paging.session_records_tag("n", "s", replace(RECORDS, types=("a",))),
    "of two types": paging.session_records_tag("n", "s", replace(RECORDS, types=("a", "b"))),
    "of a type that looks like two": paging.session_records_tag("n", "s", replace(RECORDS, types=("a1:b",))),
    "of a turn": paging.session_records_tag("n", "s", replace(RECORDS, turn_ids=("a",))),
    "sessions": paging.sessions_tag("n", SESSIONS),
    "ended sessions": paging.sessions_tag("n", replace(SESSIONS, statuses=(SessionStatus.ENDED,))),
    "a session's runs": paging.session_runs_tag("n", "s", RUNS),
    "its running runs": paging.session_runs_tag("n", "s", replace(RUNS, statuses=(RunStatus.RUNNING,))),
    "runs": paging.runs_tag("n", RUNS),
    "runs of an agent": paging.runs_tag("n", replace(RUNS, agent_id="a")),
    "runs of a session": paging.runs_tag("n", replace(RUNS, session_id="a")),
    "runs under a parent": paging.runs_tag("n", replace(RUNS, parent_run_id="a")),
    "runs with a label": paging.runs_tag("n", replace(RUNS, labels=(("a", "b"),))),
    "runs with a longer name": paging.runs_tag("n", replace(RUNS, labels=(("ab", ""),))),
    "runs since": paging.runs_tag("n", replace(RUNS, started_after=0)),
    "runs until": paging.runs_tag("n", replace(RUNS, started_before=0)),
}


def test_every_list_filter_and_order_has_a_tag_of_its_own() -> None:
    for (one, a), (other, b) in combinations(TAGS.items(), 2):
        assert a != b, f"{one} and {other}"


def test_the_order_and_repetition_of_alternatives_make_no_other_list() -> None:
    one = replace(RECORDS, types=("a", "b"), turn_ids=("t", "u"))
    other = replace(RECORDS, types=("b", "a", "b"), turn_ids=("u", "t"))
    assert paging.session_records_tag("n", "s", one) == paging.session_records_tag("n", "s", other)


def test_limit_view_and_place_make_no_other_list() -> None:
    other = replace(RECORDS, after=7, limit=3, summary=True)
    assert paging.session_records_tag("n", "s", other) == TAGS["a session's records"]


@pytest.mark.parametrize("key", [(0, "r"), (-62_135_596_800_000, "é/😀"), (LAST, "x" * 1_024), (-1, "~")])
def test_a_key_cursor_reads_as_what_was_written(key: Key) -> None:
    tag = TAGS["runs"]
    cursor = paging.key_cursor(key, tag)
    assert paging.parse_key_cursor(cursor, tag) == key
    assert cursor.isascii()
    assert set("+/=%&? ").isdisjoint(cursor)
    with pytest.raises(InvalidCursor):
        paging.parse_key_cursor(cursor, TAGS["sessions"])


@pytest.mark.parametrize("position", [1, LAST])
def test_a_position_cursor_reads_as_what_was_written(position: int) -> None:
    tag = TAGS["a session's records"]
    cursor = paging.position_cursor(position, tag)
    assert paging.parse_position_cursor(cursor, tag) == position
    with pytest.raises(InvalidCursor):
        paging.parse_position_cursor(cursor, TAGS["backwards"])


@pytest.mark.parametrize(
    "spoil", [lambda c: c[:-1], lambda c: c + "A", lambda c: c + "=", lambda c: " " + c, lambda c: "é"]
)
def test_a_cursor_that_was_changed_is_refused(spoil: Callable[[str], str]) -> None:
    tag = TAGS["runs"]
    with pytest.raises(InvalidCursor):
        paging.parse_position_cursor(spoil(paging.position_cursor(5, tag)), tag)
    with pytest.raises(InvalidCursor):
        paging.parse_key_cursor(spoil(paging.key_cursor((5, ""), tag)), tag)


def test_cursors_of_one_kind_are_not_read_as_another() -> None:
    tag = TAGS["runs"]
    with pytest.raises(InvalidCursor):
        paging.parse_position_cursor(paging.key_cursor((5, "r"), tag), tag)
    with pytest.raises(InvalidCursor):
        paging.parse_key_cursor(paging.position_cursor(5, tag), tag)


WRITTEN = "AfA7slATpEIu3C13VwAAAAAAAAAD"


def test_cursors_survive_restarts_and_versions() -> None:
    """What an earlier process wrote: no secret and no memory is part of it."""
    tag = paging.session_records_tag("default", "s", RecordQuery())
    assert paging.position_cursor(3, tag) == WRITTEN
    assert paging.parse_position_cursor(WRITTEN, tag) == 3
