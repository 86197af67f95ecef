"""The front of the API: every request under ``/v1`` passes here, in the contract's order of checks.

It stands before the framework's own routing, which costs several times as much as a command, and routes on the raw
path. The one place where a request is answered, named and counted.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from time import perf_counter, time_ns

from runhold.api.json_body import parse_body
from runhold.api.operations import OPERATIONS, Operation
from runhold.api.path_ids import decode_path_id
from runhold.api.problems import MEDIA_TYPE, encode_problem, problem_headers, status_of
from runhold.api.queries import check_no_query
from runhold.api.requests import (
    GoneError,
    Receive,
    Request,
    Scope,
    Send,
    check_media_type,
    read_body,
    request_id,
)
from runhold.api.routing import Router
from runhold.api.service import Service
from runhold.domain.errors import Forbidden, Internal, MethodNotAllowed, NotFound, RefusalError, Unavailable

log = logging.getLogger(__name__)

_EMPTY: tuple[tuple[bytes, bytes], ...] = ()
_JSON = (b"content-type", b"application/json")
_PROBLEM = (b"content-type", MEDIA_TYPE)
_NO_STORE = (b"cache-control", b"no-store")


_COMMANDS = frozenset(operation.id for operation in OPERATIONS if operation.method != "GET") - {"run_commands"}
"""Operations that are one command each."""


class _MethodNotAllowed(MethodNotAllowed):
    """Carries the methods that the route has."""

    allow: bytes


class Dispatcher:
    """Answers requests under ``/v1``."""

    def __init__(self, service: Service, operations: Sequence[Operation]) -> None:
        self._service = service
        self._router = Router(operations)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        begun = perf_counter()
        headers = dict(scope["headers"])
        name = request_id(headers)
        operation: Operation | None = None
        code, extra, received = "", _EMPTY, 0
        try:
            principal = await self._service.identity.authenticate(headers)
            operation, ids = self._route(scope)
            if principal.role not in operation.roles:
                raise Forbidden(f"{operation.id} is not for the role {principal.role}")
            request = Request(principal, name, scope["query_string"])
            if operation.takes_body:
                await self._read(request, operation, receive, headers)
                received = request.body_bytes
            if request.query_string and not operation.query:
                check_no_query(request.query_string)
            if ids:
                request.path_id = decode_path_id(ids[0], operation.path_id)
            answer = await self._handled(operation, request)
            status, kind = operation.status, _JSON
        except RefusalError as refusal:
            status, kind, code = status_of(refusal), _PROBLEM, refusal.code
            answer = encode_problem(refusal, name)
            extra = tuple(problem_headers(refusal))
            if isinstance(refusal, _MethodNotAllowed):
                extra = ((b"allow", refusal.allow),)
        except GoneError:
            self._observe(operation, 0, "", begun, name, headers)
            return
        except Exception:
            log.exception(
                "a request failed", extra={"request_id": name, "operation": operation.id if operation else ""}
            )
            failure = Internal("the service failed; the same request may be sent again")
            status, kind, code = status_of(failure), _PROBLEM, failure.code
            answer = encode_problem(failure, name)
            extra = tuple(problem_headers(failure))
        head: list[tuple[bytes, bytes]] = [(b"x-request-id", name.encode()), _NO_STORE, *extra]
        if status != 204:
            head += (kind, (b"content-length", b"%d" % len(answer)))
        await send({"type": "http.response.start", "status": status, "headers": head})
        await send({"type": "http.response.body", "body": answer})
        self._observe(operation, status, code, begun, name, headers)
        metrics = self._service.metrics
        called = operation.id if operation is not None else ""
        metrics.request(called, status, code, perf_counter() - begun, received, len(answer))
        if called in _COMMANDS:
            metrics.command(called, code)

    async def _handled(self, operation: Operation, request: Request) -> bytes:
        try:
            return await operation.handler(self._service, request)
        except asyncio.CancelledError:
            if not self._service.is_draining:
                raise
            # The time to drain is over, and the server waits no longer. What was asked may still be carried out.
            raise Unavailable("the service is stopping") from None

    def _route(self, scope: Scope) -> tuple[Operation, list[bytes]]:
        raw_path: bytes = scope.get("raw_path") or scope["path"].encode()
        root_path: str = scope.get("root_path", "")
        if root_path:
            # Mounted under a path, or behind a proxy that keeps one; it is spelled as it was sent.
            raw_path = b"/" + raw_path.split(b"/", root_path.count("/") + 1)[-1]
        operation, ids, methods = self._router.find(scope["method"], raw_path)
        if operation is not None:
            return operation, ids
        if methods:
            allowed = ", ".join(sorted(methods))
            refusal = _MethodNotAllowed(f"this route has {allowed}")
            refusal.allow = allowed.encode()
            raise refusal
        raise NotFound("there is no such route")

    async def _read(
        self, request: Request, operation: Operation, receive: Receive, headers: dict[bytes, bytes]
    ) -> None:
        body = await read_body(receive, headers, self._service.settings.body_bytes)
        request.body_bytes = len(body)
        if not body and operation.body_optional:
            request.body = {}
            return
        check_media_type(headers)
        request.body = parse_body(body)

    def _observe(
        self,
        operation: Operation | None,
        status: int,
        code: str,
        begun: float,
        name: str,
        headers: dict[bytes, bytes],
    ) -> None:
        called = operation.id if operation is not None else ""
        seconds, traceparent = perf_counter() - begun, headers.get(b"traceparent")
        self._service.observer.request(called, status, code, seconds, name, traceparent)
        if self._service.tracing is not None:
            self._service.tracing.request(called, status, code, seconds, time_ns(), traceparent)
