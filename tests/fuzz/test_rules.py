"""The rules of single values against the independent model's own statement of them, on texts of any kind.

Both must read the same value, or both refuse.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from runhold.api.json_body import RepeatedNames, parse_body
from runhold.api.path_ids import decode_path_id
from runhold.domain import fields, paging, payloads
from runhold.domain.errors import ContractError, MalformedRequest
from runhold.domain.payloads import PayloadError
from runhold.domain.times import TimeError, parse_run_time, parse_session_time
from runhold.domain.values import NO_TIME
from tests.model import lists, values
from tests.model import payloads as stated
from tests.model.choose import Drawn
from tests.model.commands import compact, completion
from tests.model.mutations import ODD_TIMES, changed_payload
from tests.model.profile import FULL
from tests.model.values import Obj, Refused

many = settings(max_examples=5_000 if FULL else 200, deadline=None)

REFUSED = object()


def judged(read: Callable[[Any], Any], value: Any) -> Any:
    """What is read, or that it is refused."""
    try:
        return read(value)
    except (ContractError, PayloadError, TimeError, Refused, ValueError):
        return REFUSED


STARTED = compact({"ParentRunID": "p", "PredecessorRunID": "", "Labels": {"a": "b"}})
LINKED = compact({"ToolName": "t", "ToolCallID": "c", "ChildRunID": "r", "ChildAgentID": "a"})
SUSPENDED = compact({"SuspensionID": "s", "Version": "1", "PendingCount": 7, "RequiredTools": ["t"]})
INTENT = compact({"by": {"a": [1, None]}, "reason": "user"})
DECODERS: dict[str, tuple[list[str], Callable[[str], Any], Callable[[str], Any]]] = {
    "run_started": (
        [STARTED, "{}"],
        lambda text: _attributes(payloads.decode_run_started(text)),
        lambda text: vars(stated.started(text)),
    ),
    "child_run_linked": (
        [LINKED],
        lambda text: _attributes(payloads.decode_child_run_linked(text)),
        lambda text: vars(stated.linked(text)),
    ),
    "run_suspended": (
        [SUSPENDED],
        lambda text: payloads.decode_run_suspended(text).suspension_id,
        stated.suspended,
    ),
    "run_completed": (
        [compact(completion(status, "r", {"a": "b"})) for status in ("completed", "failed", "canceled")],
        lambda text: _attributes(payloads.decode_run_completed(text)),
        lambda text: vars(stated.completed(text)),
    ),
    "runtime.cancellation_intent": ([INTENT], payloads.decode_cancellation_intent, stated.intent),
}


def _attributes(value: Any) -> dict[str, Any]:
    return {name: getattr(value, name) for name in value.__struct_fields__}


@pytest.mark.parametrize("kind", list(DECODERS))
@many
@given(data=st.data())
def test_a_typed_payload_is_read_as_the_contract_says(kind: str, data: st.DataObject) -> None:
    texts, read, state = DECODERS[kind]
    choose = Drawn(data)
    payload: Any = choose.pick(texts)
    for _ in range(choose.pick([1, 2, 3, 0])):
        changed = changed_payload(choose, payload, ["id", "\ud800"])
        payload = changed if isinstance(changed, str) else payload
    assert judged(read, payload) == judged(state, payload)


@many
@given(
    st.text()
    | st.lists(st.sampled_from(["~", "%", "%2F", "%41", "%c3%A9", "%ff", "A", "Q", "_", "-", "=", "é", "%00"]))
)
@example("~")
@example("~QQ")
@example("~QR")
@example("%7EQQ")
@example("~%51Q")
@example("~" + "QUFB" * 341 + "QQ")
@example("~" + "QUFB" * 342)
def test_a_path_id_is_read_as_the_contract_says(segment: str | list[str]) -> None:
    text = segment if isinstance(segment, str) else "".join(segment)
    spelled = "".join(
        character for character in text if character not in "/?#" and not "\ud800" <= character <= "\udfff"
    )
    assert judged(lambda raw: decode_path_id(raw, "run_id"), spelled.encode()) == judged(values.path_id, spelled)


DIGITS = st.text("0123456789", min_size=1, max_size=5)
TIMES = st.one_of(
    st.builds(
        lambda y, mo, d, h, mi, s, f, z: f"{y:04}-{mo:02}-{d:02}T{h:02}:{mi:02}:{s:02}{f}{z}",
        *(st.integers(0, top) for top in (9999, 13, 32, 24, 60, 60)),
        st.sampled_from(["", ".", ".1", ".001", ".0009", ".999999999", ".1230000", "." + "0" * 50]),
        st.sampled_from(["Z", "z", "", "+00:00", "-23:59", "+24:00", "+1:00", "+05:30", "-00:60", " "]),
    ),
    st.sampled_from([time for time in ODD_TIMES if isinstance(time, str)]),
    st.from_regex(
        r"[0-9]{4}-[01][0-9]-[0-3][0-9][Tt][0-2][0-9]:[0-6][0-9]:[0-6][0-9](\.[0-9]{1,9})?[Zz]", fullmatch=True
    ),
    st.text("0123456789-:TZ.+", max_size=30),
)


@many
@given(TIMES)
def test_a_time_is_read_as_the_contract_says(text: str) -> None:
    stated_ms, stated_us = judged(values.milliseconds, text), judged(values.microseconds, text)
    assert judged(parse_run_time, text) == (REFUSED if stated_ms is REFUSED else stated_ms + NO_TIME)
    missing = stated_us == 0
    expected = REFUSED if stated_us is REFUSED else None if missing else stated_us + NO_TIME * 1000
    assert judged(parse_session_time, text) == expected


@many
@given(st.text("0123456789-+ x", max_size=22) | st.integers(0, 2**64).map(str))
@example(str(2**63 - 1))
@example(str(2**63))
@example("9" * 5_000)
@example("٣")
def test_limits_and_cursors_of_a_run_are_read_as_the_contract_says(text: str) -> None:
    def stated_cursor(text: str) -> int:
        if text == "" or (
            text.isascii() and text.isdigit() and text[0] != "0" and len(text) < 20 and int(text) < 2**63
        ):
            return int(text or "0")
        raise ValueError

    assert judged(paging.parse_run_cursor, text) == judged(stated_cursor, text)
    assert judged(paging.parse_limit, text) == judged(lists._limit, text)


TAGS = [
    paging.session_records_tag(namespace, session, paging.RecordQuery(types=types, descending=descending))
    for namespace in ("default", "other")
    for session in ("s", "t")
    for types in ((), ("a",), ("a", "b"))
    for descending in (False, True)
]


@many
@given(st.sampled_from(TAGS), st.sampled_from(TAGS), st.integers(1, 2**63 - 1))
def test_an_opaque_cursor_is_good_for_its_own_list_alone(tag: bytes, other: bytes, position: int) -> None:
    cursor = paging.position_cursor(position, tag)
    assert judged(lambda text: paging.parse_position_cursor(text, other), cursor) == (
        position if tag == other else REFUSED
    )


@many
@given(st.integers(1, 2**63 - 1), st.text(), st.data())
def test_an_opaque_cursor_has_one_spelling(position: int, id_: str, data: st.DataObject) -> None:
    """Whatever is changed, cut or added: what is accepted is what would be written."""
    tag = TAGS[0]
    id_ = "".join(character for character in id_ if not "\ud800" <= character <= "\udfff" and character != "\0")
    ways: list[tuple[str, Callable[[str], str]]] = [
        (
            paging.position_cursor(position, tag),
            lambda text: paging.position_cursor(paging.parse_position_cursor(text, tag), tag),
        ),
        (
            paging.key_cursor((position, id_ or "r"), tag),
            lambda text: paging.key_cursor(paging.parse_key_cursor(text, tag), tag),
        ),
    ]
    for text, again in ways:
        place = data.draw(st.integers(0, len(text)))
        piece = data.draw(st.text("AQgw_-=+/ é", max_size=2))
        changed = text[:place] + piece + text[place + data.draw(st.integers(0, 2)) :]
        assert judged(again, changed) in (changed, REFUSED)


@many
@given(st.binary(max_size=40), st.text("AQgw+/=-_ \n*", max_size=8))
def test_a_checkpoint_is_read_as_the_contract_says(data: bytes, text: str) -> None:
    for spelled in (text, base64.b64encode(data).decode(), base64.b64encode(data).decode() + text[:1]):
        stated_data = judged(values.checkpoint, spelled)
        assert fields.decode_checkpoint(spelled) == (None if stated_data is REFUSED else stated_data)


TEXTS = st.text(st.sampled_from("aé\0\ud800\udc00\U0001f331 ~"), max_size=20)
LONG = st.builds(lambda text, times: text * times, TEXTS, st.sampled_from([1, 60, 300, 2_000]))


@many
@given(LONG, st.dictionaries(TEXTS, LONG, max_size=5))
def test_ids_reasons_and_labels_are_judged_as_the_contract_says(text: str, labels: dict[str, str]) -> None:
    assert (fields.id_fault(text) is not None) == (judged(values.identifier, text) is REFUSED)
    assert (fields.reason_fault(text) is not None) == (judged(values.reason, text) is REFUSED)
    stated_labels = judged(values.labels, Obj(list(labels.items())))
    assert (fields.labels_fault(labels) is not None) == (stated_labels is REFUSED)


BODIES = st.one_of(
    st.binary(max_size=60),
    st.lists(
        st.sampled_from(
            ['{"a":', "}", "[", "]", '"x"', ",", "1", "null", " ", '"\\ud800"', "NaN", "\ufeff", '"\x01"', "é"]
        ),
        max_size=12,
    ).map(lambda pieces: "".join(pieces).encode()),
    st.text(max_size=20).map(lambda text: compact({"a": text}).encode("utf-16")),
)


@many
@given(BODIES)
def test_a_body_is_json_or_malformed_as_the_contract_says(body: bytes) -> None:
    try:
        read = _plain(parse_body(body))
    except MalformedRequest:
        read = REFUSED
    stated_body = judged(values.decode_body, body)
    assert read == (REFUSED if stated_body is REFUSED else _plain_statement(stated_body))


def _plain(value: Any) -> Any:
    """A parsed body without its numbers, which nothing takes; repeated names marked."""
    if isinstance(value, dict):
        members = {name: _plain(member) for name, member in value.items()}
        return (members, sorted(value.repeated)) if isinstance(value, RepeatedNames) else members
    if isinstance(value, list):
        return [_plain(member) for member in value]
    return value if isinstance(value, str | bool | None) else "a number"


def _plain_statement(value: Any) -> Any:
    if isinstance(value, Obj):
        members = {name: _plain_statement(member) for name, member in value.pairs}
        repeated = sorted({name for name in value.names if value.names.count(name) > 1})
        return (members, repeated) if repeated else members
    if isinstance(value, list):
        return [_plain_statement(member) for member in value]
    return "a number" if isinstance(value, values.Number) else value
