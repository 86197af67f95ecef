"""A server that fails on purpose: it answers each request with the next act of a script, and knows no contract.

It stands in for a proxy, a dying process or a broken line; what the service itself does is tested against the service.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

CLOSE = b""
"""An act: close the connection without a word."""


@dataclass
class FaultyServer:
    """What was asked of the server, and where it is."""

    url: str
    requests: list[bytes] = field(default_factory=list)
    """Each request as it came, head and body."""
    times: list[float] = field(default_factory=list)
    connections: int = 0

    def bodies(self) -> list[bytes]:
        """The bodies of all requests."""
        return [request.partition(b"\r\n\r\n")[2] for request in self.requests]


def answer(status: int, body: object = None, *, headers: dict[str, str] | None = None) -> bytes:
    """An act: a JSON answer."""
    content = b"" if body is None else json.dumps(body).encode()
    kind = "application/json" if status < 300 else "application/problem+json"
    return _answer(status, content, {"Content-Type": kind, **(headers or {})})


def page(status: int, text: str) -> bytes:
    """An act: an HTML page, as a proxy gives."""
    return _answer(status, text.encode(), {"Content-Type": "text/html"})


def problem(status: int, code: str, *, permanent: bool, headers: dict[str, str] | None = None, **more: Any) -> bytes:
    """An act: a problem document."""
    document = {"type": f"about:{code}", "title": code, "status": status, "detail": "told by the test", "code": code}
    return answer(status, {**document, "permanent": permanent, "request_id": "r", **more}, headers=headers)


def cut(whole: bytes) -> bytes:
    """An act: half an answer, then the connection breaks."""
    return whole[: len(whole) - 5] + b"\0close"


def stall(seconds: float) -> bytes:
    """An act: say nothing for a while, then close."""
    return b"\0stall" + struct.pack("d", seconds)


def slow(seconds: float, whole: bytes) -> bytes:
    """An act: another act, after a while."""
    return b"\0slow!" + struct.pack("d", seconds) + whole


@contextmanager
def faulty_server(script: Sequence[bytes]) -> Iterator[FaultyServer]:
    """Serve the acts of a script in order, the last one for ever."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = FaultyServer(url=f"http://127.0.0.1:{listener.getsockname()[1]}")
    lock = threading.Lock()

    def next_act(request: bytes) -> bytes:
        with lock:
            server.requests.append(request)
            server.times.append(time.monotonic())
            return script[min(len(server.requests), len(script)) - 1]

    def serve(connection: socket.socket) -> None:
        with connection:
            while request := _read_request(connection):
                act = next_act(request)
                if act.startswith(b"\0stall"):
                    time.sleep(struct.unpack("d", act[6:])[0])
                    return
                if act.startswith(b"\0slow!"):
                    time.sleep(struct.unpack("d", act[6:14])[0])
                    act = act[14:]
                content, closes, _ = act.partition(b"\0close")
                try:
                    connection.sendall(content)
                except OSError:
                    return
                if closes or not content:
                    return

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            server.connections += 1
            threading.Thread(target=serve, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield server
    finally:
        # Closing alone does not wake the thread that accepts.
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def _answer(status: int, content: bytes, headers: dict[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} Scripted", f"Content-Length: {len(content)}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + content


def _read_request(connection: socket.socket) -> bytes:
    data = b""
    try:
        while b"\r\n\r\n" not in data:
            data += (more := connection.recv(65536))
            if not more:
                return b""
        head, _, body = data.partition(b"\r\n\r\n")
        length = next(
            (int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")), 0
        )
        while len(body) < length:
            body += (more := connection.recv(65536))
            if not more:
                return b""
    except OSError:
        return b""
    return head + b"\r\n\r\n" + body
