"""Parameters in PostgreSQL's binary format, packed here: the driver packs arrays element by element in Python.

Source: PostgreSQL's ``array_send``: dimensions, whether there are nulls, the element's type, then for the one dimension
its length and lower bound, then each element with its length in bytes (-1 for null).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from struct import Struct

INT8 = 20
TEXT = 25
BYTEA = 17
UUID = 2950
INT8_ARRAY = 1016
TEXT_ARRAY = 1009
BYTEA_ARRAY = 1001
UUID_ARRAY = 2951

_INT8 = Struct(">q")
_HEAD = Struct(">iiiii")
_EMPTY_HEAD = Struct(">iii")
_LENGTH = Struct(">i")
_NULL = _LENGTH.pack(-1)

Pack = Callable[[Sequence[object]], bytes]


def int8(value: int) -> bytes:
    """Pack one ``bigint``."""
    return _INT8.pack(value)


def text(value: str) -> bytes:
    """Pack one ``text``."""
    return value.encode()


def int8_array(values: Sequence[int]) -> bytes:
    """Pack a ``bigint[]``."""
    count = len(values)
    if not count:
        return _EMPTY_HEAD.pack(0, 0, INT8)
    # Each element: its length, 8, and itself.
    flat = [8] * (2 * count)
    flat[1::2] = values
    return _HEAD.pack(1, 0, INT8, count, 1) + _int8_elements(count).pack(*flat)


def nullable_int8_array(values: Sequence[int | None]) -> bytes:
    """Pack a ``bigint[]`` in which some may be null."""
    present = [value for value in values if value is not None]
    if len(present) == len(values):
        return int8_array(present)
    packed = [None if value is None else _INT8.pack(value) for value in values]
    return _array(INT8, packed)


def text_array(values: Sequence[str]) -> bytes:
    """Pack a ``text[]``."""
    return _array(TEXT, [value.encode() for value in values])


def bytea_array(values: Sequence[bytes]) -> bytes:
    """Pack a ``bytea[]``."""
    return _array(BYTEA, values)


def uuid_array(values: Sequence[bytes]) -> bytes:
    """Pack a ``uuid[]`` of 16 bytes each."""
    return _array(UUID, values)


def _array(element: int, values: Sequence[bytes | None]) -> bytes:
    if not values:
        return _EMPTY_HEAD.pack(0, 0, element)
    pack = _LENGTH.pack
    parts = [_HEAD.pack(1, int(None in values), element, len(values), 1)]
    for value in values:
        if value is None:
            parts.append(_NULL)
        else:
            parts.append(pack(len(value)))
            parts.append(value)
    return b"".join(parts)


@lru_cache(512)
def _int8_elements(count: int) -> Struct:
    return Struct(">" + "iq" * count)
