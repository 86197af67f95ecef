"""Values become JSON and come back equal; what could not come back equal is refused before it is sent."""

from __future__ import annotations

import base64
import json
import re
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runhold_client import NO_TIME, InvalidCommand, RunRecord, RunStart, RunSuspension, UnexpectedAnswer, wire
from runhold_client import answers as read

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
zones = st.integers(-23 * 60 - 59, 23 * 60 + 59).map(lambda minutes: timezone(timedelta(minutes=minutes)))
instants = st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29), timezones=zones | st.just(UTC))
milliseconds = instants.map(lambda time: time.replace(microsecond=time.microsecond // 1000 * 1000))
records = st.builds(RunRecord, texts, texts, texts, texts, texts, milliseconds, texts, texts)


def through_json(value: Any) -> Any:
    return json.loads(wire.encode_json(value))


@given(records, milliseconds, st.integers(1).map(str))
def test_a_record_comes_back_equal(record: RunRecord, stored_at: datetime, id_: str) -> None:
    answer = through_json(wire.encode_run_record(record))
    found = read.decode_stored_record({**answer, "id": id_, "stored_at": wire.encode_time(stored_at, "stored_at")})
    assert found.record == record
    assert found.record.timestamp.tzinfo is UTC
    assert (found.id, found.stored_at, found.payload_bytes) == (id_, stored_at, None)


@given(milliseconds)
def test_a_time_is_written_in_utc_with_z_and_exactly_milliseconds(time: datetime) -> None:
    text = wire.encode_time(time, "timestamp")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", text)
    assert datetime.fromisoformat(text) == time


@given(instants)
def test_a_session_time_is_written_in_utc_with_z_and_exactly_microseconds(time: datetime) -> None:
    text = wire.encode_session_time(time, "created_at")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", text)
    assert datetime.fromisoformat(text) == time


@pytest.mark.parametrize(
    "time",
    [
        datetime(2026, 3, 1, 10),
        datetime(2026, 3, 1, 10, 0, 0, 123_400, UTC),
        datetime(2026, 3, 1, 10, 0, 0, 1, UTC),
        datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=1))),
        datetime(9999, 12, 31, 23, tzinfo=timezone(timedelta(hours=-2))),
        datetime.min,
    ],
    ids=["naive", "tenths of a millisecond", "a microsecond", "before year 1", "after year 9999", "naive and missing"],
)
def test_a_time_that_could_not_be_stored_as_it_is_is_refused(time: datetime) -> None:
    with pytest.raises(InvalidCommand):
        wire.encode_run_record(RunRecord("k", "r", "a", "t", "{}", time))


def test_a_missing_time_is_not_sent() -> None:
    same_instant = NO_TIME.replace(hour=2, tzinfo=timezone(timedelta(hours=2)))
    for time in (NO_TIME, same_instant):
        assert "timestamp" not in wire.encode_run_record(RunRecord("k", "r", "a", "t", "{}", time))
        assert "started_at" not in wire.encode_run_start(RunStart("a", "r", time))


@given(st.builds(RunStart, texts, texts, milliseconds, texts, texts, texts, st.dictionaries(texts, texts, max_size=4)))
def test_a_start_is_written_field_by_field(run: RunStart) -> None:
    written = through_json(wire.encode_run_start(run))
    assert datetime.fromisoformat(written.pop("started_at")) == run.started_at
    assert written.pop("labels") == run.labels
    assert written == {name: getattr(run, name) for name in written}
    assert len(written) == 5


@given(st.binary(max_size=200), texts)
def test_a_checkpoint_comes_back_byte_for_byte(data: bytes, id_: str) -> None:
    written = through_json(wire.encode_run_suspension(RunSuspension(id_, data)))
    assert base64.b64encode(base64.b64decode(written["data"])).decode() == written["data"]
    assert read.decode_run_suspension(written) == RunSuspension(id_, data)


def test_text_is_sent_as_utf8_and_not_as_escapes() -> None:
    assert wire.encode_json({"payload": '"é\u2028😀\x00"'}) == '{"payload":"\\"é\u2028😀\\u0000\\""}'.encode()


def test_a_lone_surrogate_is_refused_before_it_is_sent() -> None:
    with pytest.raises(InvalidCommand):
        wire.encode_json({"payload": "\ud800"})


APPEND = {"id": "1", "inserted": True, "session_status": "active"}
SESSION = {"session_id": "s", "status": "active", "created_at": "2026-03-01T10:00:00.123456Z", "ended_at": None}
RECORD = {
    "event_key": "k",
    "run_id": "r",
    "agent_id": "a",
    "session_id": "s",
    "turn_id": "",
    "type": "t",
    "payload": "{}",
    "timestamp": "2026-03-01T10:00:00.123Z",
    "id": "1",
    "stored_at": "2026-03-01T10:00:00.123Z",
}
RUN = {
    "agent_id": "a",
    "run_id": "r",
    "session_id": "",
    "parent_run_id": "",
    "status": "running",
    "start_outcome": "proceed",
    "started_at": "2026-03-01T10:00:00.123Z",
    "updated_at": "2026-03-01T10:00:00.123Z",
    "labels": {"a": "b"},
    "cancellation_reason": "",
    "record_count": 1,
    "head_digest": "00",
}
ANSWERS: dict[str, dict[str, Any]] = {
    "decode_append_result": APPEND,
    "decode_root_start": {"outcome": "stop", "started": APPEND, "canceled": APPEND},
    "decode_child_start": {"outcome": "proceed", "parent_record": APPEND, "started": APPEND, "canceled": None},
    "decode_one_shot_start": {"record": APPEND},
    "decode_one_shot_child_start": {"parent_record": APPEND, "started": APPEND},
    "decode_repair": {"outcome": "different_terminal", "status": "failed", "record": None},
    "decode_session": SESSION,
    "decode_session_status": {"status": "ended"},
    "decode_run_meta": RUN,
    "decode_run_suspension": {"id": "x", "data": "AA=="},
    "decode_stored_record": {**RECORD, "payload_bytes": 2},
    "decode_page": {"records": [RECORD], "next_cursor": "1", "end_cursor": "1"},
    "decode_session_page": {"sessions": [SESSION], "next_cursor": ""},
    "decode_run_page": {"runs": [RUN], "next_cursor": ""},
}
FREE_TEXT = {
    *("id", "event_key", "run_id", "agent_id", "session_id", "turn_id", "parent_run_id", "type", "payload"),
    *("cancellation_reason", "head_digest", "next_cursor", "end_cursor"),
}
EVERY_FIELD = [(decode, name) for decode, answer in ANSWERS.items() for name in answer]


def test_every_answer_has_a_sample_here() -> None:
    assert {name for name in dir(read) if name.startswith("decode_")} == {*ANSWERS, "decode_json"}


@pytest.mark.parametrize("decode", ANSWERS)
def test_names_that_are_not_known_are_passed_over(decode: str) -> None:
    plain = getattr(read, decode)(ANSWERS[decode])
    assert getattr(read, decode)({**ANSWERS[decode], "of_tomorrow": {"a": 1}}) == plain


@pytest.mark.parametrize(("decode", "name"), EVERY_FIELD)
@pytest.mark.parametrize("wrong", [7.5, [7], {"a": 7}, True, "no such word"], ids=repr)
def test_an_answer_that_does_not_fit_is_told_with_its_field(decode: str, name: str, wrong: object) -> None:
    if isinstance(wrong, str) and name in FREE_TEXT:
        wrong = 7
    if isinstance(wrong, bool) and name == "inserted":
        wrong = "true"
    with pytest.raises(UnexpectedAnswer) as raised:
        getattr(read, decode)({**ANSWERS[decode], name: wrong})
    assert "does not fit" in raised.value.detail


@pytest.mark.parametrize(("decode", "name"), [field for field in EVERY_FIELD if field[1] != "payload_bytes"])
def test_an_answer_without_one_of_its_fields_does_not_fit(decode: str, name: str) -> None:
    with pytest.raises(UnexpectedAnswer):
        getattr(read, decode)({key: value for key, value in ANSWERS[decode].items() if key != name})


@pytest.mark.parametrize("decode", ANSWERS)
@pytest.mark.parametrize("answer", [None, [], "text", 1, True], ids=repr)
def test_an_answer_that_is_no_object_does_not_fit(decode: str, answer: object) -> None:
    with pytest.raises(UnexpectedAnswer):
        getattr(read, decode)(answer)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"<html>", b"[" * 100_000])
def test_an_answer_that_is_no_json_is_told(content: bytes) -> None:
    with pytest.raises(UnexpectedAnswer):
        read.decode_json(content)


@pytest.mark.parametrize("time", ["2026-03-01T10:00:00.123", "2026-03-01T10:00:00.123+01:00", "2026-03-01", "now"])
def test_an_answer_whose_time_is_not_utc_does_not_fit(time: str) -> None:
    with pytest.raises(UnexpectedAnswer):
        read.decode_session({**SESSION, "created_at": time})
