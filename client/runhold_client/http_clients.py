"""The one seam to httpx: clients that repeat a request exactly, and raise what an answer refuses.

``send`` returns only successes; a refusal is raised as the ``StoreError`` it means, a temporary failure after the last
attempt. The request's bytes are kept and sent again unchanged, so every repetition is an exact retry.
"""

from __future__ import annotations

import asyncio
import ipaddress
import time
from typing import Any

import httpx

from runhold_client.errors import StoreError, TemporaryError
from runhold_client.refusals import refusal, unanswered
from runhold_client.retries import Retries, RetryPolicy
from runhold_client.tracing import traced

IDLE_SECONDS = 30.0
"""How long an unused connection is kept: well below the 75 s after which the service closes it."""

CONNECT_SECONDS = 5.0
"""How long a connection may take to open, when the timeout is longer than that."""


class RetryingClient(httpx.Client):
    """An httpx client whose ``send`` repeats a request until it has a final answer."""

    def __init__(self, policy: RetryPolicy, **options: Any) -> None:
        super().__init__(**options)
        self._policy = policy

    def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        """Send a request as often as it takes. Raises: StoreError."""
        with traced(request):
            return self._sent(request, **options)

    def _sent(self, request: httpx.Request, **options: Any) -> httpx.Response:
        _allow_for_waiting(request)
        retries = Retries(self._policy)
        while True:
            try:
                answer = super().send(request, **options)
            except httpx.RequestError as failure:
                error: StoreError = unanswered(failure)
            else:
                refused = refusal(answer)
                if refused is None:
                    return answer
                error = refused
            time.sleep(_wait_or_raise(retries, error))


class AsyncRetryingClient(httpx.AsyncClient):
    """The twin of ``RetryingClient`` for tasks of one event loop."""

    def __init__(self, policy: RetryPolicy, **options: Any) -> None:
        super().__init__(**options)
        self._policy = policy

    async def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        """Send a request as often as it takes. Raises: StoreError."""
        with traced(request):
            return await self._sent(request, **options)

    async def _sent(self, request: httpx.Request, **options: Any) -> httpx.Response:
        _allow_for_waiting(request)
        retries = Retries(self._policy)
        while True:
            try:
                answer = await super().send(request, **options)
            except httpx.RequestError as failure:
                error: StoreError = unanswered(failure)
            else:
                refused = refusal(answer)
                if refused is None:
                    return answer
                error = refused
            await asyncio.sleep(_wait_or_raise(retries, error))

    async def send_once(self, request: httpx.Request) -> httpx.Response:
        """Send a request once; for a caller that decides itself what to send again. Raises: StoreError."""
        try:
            with traced(request):
                answer = await super().send(request)
        except httpx.RequestError as failure:
            raise unanswered(failure) from failure
        if error := refusal(answer):
            raise error
        return answer


def client_options(
    base_url: str, token: str | None, timeout: float, transport: object | None, connections: int
) -> dict[str, Any]:
    """The httpx options that both clients share.

    Raises: ValueError when the base URL is not an absolute http(s) URL without query and fragment, or the token could
    not be sent in a header.
    """
    try:
        url = httpx.URL(base_url)
    except (httpx.InvalidURL, ValueError) as error:
        raise ValueError(f"base_url is not a URL: {error}") from None
    if url.scheme not in ("http", "https") or not url.host or url.query or url.fragment:
        raise ValueError(f"base_url must be http(s)://host[:port][/prefix], not {base_url!r}")
    headers = {"User-Agent": "runhold-client"}
    if token is not None:
        if not token or not all("!" <= character <= "~" for character in token):
            raise ValueError("token must be visible ASCII")
        headers["Authorization"] = f"Bearer {token}"
    return {
        "base_url": url,
        "headers": headers,
        "timeout": httpx.Timeout(timeout, connect=min(timeout, CONNECT_SECONDS)),
        "limits": httpx.Limits(
            max_connections=connections, max_keepalive_connections=connections, keepalive_expiry=IDLE_SECONDS
        ),
        "transport": transport,
        # httpx would send even 127.0.0.1 through HTTP_PROXY.
        "trust_env": not is_loopback(url.host),
    }


def is_loopback(host: str) -> bool:
    """Whether a host names this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _wait_or_raise(retries: Retries, error: StoreError) -> float:
    wait = retries.after(error) if isinstance(error, TemporaryError) else None
    if wait is None:
        raise error
    return wait


def _allow_for_waiting(request: httpx.Request) -> None:
    # A long poll answers late on purpose: its wait comes on top of the time an answer may take.
    wait_ms = request.url.params.get("wait_ms")
    timeout = request.extensions.get("timeout")
    if wait_ms and timeout and timeout.get("read") is not None:
        request.extensions = {
            **request.extensions,
            "timeout": {**timeout, "read": timeout["read"] + int(wait_ms) / 1000},
        }
