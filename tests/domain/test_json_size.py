"""JSON of any size is judged in time and memory that grow with its length alone, however it is made."""

from __future__ import annotations

import json
import time
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runhold.domain.json_text import NO_JSON, holds_too_many_values, json_fault
from runhold.domain.limits import JSON_VALUES, PAYLOAD_DEPTH
from runhold.domain.payloads import PayloadError, decode_cancellation_intent, decode_run_started

SIZE = 1 * 1024 * 1024
PIECES = ("[", "]", "{", "}", '"', "\\", ",", ":", "\\u0022", "\\ud800", "a", "1", "[]", '""', '"[', '\\"', "{}")
BOMBS = {
    "numbers": ("[", "1,", "1]"),
    "lists": ("[", "[],", "[]]"),
    "lists beside half an emoji": ('["\\ud800",', "[],", "[]]"),
    "objects": ("[", '{"a":0},', "{}]"),
    "brackets in a string": ('"', "[", '"'),
    "escaped quotes in a string": ('"', '\\"[', '"'),
    "a string that never ends": ('[["', '[\\"', ""),
    "backslashes that never end": ('"' + "[" * 600, "\\", ""),
    "short strings": ("[", '"a[",', '""]'),
    "deep lists": ("", "[", ""),
    "deep objects": ("", '{"a":', ""),
    "towers": ("[", "[" * 400 + "]" * 400 + ",", "[]]"),
    "a saw": ("[" * 490, "[[]],", ""),
}


def filled(begin: str, unit: str, end: str) -> str:
    return begin + unit * ((SIZE - len(begin) - len(end)) // len(unit)) + end


@pytest.mark.parametrize("parts", BOMBS.values(), ids=list(BOMBS))
def test_a_bomb_is_judged_within_a_second_and_little_memory(parts: tuple[str, str, str]) -> None:
    text = filled(*parts)
    tracemalloc.start()
    begun = time.process_time()
    json_fault(text)
    holds_too_many_values(text)
    took = time.process_time() - begun
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # Tracing itself slows it down several times; what grows with the square of the length takes minutes.
    assert took < 10
    assert peak < 8 * SIZE


def depth_of(text: str) -> int:
    """Containers open at once, counted one character after the other."""
    depth = deepest = 0
    inside = escaped = False
    for character in text:
        if inside:
            inside = escaped or character != '"'
            escaped = character == "\\" and not escaped
        elif character == '"':
            inside = True
        elif character in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif character in "]}":
            depth -= 1
    return deepest


def is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


@given(st.lists(st.sampled_from(PIECES), max_size=60), st.integers(PAYLOAD_DEPTH - 12, PAYLOAD_DEPTH + 2))
def test_nesting_is_counted_outside_strings_only(pieces: list[str], around: int) -> None:
    text = "[" * around + "".join(pieces) + "]" * around
    if json_fault(text) is None:
        assert depth_of(text) <= PAYLOAD_DEPTH
    elif json_fault(text) != NO_JSON:
        # Text that is no JSON either may be called too deep.
        assert depth_of(text) > PAYLOAD_DEPTH or not is_json(text)


@pytest.mark.parametrize("depth", [2, 15, 16, 17, 499, 500])
def test_depth_is_exact_whatever_stands_beside_it(depth: int) -> None:
    around = ",".join(['["[",{"]":"\\"["}]'] * 600)
    assert json_fault(f"[{around}," + "[" * (depth - 1) + "]" * (depth - 1) + f",{around}]") is None
    too_deep = "[" * PAYLOAD_DEPTH + "]" * PAYLOAD_DEPTH
    assert json_fault(f"[{around},{too_deep},{around}]") == "must not nest deeper than 500 levels"


def test_values_are_counted_outside_strings_only() -> None:
    assert not holds_too_many_values('["' + "," * 2 * JSON_VALUES + '"]')
    assert not holds_too_many_values("[" + "1," * (JSON_VALUES - 1) + "1]")
    assert holds_too_many_values("[" + "1," * JSON_VALUES + "1]")
    assert holds_too_many_values("[" + "{}," * JSON_VALUES + "{}]")


@pytest.mark.parametrize("escape", ["\\ud800", "\\uDFFF", "\\\\\\ud800", "\\\\ud800", "\\\\\\\\\\udc00\\ud800"])
def test_an_escaped_half_of_a_pair_hides_no_other_fault(escape: str) -> None:
    assert json_fault(f'["{escape}"]') is None
    assert json_fault(f'["{escape}]') == NO_JSON
    assert json_fault(f'["{escape}",]') == NO_JSON
    assert json_fault(f'["{escape}", NaN]') == NO_JSON
    assert json_fault(f'["{escape}", "\\ud80"]') == NO_JSON
    assert json_fault(f"[{escape}]") == NO_JSON


def test_a_typed_payload_of_too_many_values_is_not_read() -> None:
    many = ",".join(["0"] * (JSON_VALUES + 1))
    with pytest.raises(PayloadError, match="this many values"):
        decode_cancellation_intent(f'{{"by":[{many}],"reason":"r"}}')
    with pytest.raises(PayloadError, match="this many values"):
        decode_run_started(f'{{"Labels":[{many}]}}')
