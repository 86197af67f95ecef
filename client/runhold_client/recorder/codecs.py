"""How a step's value becomes its record's payload, and comes back.

What a step returns is always what its record says, the first time, too: so a resumed run cannot see another value than
an uninterrupted one.
"""

from __future__ import annotations

import json
import re
from typing import Any, Generic, Protocol, TypeVar

import msgspec

Value = TypeVar("Value")

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


class Codec(Protocol[Value]):
    """A value's way to JSON text and back."""

    def encode(self, value: Value, /) -> str:
        """Write the value as one JSON value. Raises: ValueError or TypeError when it has none."""
        ...

    def decode(self, payload: str, /) -> Value:
        """Read what ``encode`` wrote. Raises: ValueError when it does not fit."""
        ...


class JsonValues:
    """Any JSON value: ``None``, truth values, numbers, text, lists, objects with text as names.

    Half a character outside the basic plane, as models sometimes send it, is stored as its escape.
    """

    def encode(self, value: Any, /) -> str:
        """Write the value; a tuple becomes an array. Raises: ValueError for NaN, TypeError for what is not JSON."""
        return _LONE_SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", _ENCODER.encode(value))

    def decode(self, payload: str, /) -> Any:
        """Read the value. Raises: ValueError when it is not JSON."""
        return json.loads(payload)


class Typed(Generic[Value]):
    """Values of one type that msgspec knows: dataclasses, structs, attrs classes, typed dicts, unions of them.

    Args: of is the type, as in ``Typed(Reply)`` or ``Typed(list[Reply])``.
    """

    def __init__(self, of: type[Value]) -> None:
        self._of = of

    def encode(self, value: Value, /) -> str:
        """Write the value. Raises: TypeError when part of it has no JSON form."""
        return JSON.encode(msgspec.to_builtins(value, str_keys=True))

    def decode(self, payload: str, /) -> Value:
        """Read the value. Raises: ValueError when it is not JSON or not of the type."""
        try:
            return msgspec.convert(JSON.decode(payload), self._of, str_keys=True)
        except msgspec.ValidationError as error:
            raise ValueError(str(error)) from None


JSON = JsonValues()
"""The codec of steps that name none."""
