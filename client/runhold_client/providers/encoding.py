"""What the encoders share: places, tool ids and names, and JSON that must not change on the way."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from typing import Any, NoReturn

from runhold_client.providers.errors import Unencodable

Block = dict[str, Any]
"""A block of a provider's request, as its SDK takes it."""

_SAFE_ID = re.compile("[a-zA-Z0-9_-]{1,64}")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_SAFE_NAME = re.compile("[a-zA-Z0-9_-]{1,64}")


@dataclass(frozen=True)
class Place:
    """Where in a transcript an encoder is."""

    provider: str
    message_index: int = -1
    part_index: int = -1

    def at(self, part_index: int) -> Place:
        """A part of the same message."""
        return replace(self, part_index=part_index)

    def text(self, text: str, tool_use_id: str = "") -> str:
        """A text that can be sent. Raises: Unencodable for a lone surrogate, which has no UTF-8."""
        if _LONE_SURROGATE.search(text):
            raise self.error("lone_surrogate", "the text holds half a character, which cannot be sent", tool_use_id)
        return text

    def error(self, rule: str, detail: str, tool_use_id: str = "") -> Unencodable:
        """An error about this place."""
        return Unencodable(
            self.provider,
            rule,
            detail,
            message_index=self.message_index,
            part_index=self.part_index,
            tool_use_id=tool_use_id,
        )


@dataclass
class ToolWords:
    """How calls and tools are called in a provider's alphabet: letters, digits, ``_`` and ``-``, at most 64.

    An id outside of it becomes a hash of itself, the same on both sides and in every later request. A name is the
    application's to choose, as its tools are declared to the provider by it: one that does not fit is an error, unless
    ``names`` says what to send for it.
    """

    names: Mapping[str, str] = field(default_factory=dict)

    def id(self, stored: str) -> str:
        """The id to send for a stored one."""
        if _SAFE_ID.fullmatch(stored):
            return stored
        return "call-" + hashlib.sha256(stored.encode("utf-8", "surrogatepass")).hexdigest()[:40]

    def name(self, stored: str, place: Place, tool_use_id: str) -> str:
        """The name to send for a stored one. Raises: Unencodable."""
        name = self.names.get(stored, stored)
        if not _SAFE_NAME.fullmatch(name):
            raise place.error("tool_name", f"the provider takes no tool named {name!r}", tool_use_id)
        return name


class _Inexact(Exception):
    """JSON that Python values cannot hold without changing it."""


def exact_json(text: str, place: Place, tool_use_id: str) -> Any:
    """JSON text as the Python values from which an SDK writes the same JSON again.

    Raises: Unencodable when a number would be rounded, or a name is given twice.
    """
    try:
        return _EXACT.decode(text)
    except _Inexact as error:
        raise place.error("inexact_json", str(error), tool_use_id) from None
    except RecursionError:
        raise place.error("inexact_json", "the JSON is nested too deeply", tool_use_id) from None


def _exact_int(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise _Inexact(f"an integer of {len(text)} digits is too long") from None


def _exact_float(text: str) -> float:
    value = float(text)
    try:
        if Decimal(text) == Decimal(repr(value)):
            return value
    except InvalidOperation:
        pass
    raise _Inexact(f"a number of {len(text)} characters would be rounded")


def _exact_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _Inexact("an object gives a name twice")
    return found


def _no_constant(name: str) -> NoReturn:
    raise _Inexact(f"{name} is not JSON")


_EXACT = json.JSONDecoder(
    parse_int=_exact_int, parse_float=_exact_float, parse_constant=_no_constant, object_pairs_hook=_exact_object
)


def text_of(content: str) -> str | None:
    """The text that a tool result's JSON is, or none when it is something else than a text."""
    if not content.lstrip(" \t\r\n").startswith('"'):
        return None
    value = json.loads(content)
    return value if isinstance(value, str) else None


def is_json_object(text: str) -> bool:
    """Whether a text is one JSON object; numbers of any length are fine."""
    try:
        return isinstance(_SYNTAX.decode(text), dict)
    except (ValueError, RecursionError, _Inexact):
        return False


_SYNTAX = json.JSONDecoder(parse_int=len, parse_float=len, parse_constant=_no_constant)
