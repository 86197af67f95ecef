"""The proxy breaks connections in the way it says, and otherwise changes nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from tests.faults.proxy import COMMIT_DONE, CutRequests, Delay, LoseAnswers, LoseCommits, Mode, Proxy, Stall
from tests.support.ports import free_port

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Upstream:
    """A server that answers every chunk with itself, and remembers what it got."""

    def __init__(self) -> None:
        self.got: list[bytes] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while chunk := await reader.read(65_536):
                self.got.append(chunk)
                writer.write(chunk)
        except ConnectionError:
            pass
        finally:
            writer.close()


def run(test: Callable[[Proxy, Upstream], Awaitable[None]]) -> None:
    """Run a test with a proxy before a server."""

    async def main() -> None:
        async with asyncio.timeout(20):
            upstream, port = Upstream(), free_port()
            server = await asyncio.start_server(upstream.serve, "127.0.0.1", port)
            try:
                async with Proxy(port) as proxy:
                    await test(proxy, upstream)
            finally:
                server.close()

    asyncio.run(main())


@asynccontextmanager
async def connected(proxy: Proxy) -> AsyncIterator[Streams]:
    reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
    try:
        yield reader, writer
    finally:
        writer.close()


async def ask(streams: Streams, chunk: bytes, seconds: float = 5.0) -> bytes:
    reader, writer = streams
    writer.write(chunk)
    async with asyncio.timeout(seconds):
        return await reader.read(65_536)


def test_everything_passes_unless_a_mode_says_otherwise() -> None:
    async def test(proxy: Proxy, upstream: Upstream) -> None:
        async with connected(proxy) as one, connected(proxy) as other:
            assert await ask(one, b"hello") == b"hello"
            assert await ask(other, b"\x00" * 1000) == b"\x00" * 1000
            assert await ask(one, b"again") == b"again"

    run(test)


def test_a_lost_answer_was_asked_for_in_full_and_ends_in_a_reset() -> None:
    async def test(proxy: Proxy, upstream: Upstream) -> None:
        proxy.mode = LoseAnswers(1)
        async with connected(proxy) as one:
            with pytest.raises(ConnectionResetError):
                await ask(one, b"hello")
        assert upstream.got == [b"hello"]

    run(test)


def test_a_cut_request_arrives_by_half() -> None:
    async def test(proxy: Proxy, upstream: Upstream) -> None:
        proxy.mode = CutRequests(1)
        async with connected(proxy) as one:
            with pytest.raises(ConnectionResetError):
                await ask(one, b"12345678")
        assert upstream.got in ([b"1234"], [])

    run(test)


def test_only_the_answer_to_a_commit_is_lost() -> None:
    async def test(proxy: Proxy, upstream: Upstream) -> None:
        proxy.mode = mode = LoseCommits(1)
        async with connected(proxy) as one:
            assert await ask(one, b"C\x00\x00\x00\x0aBEGIN\x00") == b"C\x00\x00\x00\x0aBEGIN\x00"
            with pytest.raises(ConnectionResetError):
                await ask(one, b"before" + COMMIT_DONE)
        assert mode.lost == 1

    run(test)


def test_what_stood_still_goes_on() -> None:
    async def test(proxy: Proxy, upstream: Upstream) -> None:
        proxy.mode = Stall()
        async with connected(proxy) as one:
            with pytest.raises(TimeoutError):
                await ask(one, b"hello", seconds=0.1)
            assert upstream.got == []
            proxy.mode = Mode()
            assert await one[0].read(100) == b"hello"

    run(test)


def test_a_delay_keeps_the_order() -> None:
    async def test(proxy: Proxy, upstream: Upstream) -> None:
        proxy.mode = Delay(0.01)
        async with connected(proxy) as one:
            for number in range(20):
                one[1].write(b"%03d" % number)
            assert await one[0].readexactly(60) == b"".join(b"%03d" % number for number in range(20))

    run(test)


def test_a_buried_connection_stays_open_and_says_nothing_more_while_new_ones_work() -> None:
    async def test(proxy: Proxy, upstream: Upstream) -> None:
        async with connected(proxy) as one:
            assert await ask(one, b"hello") == b"hello"
            assert proxy.bury() == 1
            with pytest.raises(TimeoutError):
                await ask(one, b"lost", seconds=0.1)
            async with connected(proxy) as other:
                assert await ask(other, b"new") == b"new"
        assert upstream.got == [b"hello", b"new"]

    run(test)


def test_a_server_that_is_away_resets_the_connection() -> None:
    async def main() -> None:
        async with Proxy(free_port()) as proxy, connected(proxy) as one:
            with pytest.raises(ConnectionResetError):
                await ask(one, b"hello")

    asyncio.run(main())
