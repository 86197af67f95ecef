"""A proxy on TCP that breaks what passes through it, in one way at a time.

It stands between a client and the service, or between the service and PostgreSQL. What one side wrote arrives in
chunks, and the mode decides what becomes of each. Whatever was lost on a connection, nothing follows it on that
connection: TCP would not do that either.
"""

from __future__ import annotations

import asyncio
import random
import socket
import struct
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Self

from tests.support.ports import free_port

COMMIT_DONE = b"C\x00\x00\x00\x0bCOMMIT\x00"
"""What PostgreSQL says after a COMMIT: by then the transaction is stored."""

_CHUNK = 256 * 1024


class Reset(Exception):
    """The connection is to be reset on both sides, after these bytes were passed on."""

    def __init__(self, before: bytes = b"") -> None:
        super().__init__()
        self.before = before


class Link:
    """A connection through the proxy."""

    def __init__(self) -> None:
        self.is_dead = False
        """Whether it stays open and swallows everything from now on."""


class Mode:
    """Lets everything pass; the others spoil some of it."""

    async def request(self, link: Link, chunk: bytes) -> bytes:
        """Decide what becomes of a chunk on its way to the server. Raises: Reset."""
        return chunk

    async def answer(self, link: Link, chunk: bytes) -> bytes:
        """Decide what becomes of a chunk on its way back. Raises: Reset."""
        return chunk

    def end(self) -> None:
        """Another mode takes over."""


class LoseAnswers(Mode):
    """Swallows a share of the answers, whose requests were carried out, and resets the connection."""

    def __init__(self, share: float) -> None:
        self._share = share

    async def answer(self, link: Link, chunk: bytes) -> bytes:
        if random.random() < self._share:
            raise Reset
        return chunk


class LoseCommits(Mode):
    """Swallows a share of PostgreSQL's answers to COMMIT, and resets the connection."""

    def __init__(self, share: float) -> None:
        self._share = share
        self.lost = 0

    async def answer(self, link: Link, chunk: bytes) -> bytes:
        if COMMIT_DONE in chunk and random.random() < self._share:
            self.lost += 1
            raise Reset
        return chunk


class CutRequests(Mode):
    """Resets the connection in the middle of a share of the requests."""

    def __init__(self, share: float) -> None:
        self._share = share

    async def request(self, link: Link, chunk: bytes) -> bytes:
        if random.random() < self._share:
            raise Reset(chunk[: len(chunk) // 2])
        return chunk


class Delay(Mode):
    """Holds every chunk up, in both directions, for up to so many seconds."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    async def request(self, link: Link, chunk: bytes) -> bytes:
        await asyncio.sleep(random.random() * self._seconds)
        return chunk

    async def answer(self, link: Link, chunk: bytes) -> bytes:
        return await self.request(link, chunk)


class Stall(Mode):
    """Everything stands still until another mode takes over; then it goes on as if nothing had been."""

    def __init__(self) -> None:
        self._over = asyncio.Event()

    async def request(self, link: Link, chunk: bytes) -> bytes:
        await self._over.wait()
        return chunk

    async def answer(self, link: Link, chunk: bytes) -> bytes:
        return await self.request(link, chunk)

    def end(self) -> None:
        self._over.set()


class Proxy:
    """Listens on a free port of 127.0.0.1, and passes everything on to another port there."""

    def __init__(self, target: int) -> None:
        self.target = target
        self.port = free_port()
        self.accepted = 0
        """Connections so far."""
        self._mode = Mode()
        self._links: set[Link] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    @property
    def mode(self) -> Mode:
        """What becomes of everything that passes."""
        return self._mode

    @mode.setter
    def mode(self, mode: Mode) -> None:
        before, self._mode = self._mode, mode
        before.end()

    def bury(self) -> int:
        """Let all present connections stay open and answer nothing, for ever; new ones work. Returns how many."""
        for link in self._links:
            link.is_dead = True
        return len(self._links)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self.port, limit=_CHUNK)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        self.mode = Mode()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _request(self, link: Link, chunk: bytes) -> bytes:
        return await self._mode.request(link, chunk)

    async def _answer(self, link: Link, chunk: bytes) -> bytes:
        return await self._mode.answer(link, chunk)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.accepted += 1
        task = asyncio.create_task(self._carry(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def greet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Settle with a new client what comes before everything else: here nothing. Raises: OSError."""

    async def _carry(self, client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        try:
            await self.greet(client, to_client)
            server, to_server = await asyncio.open_connection("127.0.0.1", self.target, limit=_CHUNK)
        except OSError:
            _reset(to_client)
            return
        link = Link()
        self._links.add(link)
        ways = [
            asyncio.create_task(_pump(link, client, to_server, self._request)),
            asyncio.create_task(_pump(link, server, to_client, self._answer)),
        ]
        try:
            done, _ = await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            failed = any(way.exception() is not None for way in done)
            for writer in (to_server, to_client):
                if failed:
                    _reset(writer)
                else:
                    writer.close()
        finally:
            self._links.discard(link)
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            to_server.close()
            to_client.close()


async def _pump(
    link: Link,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    treat: Callable[[Link, bytes], Awaitable[bytes]],
) -> None:
    """Pass on what arrives, until one side closes. Raises: Reset, OSError."""
    while chunk := await reader.read(_CHUNK):
        if link.is_dead:
            continue
        try:
            treated = await treat(link, chunk)
        except Reset as reset:
            if reset.before:
                writer.write(reset.before)
                await writer.drain()
            raise
        if not link.is_dead:
            writer.write(treated)
            await writer.drain()


@contextmanager
def in_background(proxy: Proxy) -> Iterator[Proxy]:
    """Run a proxy in a thread of its own while the block runs, for tests that are not asynchronous."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    asyncio.run_coroutine_threadsafe(proxy.__aenter__(), loop).result(30)
    try:
        yield proxy
    finally:
        asyncio.run_coroutine_threadsafe(proxy.__aexit__(None, None, None), loop).result(30)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(30)
        loop.close()


def _reset(writer: asyncio.StreamWriter) -> None:
    """Close a connection so that the other side gets a reset, not an orderly end."""
    with suppress(OSError):
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
