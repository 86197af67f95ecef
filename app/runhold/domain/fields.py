"""The rules of single fields: each function says what is wrong with a value, or None.

They read no state and know no HTTP; whoever builds a command (the API, the local store) asks them first. Source: the
storage contract, *Values*.
"""

from __future__ import annotations

import base64
import binascii
from typing import Self

from runhold.domain.json_text import json_fault
from runhold.domain.limits import (
    CHECKPOINT_BYTES,
    ID_BYTES,
    LABELS,
    LABELS_BYTES,
    PAYLOAD_BYTES,
    REASON_BYTES,
)

LONE_SURROGATE = "must not hold a lone surrogate"
NUL = "must not hold U+0000"


class OverLimit(str):
    """What is wrong with a value that is too large, with both numbers for programs."""

    __slots__ = ("actual", "limit")

    limit: int
    actual: int

    def __new__(cls, text: str, limit: int, actual: int) -> Self:
        """Keep the numbers beside the text."""
        found = super().__new__(cls, text)
        found.limit, found.actual = limit, actual
        return found


def _bytes_over(limit: int, size: int) -> OverLimit:
    return OverLimit(f"must be at most {limit} bytes of UTF-8, is {size}", limit, size)


def utf8_bytes(text: str) -> int | None:
    """Size of ``text`` in UTF-8, or None when it holds a lone surrogate and has none."""
    if text.isascii():
        return len(text)
    try:
        return len(text.encode())
    except UnicodeEncodeError:
        return None


def id_fault(value: str) -> str | None:
    """Judge an id, event key, turn id, type: any text up to 1,024 bytes without U+0000."""
    if value.isascii() and len(value) <= ID_BYTES:
        return NUL if "\0" in value else None
    size = utf8_bytes(value)
    if size is None:
        return LONE_SURROGATE
    if size > ID_BYTES:
        return _bytes_over(ID_BYTES, size)
    return NUL if "\0" in value else None


def reason_fault(value: str) -> str | None:
    """Judge a cancellation reason: any text up to 16 KiB without U+0000."""
    size = utf8_bytes(value)
    if size is None:
        return LONE_SURROGATE
    if size > REASON_BYTES:
        return _bytes_over(REASON_BYTES, size)
    return NUL if "\0" in value else None


def labels_fault(labels: dict[str, str]) -> str | None:
    """Judge labels: up to 256, up to 64 KiB of names and values together; U+0000 is allowed in both."""
    if not labels:
        return None
    if len(labels) > LABELS:
        return OverLimit(f"must be at most {LABELS} labels, are {len(labels)}", LABELS, len(labels))
    size = utf8_bytes("".join(labels.keys()) + "".join(labels.values()))
    if size is None:
        return LONE_SURROGATE
    if size > LABELS_BYTES:
        return OverLimit(f"must be at most {LABELS_BYTES} bytes of UTF-8 together, are {size}", LABELS_BYTES, size)
    return None


def payload_bytes_over(payload: str) -> int | None:
    """Size of a payload that is over the limit, in bytes of UTF-8; None for one that is within."""
    if len(payload) * 4 <= PAYLOAD_BYTES:
        return None
    size = utf8_bytes(payload) or 0
    return size if size > PAYLOAD_BYTES else None


def payload_fault(payload: str) -> str | None:
    """Judge a payload's text: one JSON value. ``""`` is a missing one, which the record's shape refuses."""
    if not payload:
        return None
    if not payload.isascii() and utf8_bytes(payload) is None:
        return LONE_SURROGATE
    return json_fault(payload)


def checkpoint_bytes_over(data: bytes) -> int | None:
    """Size of a checkpoint that is over the limit; None for one that is within."""
    return len(data) if len(data) > CHECKPOINT_BYTES else None


def decode_checkpoint(text: str) -> bytes | None:
    """Decode standard base64, padded and canonical; None for any other spelling, two of which could be one retry."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return data if base64.b64encode(data).decode() == text else None
