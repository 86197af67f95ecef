"""Who calls: every request belongs to a principal, whose namespace and role decide what it sees and may do."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Protocol

from runhold.domain.values import Value

DEFAULT_NAMESPACE = "default"


class Role(StrEnum):
    """What a caller is. An admin may do everything."""

    WORKER = "worker"
    READER = "reader"
    ADMIN = "admin"


class Principal(Value, frozen=True):
    """Who calls."""

    namespace: str
    role: Role
    key_id: str
    """Names the credentials without revealing them; ``""`` without identity."""


class Identity(Protocol):
    """Finds out who calls."""

    async def authenticate(self, headers: Mapping[bytes, bytes], /) -> Principal:
        """Read the credentials of a request. Raises: Unauthenticated."""
        ...


class NoIdentity:
    """Everybody is the admin of the one namespace ``default``."""

    _anybody = Principal(DEFAULT_NAMESPACE, Role.ADMIN, "")

    async def authenticate(self, _: Mapping[bytes, bytes], /) -> Principal:
        """Answer the same for everybody."""
        return self._anybody
