"""How an id is spelled as one segment of a path. Source: the storage contract, *Ids in paths*."""

from __future__ import annotations

import base64
import binascii
import re
from urllib.parse import unquote_to_bytes

from runhold.domain.errors import InvalidCommand, size_members
from runhold.domain.fields import id_fault

_ESCAPES = re.compile(rb"(?:[^%]|%[0-9A-Fa-f]{2})*")


def decode_path_id(segment: bytes, name: str) -> str:
    """Read the id of a path segment as it was sent: percent-encoded, or ``~`` and unpadded canonical base64url.

    Args:
        segment: raw, so that ``%2F`` belongs to the id.
        name: what the id is called in the route's template.

    Raises:
        InvalidCommand: another spelling, or an id that breaks the rules of ids.
    """
    if b"%" in segment:
        if _ESCAPES.fullmatch(segment) is None:
            raise InvalidCommand(f"{name} in the path is not percent-encoded")
        segment = unquote_to_bytes(segment)
    try:
        text = (segment if segment[:1] != b"~" else _decode_base64url(segment[1:])).decode()
    except ValueError:
        raise InvalidCommand(
            f"{name} in the path must be UTF-8; after a ~ it must be unpadded canonical base64url"
        ) from None
    fault = id_fault(text)
    if fault is not None:
        raise InvalidCommand(f"{name} in the path {fault}", **size_members(fault))
    return text


def _decode_base64url(text: bytes) -> bytes:
    try:
        # Without padding only one spelling of the text is left; whether its spare bits are zero shows on the way back.
        data = base64.b64decode(text + b"=" * (-len(text) % 4), b"-_", validate=True)
    except binascii.Error:
        raise ValueError("not base64url") from None
    if base64.urlsafe_b64encode(data).rstrip(b"=") != text:
        raise ValueError("not canonical")
    return data
