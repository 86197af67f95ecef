"""Payload text: one JSON value of bounded depth, judged as the standard library judges it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runhold.domain.json_text import json_fault


def refuse(name: str) -> None:
    raise ValueError(name)


EXACT = json.JSONDecoder(parse_int=len, parse_float=len, parse_constant=refuse)


def is_json(text: str) -> bool:
    try:
        EXACT.decode(text)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize(
    "text",
    [
        "1",
        ' {"a" : [ true , false, null ] }\n',
        '{"a":1,"a":2}',
        '"\\ud800"',
        '["\\u0000", "\\udc00\\ud800"]',
        "1" * 5_000,
        "-0." + "1" * 400,
        "1e400000",
        '"\u2028\x7f"',
        "[" * 500 + "]" * 500,
        '{"a":' * 500 + "1" + "}" * 500,
        '["' + "[" * 600 + '"]',
        "[" + ",".join(["[]"] * 1_000) + "]",
        '["\\"[[[", ' + "[]," * 600 + "0]",
    ],
)
def test_valid_json_passes(text: str) -> None:
    assert json_fault(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "NaN",
        "-Infinity",
        "01",
        "+1",
        "1.",
        ".5",
        "1 2",
        "[1,]",
        '{"a":1,}',
        "{'a':1}",
        "// comment\n1",
        '"\t"',
        '"\\x41"',
        '"\\u12"',
        "\ufeff1",
        "\u00a01",
        "[" * 501 + "]" * 501,
        "[" * 200_000,
        '{"a":' * 501 + "1" + "}" * 501,
        '["\\ud800", ' + "[" * 500 + "]" * 500 + "]",
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    assert json_fault(text) is not None


@given(
    st.lists(
        st.sampled_from([*'{}[],:"\\ud80019-+.eEtrufalsn \n\t', "\\u0041", "\\ud800", '"a"', "null", "é", "\u00a0"]),
        max_size=12,
    ).map("".join)
)
def test_the_fast_parser_and_the_exact_one_agree(text: str) -> None:
    assert (json_fault(text) is None) == is_json(text)


@given(st.recursive(st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text(), st.lists))
def test_what_json_writes_is_json(value: object) -> None:
    assert json_fault(json.dumps(value)) is None
