"""A request that does not come in whole loses its connection after a while; one that is whole may take its time."""

from __future__ import annotations

import socket
import time
from typing import Any

import httpx
import pytest

from tests.api.story import a_one_shot_start
from tests.support.server import Server

HEAD = b"POST /v1/runs/one-shot HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"


@pytest.fixture
def server_in_a_hurry(start_server: Any) -> Server:
    """A service that waits a second for a request."""
    server: Server = start_server({"RUNHOLD_REQUEST_TIMEOUT_MS": "1000"})
    return server


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET /v1/",
        HEAD,
        HEAD + b"Content-Length: 100\r\n\r\n{",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\n{",
    ],
)
def test_half_a_request_loses_its_connection(server_in_a_hurry: Server, sent: bytes) -> None:
    with socket.create_connection(("127.0.0.1", server_in_a_hurry.port), timeout=10) as connection:
        begun = time.monotonic()
        connection.sendall(sent)
        assert connection.recv(1000) == b""
        assert 0.9 < time.monotonic() - begun < 5


def test_drop_by_drop_is_not_whole_either(server_in_a_hurry: Server) -> None:
    with socket.create_connection(("127.0.0.1", server_in_a_hurry.port), timeout=10) as connection:
        connection.sendall(HEAD + b"Content-Length: 1000\r\n\r\n")
        begun = time.monotonic()
        with pytest.raises(OSError, match=r"."):
            trickle(connection, 8)
        assert time.monotonic() - begun < 5


def trickle(connection: socket.socket, seconds: float) -> None:
    begun = time.monotonic()
    while time.monotonic() - begun < seconds:
        connection.sendall(b" ")
        time.sleep(0.05)


def test_a_whole_request_may_wait_longer_and_its_connection_is_kept(server_in_a_hurry: Server) -> None:
    with httpx.Client(base_url=server_in_a_hurry.url, trust_env=False, timeout=10) as http:
        assert http.post("/v1/runs/one-shot", json=a_one_shot_start("r")).status_code == 200
        begun = time.monotonic()
        page = http.get("/v1/runs/r/records", params={"cursor": "1", "wait_ms": "2000"})
        assert page.status_code == 200
        assert time.monotonic() - begun >= 1.9
        time.sleep(1.5)
        assert http.get("/v1/runs/r").status_code == 200
