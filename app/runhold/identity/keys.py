"""API keys: what one looks like, and what is kept of it.

A key is ``rh.ID.SECRET``. The secret is 256 random bits, so a plain SHA-256 keeps it: there is no dictionary to try,
and a slow hash would only slow every request.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from datetime import UTC, datetime

import msgspec

from runhold.api.identity import Principal, Role

PREFIX = "rh."
_ID_ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789"
_ID_LENGTH = 10
_SECRET_BYTES = 32
_NO_HASH = bytes(32)


class ApiKey(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is kept of a key."""

    id: str
    role: Role
    namespace: str
    secret_sha256: str
    """Lower-case hexadecimal."""
    created_at: datetime
    name: str = ""
    """What it is for, for people."""

    @property
    def principal(self) -> Principal:
        """Who calls with this key."""
        return Principal(self.namespace, self.role, self.id)


def new_key(role: Role, namespace: str, name: str = "") -> tuple[str, ApiKey]:
    """Make a key. Returns: its text, which is told once and never kept, and what is kept of it."""
    key_id = "".join(secrets.choice(_ID_ALPHABET) for _ in range(_ID_LENGTH))
    secret = secrets.token_urlsafe(_SECRET_BYTES)
    kept = ApiKey(key_id, role, namespace, _hash(secret).hex(), datetime.now(UTC).replace(microsecond=0), name)
    return f"{PREFIX}{key_id}.{secret}", kept


class Keyring:
    """The keys that are valid now."""

    def __init__(self, keys: list[ApiKey]) -> None:
        self._known = {key.id: (bytes.fromhex(key.secret_sha256), key.principal) for key in keys}

    def find(self, text: str) -> Principal | None:
        """Find out who calls with a key, in the same time for every key that is wrong."""
        key_id, _, secret = text.removeprefix(PREFIX).partition(".")
        kept, principal = self._known.get(key_id, (_NO_HASH, None))
        return principal if hmac.compare_digest(kept, _hash(secret)) else None


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "replace")).digest()
