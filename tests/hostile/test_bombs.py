"""Requests made to exhaust the service: bombs, endless and slow ones. It stays small, and serves everybody else."""

from __future__ import annotations

import gzip
import json
import socket
import subprocess
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import httpx
import pytest

from tests.hostile.asking import done
from tests.model import commands as make
from tests.model.wire import Wire, checked
from tests.support.server import Server

MIB = 1024 * 1024
BODY = 16 * MIB
GROWTH = 160 * MIB
"""Ten times the largest body; read naively, each of these bombs takes fifty to a hundred times its size."""
JSON = {"content-type": "application/json"}


def filled(begin: str, member: str, end: str, size: int = BODY) -> bytes:
    return (begin + member * ((size - len(begin) - len(end)) // len(member)) + end).encode()


@contextmanager
def watched(server: Server, seconds: float = 5.0) -> Iterator[None]:
    """Within this block the service must not grow much, and must answer others within some seconds."""
    before, peak, slowest, over = resident(server), [0], [0.0], threading.Event()

    def look() -> None:
        while not over.is_set():
            peak[0] = max(peak[0], resident(server))
            time.sleep(0.01)

    def ask() -> None:
        with httpx.Client(base_url=server.url, trust_env=False, timeout=60) as http:
            while not over.is_set():
                begun = time.monotonic()
                assert http.get("/livez").status_code == 200
                slowest[0] = max(slowest[0], time.monotonic() - begun)
                time.sleep(0.01)

    threads = [threading.Thread(target=work) for work in (look, ask)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()
    assert peak[0] - before < GROWTH, f"it grew by {(peak[0] - before) // MIB} MiB"
    assert slowest[0] < seconds, f"others waited for {slowest[0]:.1f} s"


def resident(server: Server) -> int:
    """Bytes of memory that the service holds."""
    told = subprocess.run(["ps", "-o", "rss=", "-p", str(server.pid)], capture_output=True, text=True, check=True)
    return int(told.stdout) * 1024


@pytest.mark.parametrize(
    "body", [filled('{"session_id":[', "1,", "0]}"), filled('{"a":0,"a":[', "{},", "0]}"), b"[" * BODY]
)
def test_the_largest_body_of_nothing_but_values_is_refused_unread(server: Server, wire: Wire, body: bytes) -> None:
    with watched(server):
        answer = checked(wire.http.post("/v1/sessions", content=body, headers=JSON))
    assert (answer.status, answer.code) == (422, "invalid_command")


@pytest.mark.parametrize(
    ("begin", "member", "end"),
    [
        ("[", "1,", "1]"),
        ("[", "[],", "[]]"),
        ('["\\ud800",', "{},", "{}]"),
        ('["', '\\"[', '"]'),
    ],
    ids=["numbers", "lists", "objects beside half an emoji", "escapes"],
)
def test_a_large_payload_of_any_shape_is_stored_without_growing(
    server: Server, wire: Wire, unique: str, begin: str, member: str, end: str
) -> None:
    call = make.append(unique, payload=filled(begin, member, end, 4 * MIB).decode())
    done(wire, make.start(unique))
    with watched(server):
        assert done(wire, call)["inserted"]
        assert not done(wire, call)["inserted"]


@pytest.mark.parametrize("payload", ['[["' + '[\\"' * MIB, '"' + "[" * 600 + "\\" * MIB, "[" * MIB])
def test_a_large_payload_that_is_no_json_is_soon_refused(server: Server, wire: Wire, unique: str, payload: str) -> None:
    done(wire, make.start(unique))
    with watched(server):
        assert wire.call(make.append(unique, payload=payload)).code == "invalid_command"


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd", "gzip, identity", "x-gzip", "compress"])
def test_a_compressed_body_is_refused_whatever_is_in_it(wire: Wire, unique: str, encoding: str) -> None:
    plain = json.dumps({"session_id": unique}).encode()
    bodies = [gzip.compress(plain), zlib.compress(plain), plain, gzip.compress(bytes(100 * MIB), 9)]
    for body in bodies:
        answer = checked(wire.http.post("/v1/sessions", content=body, headers=JSON | {"content-encoding": encoding}))
        assert (answer.status, answer.code) == (415, "unsupported_media_type")
    assert wire.http.get(f"/v1/sessions/{unique}").status_code == 404


def test_slow_callers_hold_up_nobody(server: Server, wire: Wire, unique: str) -> None:
    """A hundred and fifty callers who send a byte now and then, of the head or of the body."""
    done(wire, make.start(unique))
    body = json.dumps({"session_id": f"{unique}-slow"}).encode()
    head = "POST /v1/sessions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
    whole = f"{head}content-length: {len(body)}\r\n\r\n".encode() + body
    with ExitStack() as stack:
        slow = [stack.enter_context(socket.create_connection(("127.0.0.1", server.port))) for _ in range(150)]
        sent = [10 + number % (len(whole) - 12) for number in range(len(slow))]
        for connection, size in zip(slow, sent, strict=True):
            connection.sendall(whole[:size])
        slowest = 0.0
        for turn in range(50):
            slow[turn].sendall(whole[sent[turn] : sent[turn] + 1])
            sent[turn] += 1
            begun = time.monotonic()
            assert done(wire, make.append(unique, key=f"k{turn}"))["inserted"]
            slowest = max(slowest, time.monotonic() - begun)
        assert slowest < 2
        # They are slow, not wrong: who sends the rest is answered.
        for connection, size in zip(slow[:5], sent[:5], strict=True):
            connection.sendall(whole[size:])
            connection.settimeout(10)
            assert connection.recv(15) == b"HTTP/1.1 200 OK"


def test_a_caller_who_reads_nothing_holds_up_nobody(server: Server, wire: Wire, unique: str) -> None:
    done(wire, make.start(unique), make.append(unique, payload='"' + "x" * (4 * MIB) + '"'))
    request = f"GET /v1/runs/{unique}/records HTTP/1.1\r\nhost: localhost\r\n\r\n".encode()
    with ExitStack() as stack, watched(server):
        for _ in range(8):
            connection = stack.enter_context(socket.socket())
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            connection.connect(("127.0.0.1", server.port))
            connection.sendall(request)
        for turn in range(20):
            assert done(wire, make.append(unique, key=f"k{turn}"))["inserted"]
