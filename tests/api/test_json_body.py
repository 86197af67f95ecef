"""Bodies as bytes, without a server."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runhold.api.json_body import Number, RepeatedNames, parse_body, repeated_names
from runhold.domain.errors import InvalidCommand, MalformedRequest

TEXTS = st.recursive(
    st.none() | st.booleans() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
)


@given(TEXTS, st.booleans())
def test_every_value_without_numbers_comes_back_as_it_was(value: Any, ensure_ascii: bool) -> None:
    text = json.dumps(value, ensure_ascii=True if ensure_ascii else _has_surrogates(value))
    assert parse_body(text.encode()) == value


def _has_surrogates(value: Any) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in json.dumps(value, ensure_ascii=False))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" ",
        b"{",
        b"[1,]",
        b'{"a":1,}',
        b"{'a':1}",
        b"nul",
        b"NaN",
        b"[Infinity]",
        b"[-Infinity]",
        b"01",
        b"+1",
        b"1.",
        b"// x\n1",
        b"1 2",
        b'"\x01"',
        b'"\\x"',
        b'"\xff"',
        b'"\xed\xa0\x80"',
        b"\xef\xbb\xbf{}",
        '{"a":1}'.encode("utf-16"),
    ],
)
def test_what_is_not_json_in_utf8_is_malformed(body: bytes) -> None:
    with pytest.raises(MalformedRequest):
        parse_body(body)


@pytest.mark.parametrize("number", ["0", "-1", "1e400", "9" * 5_000, "-0.0", "0." + "1" * 400])
def test_a_number_of_any_length_is_read_without_being_converted(number: str) -> None:
    assert isinstance(parse_body(f'{{"a":{number}}}'.encode())["a"], Number)


@pytest.mark.parametrize("body", [b"[" * 200_000 + b"]" * 200_000, b'{"a":' * 200_000 + b"1" + b"}" * 200_000])
def test_a_nesting_bomb_is_refused(body: bytes) -> None:
    with pytest.raises(InvalidCommand):
        parse_body(body)


def test_a_name_given_twice_is_pointed_to_at_any_level() -> None:
    parsed = parse_body(b'{"a":[{"b/~":1,"b/~":2}],"c":{"d":{"e":1,"\\u0065":2}},"a2":{"x":1}}')
    assert sorted(repeated_names(parsed, "")) == ["/a/0/b~1~0", "/c/d/e"]
    assert isinstance(parsed["c"]["d"], RepeatedNames)


def test_a_label_given_twice_is_not_quoted() -> None:
    assert list(repeated_names(parse_body(b'{"labels":{"secret":"1","secret":"2"}}'), "")) == ["/labels"]
