"""From the bytes of a request body to plain values, strictly: RFC 8259 in UTF-8 without BOM, and no name twice.

The standard library's scanner with a hook for objects is exact and takes a third of the time that a request may cost;
faster parsers take the last of two equal names and refuse escaped lone surrogates, which must get another answer.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from runhold.domain.errors import InvalidCommand, MalformedRequest
from runhold.domain.json_text import NO_JSON, holds_too_many_values, json_fault

TOO_DEEP = "must not nest this deep"
TOO_MANY = "must not hold this many values"
REPEATED = "must not be given twice"

_NAME_SHOWN = 128
"""Characters of an unknown or repeated name that are quoted back."""


class Number:
    """A number, which no field of any request takes: its length is unbounded, so it is never converted."""


class RepeatedNames(dict[str, Any]):
    """An object in which names were given twice; ``repeated`` holds each once."""

    repeated: list[str]


class _RepeatedNameError(Exception):
    pass


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _RepeatedNameError
    return found


def _marked(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    marked = RepeatedNames(found)
    marked.repeated = [name for name, times in Counter(name for name, _ in pairs).items() if times > 1]
    return marked


def _number(_: str) -> Number:
    return Number()


def _constant(_: str) -> NoReturn:
    raise ValueError("not JSON")


_STRICT = json.JSONDecoder(object_pairs_hook=_unique, parse_int=_number, parse_float=_number, parse_constant=_constant)
_scan: Callable[[str, int], tuple[Any, int]] = vars(_STRICT)["scan_once"]
_MARKING = json.JSONDecoder(
    object_pairs_hook=_marked, parse_int=_number, parse_float=_number, parse_constant=_constant
).decode


def parse_body(body: bytes) -> Any:
    """Read a body. Objects that give a name twice come back as ``RepeatedNames``, for the reader to refuse in place.

    Raises:
        MalformedRequest: not JSON, not UTF-8, or with a BOM.
        InvalidCommand: nested so deep, or of so many values, that no request could be.
    """
    try:
        text = body.decode()
    except UnicodeDecodeError:
        raise MalformedRequest("the body is not UTF-8") from None
    if holds_too_many_values(text):
        raise _too_large(text)
    try:
        if text[:1] == "{":
            # Nearly every body is one object and nothing around it.
            value, end = _scan(text, 0)
            if end == len(text):
                return value
        return _STRICT.decode(text)
    except _RepeatedNameError:
        return _parse_marking(text)
    except (ValueError, StopIteration):
        raise MalformedRequest("the body is not JSON") from None
    except RecursionError:
        raise _too_deep() from None


def _parse_marking(text: str) -> Any:
    try:
        return _MARKING(text)
    except ValueError:
        raise MalformedRequest("the body is not JSON") from None
    except RecursionError:
        raise _too_deep() from None


def _too_deep() -> InvalidCommand:
    return InvalidCommand(f"body: {TOO_DEEP}", errors=[{"pointer": "", "detail": TOO_DEEP}])


def _too_large(text: str) -> MalformedRequest | InvalidCommand:
    """Refuse a body that is not worth reading, without reading it: it may not be JSON at all."""
    fault = json_fault(text)
    if fault == NO_JSON:
        return MalformedRequest("the body is not JSON")
    return InvalidCommand(f"body: {TOO_MANY}", errors=[{"pointer": "", "detail": TOO_MANY}])


def pointer_to(parent: str, name: str) -> str:
    """Point to a name in an object, as RFC 6901 asks; of a very long name, to the object."""
    if len(name) > _NAME_SHOWN:
        return parent
    shown = name.replace("~", "~0").replace("/", "~1")
    # A lone surrogate has no UTF-8, and the problem document must.
    return f"{parent}/{shown.encode(errors='replace').decode()}"


def repeated_names(value: Any, pointer: str) -> Iterator[str]:
    """Point to every name that was given twice, at any level of ``value``."""
    waiting = [(value, pointer)]
    while waiting:
        found, where = waiting.pop()
        if isinstance(found, dict):
            if isinstance(found, RepeatedNames):
                # What labels are called is never quoted.
                names = [""] if where.endswith("/labels") else found.repeated
                yield from (pointer_to(where, name) if name else where for name in names)
            waiting.extend((inner, pointer_to(where, name)) for name, inner in found.items())
        elif isinstance(found, list):
            waiting.extend((inner, f"{where}/{index}") for index, inner in enumerate(found))
