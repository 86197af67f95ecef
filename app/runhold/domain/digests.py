"""The chain of record digests: each covers every field of its record and the digest before it.

SHA-256, or HMAC-SHA-256 under the integrity key when one is configured, so that someone with only the database cannot
forge a chain. Fields are length-prefixed, so no two records share an encoding.
"""

from __future__ import annotations

import hashlib
import hmac
from struct import Struct

from runhold.domain.values import Milliseconds, RunRecord

DIGEST_BYTES = 32
_NUMBERS = Struct(">qqqq8I")


def first_digest(namespace: str) -> bytes:
    """What stands before a run's first record: the digest of its namespace."""
    return hashlib.sha256(b"runhold/1\x00" + namespace.encode()).digest()


class Digester:
    """Computes record digests, with or without a key."""

    def __init__(self, integrity_key: bytes = b"") -> None:
        self._keyed = hmac.new(integrity_key, digestmod=hashlib.sha256) if integrity_key else None

    def digest(
        self,
        previous: bytes,
        record: RunRecord,
        position: int,
        session_position: int,
        stored_at: Milliseconds,
    ) -> bytes:
        """Digest one record: 32 bytes over all its fields and ``previous``, the digest of the record before it."""
        parts = (
            record.event_key.encode(),
            record.run_id.encode(),
            record.agent_id.encode(),
            record.session_id.encode(),
            record.turn_id.encode(),
            record.type.encode(),
            record.payload.encode(),
            previous,
        )
        numbers = _NUMBERS.pack(position, session_position, record.timestamp, stored_at, *map(len, parts))
        message = b"".join((numbers, *parts))
        if self._keyed is None:
            return hashlib.sha256(message).digest()
        keyed = self._keyed.copy()
        keyed.update(message)
        return keyed.digest()
