"""Where the parts are joined: ``create_app`` gives the service as an application, ``open_service`` its inside."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request, Response
from starlette.types import Receive, Scope, Send

from runhold.api.dispatch import Dispatcher
from runhold.api.encoding import encode_json
from runhold.api.identity import NoIdentity
from runhold.api.openapi import build_document
from runhold.api.operations import OPERATIONS
from runhold.api.pages import add_pages, problem_response
from runhold.api.service import RequestObserver, Service
from runhold.domain.errors import Forbidden, Unavailable
from runhold.identity.hosts import check_host
from runhold.identity.opening import open_identity
from runhold.logs import NoRequestLog, RequestLog
from runhold.settings import Settings
from runhold.store import open_store
from runhold.tracing import Tracing
from runhold.writer import Writer, WriterLimits


async def open_service(settings: Settings) -> Service:
    """Open the database and start taking commands.

    Raises:
        StartUpError: the database cannot be used, with the reason in one line.
    """
    identity = open_identity(settings)
    tracing = Tracing() if settings.tracing else None
    store = await open_store(settings)
    writer = Writer(store, _writer_limits(settings))
    await writer.open()
    return Service(settings, store, writer, identity, request_log(settings), tracing)


def request_log(settings: Settings) -> RequestObserver:
    """The log of requests, as far as the level asks for it."""
    return RequestLog() if settings.log_level in ("debug", "info") else NoRequestLog()


def _writer_limits(settings: Settings) -> WriterLimits:
    return WriterLimits(
        queued_commands=settings.queue_commands,
        queued_bytes=settings.queue_bytes,
        batch_commands=settings.batch_commands,
        batch_bytes=settings.batch_bytes,
        large_bytes=settings.large_bytes,
        lanes=settings.lanes,
    )


class _Dispatched(Response):
    """An answer that the dispatcher gives."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        super().__init__()
        self._dispatcher = dispatcher

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._dispatcher(scope, receive, send)


def _is_api(scope: Scope) -> bool:
    path: str = scope["path"]
    if scope.get("root_path"):
        path = path.removeprefix(scope["root_path"])
    return path.startswith("/v1/") or path == "/v1"


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Open the service with the application, for servers that know nothing of it."""
    if not isinstance(app, Application) or app.service is not None:
        yield
        return
    service = await open_service(app.settings)
    app.use(service)
    try:
        yield
    finally:
        app.use(None)
        await service.close()


class Application(FastAPI):
    """The service: ``/v1`` goes straight to the dispatcher, everything else through the framework."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(
            title="Runhold", docs_url=None, redoc_url=None, openapi_url=None, lifespan=_lifespan, redirect_slashes=False
        )
        self.settings = settings
        self.service: Service | None = None
        self._dispatcher: Dispatcher | None = None
        self._is_for_this_machine = False
        for operation in OPERATIONS:
            self.add_api_route(
                operation.template,
                self._dispatched,
                methods=[operation.method],
                operation_id=operation.id,
                name=operation.id,
                response_class=Response,
            )
        add_pages(self, lambda: self.service)
        self.add_api_route("/openapi.json", self._openapi_json, include_in_schema=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "http":
            if self._is_for_this_machine:
                try:
                    check_host(next((value for name, value in scope["headers"] if name == b"host"), None))
                except Forbidden as refusal:
                    await problem_response(refusal, Request(scope))(scope, receive, send)
                    return
            if self._dispatcher is not None and _is_api(scope):
                await self._dispatcher(scope, receive, send)
                return
        await super().__call__(scope, receive, send)

    def use(self, service: Service | None) -> None:
        """Answer with this service from now on."""
        self.service = service
        self._dispatcher = None if service is None else Dispatcher(service, OPERATIONS)
        self._is_for_this_machine = service is not None and isinstance(service.identity, NoIdentity)

    def openapi(self) -> dict[str, Any]:
        """The OpenAPI document, built from the table of operations."""
        if self.openapi_schema is None:
            self.openapi_schema = build_document(OPERATIONS)
        return self.openapi_schema

    async def _openapi_json(self) -> Response:
        return Response(encode_json(self.openapi()), media_type="application/json")

    async def _dispatched(self, request: Request) -> Response:
        """Answer a request that came through the framework's own routing, in the same way."""
        if self._dispatcher is None:
            return problem_response(Unavailable("the service is starting"), request)
        return _Dispatched(self._dispatcher)


def create_app(settings: Settings | None = None) -> Application:
    """Build the service; its lifespan opens and closes it, unless its server has done so.

    Args:
        settings: read from the environment when None.
    """
    return Application(settings or Settings())
