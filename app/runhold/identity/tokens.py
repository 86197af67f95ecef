"""Tokens of an OpenID Connect issuer: signed JWTs whose claims name role and namespace.

The issuer's keys are fetched when they are first needed, kept, and fetched again when a token names one that is not
known: issuers rotate them. A token that was verified is remembered by its hash until it expires.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

import httpx
import jwt

from runhold.api.identity import Principal, Role
from runhold.domain.errors import Unauthenticated, Unavailable
from runhold.identity.key_file import namespace_fault

log = logging.getLogger(__name__)

_FETCH_TIMEOUT_S = 5.0
_FETCH_NOT_BEFORE_S = 10.0
"""Tokens with unknown keys must not make the service hammer the issuer."""
_KEEP_KEYS_S = 3_600.0
_REMEMBERED = 10_000


@dataclass(frozen=True)
class Issuer:
    """Which tokens are taken."""

    issuer: str
    audience: str
    jwks_url: str = ""
    """Where its keys are; else its discovery document says so."""
    algorithms: tuple[str, ...] = ("RS256", "ES256")
    role_claim: str = "runhold_role"
    namespace_claim: str = "runhold_namespace"
    leeway_s: int = 30


@dataclass
class _Keys:
    by_id: dict[str, jwt.PyJWK] = field(default_factory=dict)
    fetched_at: float = float("-inf")


class Tokens:
    """Verifies tokens."""

    def __init__(self, issuer: Issuer) -> None:
        self._issuer = issuer
        self._keys = _Keys()
        self._tried_at = float("-inf")
        self._fetching = asyncio.Lock()
        self._remembered: OrderedDict[bytes, tuple[float, Principal]] = OrderedDict()

    async def find(self, token: str) -> Principal:
        """Find out who calls with a token.

        Raises:
            Unauthenticated: it is not a valid token of the issuer for this service.
            Unavailable: the issuer's keys cannot be fetched.
        """
        name = hashlib.sha256(token.encode("utf-8", "replace")).digest()
        known = self._remembered.get(name)
        if known is not None and time.time() < known[0]:
            return known[1]
        self._remembered.pop(name, None)
        claims = self._verified(token, await self._key_of(token))
        principal = self._principal(claims)
        self._remembered[name] = (float(claims["exp"]) + self._issuer.leeway_s, principal)
        while len(self._remembered) > _REMEMBERED:
            self._remembered.popitem(last=False)
        return principal

    async def _key_of(self, token: str) -> jwt.PyJWK:
        try:
            header = jwt.get_unverified_header(token)
        except jwt.PyJWTError:
            raise Unauthenticated("the key is not known, and it is no token") from None
        if header.get("alg") not in self._issuer.algorithms:
            raise Unauthenticated("the token is signed with an algorithm that is not allowed")
        key_id = header.get("kid", "")
        if key_id not in self._keys.by_id or time.monotonic() - self._keys.fetched_at > _KEEP_KEYS_S:
            await self._fetch(key_id)
        found = self._keys.by_id.get(key_id)
        if found is None:
            raise Unauthenticated("the token is signed with a key that its issuer does not name")
        return found

    async def _fetch(self, key_id: str) -> None:
        async with self._fetching:
            is_fresh = time.monotonic() - self._keys.fetched_at <= _KEEP_KEYS_S
            if (is_fresh and key_id in self._keys.by_id) or time.monotonic() - self._tried_at < _FETCH_NOT_BEFORE_S:
                return
            self._tried_at = time.monotonic()
            try:
                async with httpx.AsyncClient(timeout=_FETCH_TIMEOUT_S) as http:
                    found = jwt.PyJWKSet.from_dict(await _json(http, await self._jwks_url(http)))
            except (httpx.HTTPError, jwt.PyJWTError, ValueError, KeyError, TypeError) as error:
                log.warning("the issuer's keys cannot be fetched", extra={"reason": type(error).__name__})
                if self._keys.by_id:
                    return
                raise Unavailable("the issuer's keys cannot be fetched now") from None
            self._keys = _Keys({key.key_id or "": key for key in found.keys}, time.monotonic())

    async def _jwks_url(self, http: httpx.AsyncClient) -> str:
        if self._issuer.jwks_url:
            return self._issuer.jwks_url
        found = await _json(http, self._issuer.issuer.rstrip("/") + "/.well-known/openid-configuration")
        return str(found["jwks_uri"])

    def _verified(self, token: str, key: jwt.PyJWK) -> dict[str, Any]:
        issuer = self._issuer
        try:
            claims: dict[str, Any] = jwt.decode(
                token,
                key,
                algorithms=list(issuer.algorithms),
                issuer=issuer.issuer,
                audience=issuer.audience,
                leeway=issuer.leeway_s,
                options={"require": ["exp", "iss", "aud"]},
            )
        except jwt.ExpiredSignatureError:
            raise Unauthenticated("the token has expired") from None
        except jwt.PyJWTError:
            raise Unauthenticated("the token is not valid for this service") from None
        return claims

    def _principal(self, claims: dict[str, Any]) -> Principal:
        role, namespace = claims.get(self._issuer.role_claim), claims.get(self._issuer.namespace_claim)
        if not isinstance(role, str) or role not in set(Role):
            raise Unauthenticated(f"the token's {self._issuer.role_claim} is none of worker, reader, admin")
        if not isinstance(namespace, str) or namespace_fault(namespace):
            raise Unauthenticated(f"the token's {self._issuer.namespace_claim} is no namespace")
        subject = claims.get("sub")
        return Principal(namespace, Role(role), f"token:{namespace}:{subject if isinstance(subject, str) else ''}")


async def _json(http: httpx.AsyncClient, url: str) -> dict[str, Any]:
    found: dict[str, Any] = (await http.get(url)).raise_for_status().json()
    return found
