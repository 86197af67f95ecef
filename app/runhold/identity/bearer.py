"""The identity of a request by its ``Authorization: Bearer`` header: an API key, or a token where an issuer is set."""

from __future__ import annotations

from collections.abc import Mapping

from runhold.api.identity import Principal
from runhold.domain.errors import Unauthenticated
from runhold.identity.key_file import WatchedKeys
from runhold.identity.keys import PREFIX, Keyring
from runhold.identity.tokens import Tokens

_NO_KEYS = Keyring([])


class BearerIdentity:
    """Keys first: they cost a hash. Without a file of keys, or without an issuer, only the other is taken."""

    def __init__(self, keys: WatchedKeys | None, tokens: Tokens | None) -> None:
        self._keys = keys
        self._tokens = tokens

    async def authenticate(self, headers: Mapping[bytes, bytes], /) -> Principal:
        """Read the credentials of a request. Raises: Unauthenticated, Unavailable."""
        given = headers.get(b"authorization")
        if given is None:
            raise Unauthenticated("the request has no key: send Authorization: Bearer …")
        scheme, _, text = given.decode("latin-1").partition(" ")
        text = text.strip(" ")
        if scheme.lower() != "bearer" or not text:
            raise Unauthenticated("the Authorization header must be Bearer and a key")
        if self._tokens is not None and not text.startswith(PREFIX):
            return await self._tokens.find(text)
        keyring = self._keys.current() if self._keys is not None else _NO_KEYS
        principal = keyring.find(text)
        if principal is None:
            raise Unauthenticated("the key is not known")
        return principal
