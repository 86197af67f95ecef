"""A request, as far as it has been read: headers, request id, and the body within its limit."""

from __future__ import annotations

import re
import secrets
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from itertools import count
from typing import Any

from runhold.api.identity import Principal
from runhold.domain.errors import PayloadTooLarge, UnsupportedMediaType

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

_REQUEST_ID = re.compile(rb"[A-Za-z0-9._:-]{1,128}")
_PROCESS = secrets.token_hex(6)
_numbers = count(1)


class GoneError(Exception):
    """The caller hung up before its request was whole."""


class Request:
    """What a handler gets."""

    __slots__ = ("body", "body_bytes", "path_id", "principal", "query_string", "request_id")

    def __init__(self, principal: Principal, request_id: str, query_string: bytes) -> None:
        self.principal = principal
        self.request_id = request_id
        self.query_string = query_string
        self.path_id = ""
        """The run or session of the path, ``""`` where the path names none."""
        self.body: Any = None
        """As parsed; an absent body is an empty object."""
        self.body_bytes = 0

    @property
    def namespace(self) -> str:
        """Whose ids the request speaks of."""
        return self.principal.namespace

    @property
    def share(self) -> str:
        """Whose turn its commands take in the writer's queue; ``""`` without identity, where all callers are one."""
        return self.principal.key_id


def request_id(headers: Mapping[bytes, bytes]) -> str:
    """Take the caller's ``X-Request-Id`` if it is plain, or make one up."""
    given = headers.get(b"x-request-id")
    if given is not None and _REQUEST_ID.fullmatch(given):
        return given.decode()
    return f"{_PROCESS}-{next(_numbers):x}"


async def read_body(receive: Receive, headers: Mapping[bytes, bytes], limit: int) -> bytes:
    """Read a body, in memory bounded by ``limit``.

    Raises:
        PayloadTooLarge: it is larger; what is known to be is not read at all.
        GoneError: the caller hung up.
    """
    length = headers.get(b"content-length")
    if length is not None and length.isdigit() and (len(length) > 18 or int(length) > limit):
        raise _too_large(limit, int(length[:18]))
    message = await receive()
    if message["type"] != "http.request":
        raise GoneError
    body: bytes = message.get("body", b"")
    if not message.get("more_body", False):
        if len(body) > limit:
            raise _too_large(limit, len(body))
        return bytes(body)
    parts = bytearray(body)
    while message.get("more_body", False):
        if len(parts) > limit:
            raise _too_large(limit, len(parts))
        message = await receive()
        if message["type"] != "http.request":
            raise GoneError
        parts += message.get("body", b"")
    if len(parts) > limit:
        raise _too_large(limit, len(parts))
    return bytes(parts)


def check_media_type(headers: Mapping[bytes, bytes]) -> None:
    """Check that a body is declared as JSON in UTF-8, and not compressed.

    Raises:
        UnsupportedMediaType: it is not.
    """
    encoding = headers.get(b"content-encoding")
    if encoding is not None and encoding.strip().lower() not in (b"", b"identity"):
        raise UnsupportedMediaType("the body must not be compressed")
    declared = headers.get(b"content-type", b"")
    if declared == b"application/json":
        return
    kind, *parameters = declared.lower().split(b";")
    if kind.strip() == b"application/json":
        charsets = [parameter.partition(b"=") for parameter in parameters if parameter.strip()]
        if all(name.strip() == b"charset" and value.strip().strip(b'"') == b"utf-8" for name, _, value in charsets):
            return
    raise UnsupportedMediaType("the body must be application/json in UTF-8")


def _too_large(limit: int, actual: int) -> PayloadTooLarge:
    """Of a body without a declared length, ``actual`` is what was read before the rest was left unread."""
    return PayloadTooLarge(f"the body must be at most {limit} bytes", limit=limit, actual=actual)
