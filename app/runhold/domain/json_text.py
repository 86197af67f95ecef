"""Whether a text is one JSON value, decided without keeping what it says.

A fast parser answers for nearly every payload; it is never more lenient than RFC 8259, and refuses only one thing that
is valid, escaped lone surrogates. What it refuses is judged again by an exact parser.
"""

from __future__ import annotations

import json
import re
from itertools import accumulate

import msgspec

from runhold.domain.limits import PAYLOAD_DEPTH

_FAST = msgspec.json.Decoder(msgspec.Raw)
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_BRACKET = re.compile(r"[\[\]{}]")
_STEP = {"[": 1, "{": 1, "]": -1, "}": -1}


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


# Numbers are measured, not converted: their length is unbounded, and only their spelling counts.
_EXACT = json.JSONDecoder(parse_int=len, parse_float=len, parse_constant=_refuse_constant)


def json_fault(text: str) -> str | None:
    """Say why ``text`` is not one JSON value of bounded depth, or None when it is.

    ``text`` holds no surrogates of its own (escaped ones are allowed) and any length of number. Nesting counts the
    containers open at once.
    """
    if text.count("[") + text.count("{") > PAYLOAD_DEPTH and _depth(text) > PAYLOAD_DEPTH:
        return f"must not nest deeper than {PAYLOAD_DEPTH} levels"
    try:
        _FAST.decode(text)
    except (msgspec.DecodeError, RecursionError):
        try:
            _EXACT.decode(text)
        except ValueError:
            return "must be one JSON value"
    return None


def _depth(text: str) -> int:
    brackets = _BRACKET.findall(_STRING.sub("", text))
    return max(accumulate(map(_STEP.__getitem__, brackets)), default=0)
