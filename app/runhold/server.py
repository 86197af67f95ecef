"""One process that serves: it opens the service, takes requests, and drains when it is asked to stop."""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from runhold.api.problems import MEDIA_TYPE, encode_problem
from runhold.api.requests import request_id
from runhold.domain.errors import PayloadTooLarge
from runhold.domain.limits import HEAD_BYTES
from runhold.main import Application, open_service
from runhold.settings import Settings

log = logging.getLogger(__name__)

_BACKLOG = 2_048
_LOOK_EVERY_TICKS = 5


class PortTakenError(Exception):
    """The address cannot be served on; the text is the reason in one line."""


def bind(settings: Settings) -> socket.socket:
    """Take the port. Raises: PortTakenError."""
    try:
        found = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, _, _, _, address = found[0]
        listening = socket.socket(family, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(_BACKLOG)
    except OSError as error:
        raise PortTakenError(
            f"cannot serve on {settings.host} port {settings.port}: {error.strerror or error}; "
            "choose another with RUNHOLD_PORT or --port"
        ) from None
    listening.setblocking(False)
    return listening


async def serve(app: Application, settings: Settings, listening: socket.socket, announce: Callable[[], object]) -> None:
    """Serve until SIGTERM or SIGINT, then answer what was accepted; ``announce`` is called once it is ready.

    Raises:
        StartUpError: the database cannot be used, with the reason in one line.
    """
    service = await open_service(settings)
    app.use(service)
    config = uvicorn.Config(
        app,
        http=_Protocol,
        lifespan="off",
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=settings.keep_alive_s,
        timeout_graceful_shutdown=max(1, -(-settings.drain_timeout_ms // 1000)),
        backlog=_BACKLOG,
    )
    server = _Server(config, app, settings)
    # What start-up made lives on; the collector need not look at it again under load.
    gc.collect()
    gc.freeze()
    host, port = listening.getsockname()[:2]
    log.info("serving", extra={"host": host, "port": port})
    announce()
    try:
        await server.serve(sockets=[listening])
    finally:
        await service.close()


class _Gathering:
    """A transport that sends what is written in one turn of the loop at once.

    The head of an answer and its body are written apart, and a system call costs more than reading a command.
    """

    __slots__ = ("_call_soon", "_parts", "_transport")

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._call_soon = loop.call_soon
        self._parts: list[bytes] = []

    def write(self, data: bytes) -> None:
        if not self._parts:
            self._call_soon(self._flush)
        self._parts.append(data)

    def close(self) -> None:
        self._flush()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def _flush(self) -> None:
        parts, self._parts = self._parts, []
        if parts and not self._transport.is_closing():
            self._transport.writelines(parts)


class _Protocol(HttpToolsProtocol):
    """HTTP/1.1 with bounded heads, whose answers leave in one piece."""

    _head_bytes = 0
    _in_head = False
    receiving_since: float | None = None
    """Since when, by the loop's clock, a request is awaited or comes in; None once it is whole."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a new connection."""
        self.receiving_since = self.loop.time()
        super().connection_made(_Gathering(transport, self.loop))  # type: ignore[arg-type]

    def data_received(self, data: bytes) -> None:
        """Take bytes of a request; the parser would keep a head of any length."""
        if self._in_head:
            self._head_bytes += len(data)
            if self._head_bytes > HEAD_BYTES:
                self._refuse_head()
                return
        super().data_received(data)

    def on_message_begin(self) -> None:
        """Begin a request."""
        self._in_head, self._head_bytes = True, 0
        self.receiving_since = self.loop.time()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Go on to the body."""
        self._in_head = False
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Have the whole request."""
        self.receiving_since = None
        super().on_message_complete()

    def _refuse_head(self) -> None:
        detail = f"the head of a request must be at most {HEAD_BYTES} bytes"
        body = encode_problem(PayloadTooLarge(detail, limit=HEAD_BYTES), request_id({}))
        self.transport.write(
            b"HTTP/1.1 413 Content Too Large\r\nContent-Type: %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s"
            % (MEDIA_TYPE, len(body), body)
        )
        self.transport.close()


class _Server(uvicorn.Server):
    """A server that is unready for a moment before it takes no more requests; its signals end in exit status 0."""

    def __init__(self, config: uvicorn.Config, app: Application, settings: Settings) -> None:
        super().__init__(config)
        self._app = app
        self._grace_s = settings.drain_grace_ms / 1000
        self._request_s = settings.request_timeout_ms / 1000

    async def on_tick(self, counter: int) -> bool:
        """Look after the connections, ten times a second."""
        if counter % _LOOK_EVERY_TICKS == 0:
            late = asyncio.get_running_loop().time() - self._request_s
            for connection in list(self.server_state.connections):
                since = getattr(connection, "receiving_since", None)
                if since is not None and since < late:
                    # Whoever sends half a request would keep a socket for ever.
                    connection.transport.close()
        return await super().on_tick(counter)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take the signals that stop the service."""
        loop = asyncio.get_running_loop()
        for name in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(name, self._stop, name)
        try:
            yield
        finally:
            for name in (signal.SIGTERM, signal.SIGINT):
                loop.remove_signal_handler(name)

    def _stop(self, name: signal.Signals) -> None:
        service = self._app.service
        if service is None or service.is_draining:
            self.should_exit = True
            return
        log.info("stopping", extra={"signal": name.name})
        service.drain()
        # A person at a terminal does not wait for load balancers.
        grace = 0.0 if name is signal.SIGINT else self._grace_s
        asyncio.get_running_loop().call_later(grace, self._exit)

    def _exit(self) -> None:
        self.should_exit = True
