"""Whether a text is one JSON value, decided without keeping what it says, in time that grows with its length alone.

A fast parser answers for nearly every payload; it is never more lenient than RFC 8259, and refuses only one thing that
is valid, escaped lone surrogates. What it refuses is judged again without them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate

import msgspec

from runhold.domain.limits import JSON_VALUES, PAYLOAD_DEPTH

NO_JSON = "must be one JSON value"

_FAST = msgspec.json.Decoder(msgspec.Raw)
# Possessive, and an unclosed string reaches to the end: nothing is looked at twice.
_A_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)'
_STRING = re.compile(_A_STRING, re.DOTALL)
_STRETCH = re.compile(rf'(?:[^"]*+{_A_STRING}){{1,4096}}+|[^"]++', re.DOTALL)
_NO_BRACKETS = bytes(byte for byte in range(256) if byte not in b"[]{}")
_ONE_KIND = bytes.maketrans(b"{}", b"[]")
_STEP = {ord("["): 1, ord("]"): -1}
_COLLAPSES = 16


def json_fault(text: str) -> str | None:
    """Say why ``text`` is not one JSON value of bounded depth, or None when it is.

    ``text`` holds no surrogates of its own (escaped ones are allowed) and any length of number. Nesting counts the
    containers open at once.
    """
    if text.count("[") + text.count("{") > PAYLOAD_DEPTH and _is_too_deep(text):
        return f"must not nest deeper than {PAYLOAD_DEPTH} levels"
    return None if _is_json(text) or _is_json(_without_surrogates(text)) else NO_JSON


def holds_too_many_values(text: str) -> bool:
    """Tell whether JSON text would take too much memory to be read: by its commas and brackets outside strings."""
    if len(text) <= JSON_VALUES or _separators(text) <= JSON_VALUES:
        return False
    found = 0
    for stretch in _without_strings(text):
        found += _separators(stretch)
        if found > JSON_VALUES:
            return True
    return False


def _is_json(text: str) -> bool:
    try:
        _FAST.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def _without_surrogates(text: str) -> str:
    """The same with other escapes in place of surrogates and of backslashes: as much JSON as before."""
    return text.replace(r"\\", "__").replace(r"\ud", r"\u0").replace(r"\uD", r"\u0")


def _separators(text: str) -> int:
    return text.count(",") + text.count("[") + text.count("{")


def _without_strings(text: str) -> Iterator[str]:
    """The text without its strings, stretch by stretch, so that millions of small parts never exist at once."""
    return (_STRING.sub("", stretch[0]) for stretch in _STRETCH.finditer(text))


def _is_too_deep(text: str) -> bool:
    """Tell whether more containers are open at once than may be; text that is no JSON may be called so, too."""
    parts = []
    depth = 0
    for stretch in _without_strings(text):
        part = stretch.encode().translate(_ONE_KIND, _NO_BRACKETS)
        depth += 2 * part.count(b"[") - len(part)
        if depth > PAYLOAD_DEPTH:
            return True
        parts.append(part)
    brackets = b"".join(parts)
    collapsed = 0
    # Each round takes the innermost containers away, which is quick; what is deeper is counted one by one.
    while collapsed < _COLLAPSES and b"[]" in brackets:
        brackets = brackets.replace(b"[]", b"")
        collapsed += 1
    return any(depth > PAYLOAD_DEPTH - collapsed for depth in accumulate(map(_STEP.__getitem__, brackets)))
