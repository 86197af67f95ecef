"""Who may be served: without identity only this machine; a container gets its first key in one step."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from runhold.domain.errors import Forbidden
from runhold.identity.hosts import check_host, is_loopback
from runhold_client import HttpStore
from tests.support.ports import free_port
from tests.support.server import Server


def serve(folder: Path, port: int, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    settings = {"PATH": "/usr/bin:/bin", "RUNHOLD_DATABASE_URL": f"sqlite:///{folder}/runhold.db", **environment}
    command = [sys.executable, "-m", "runhold", "serve", "--port", str(port), *arguments]
    return subprocess.Popen(
        command, cwd=folder, env=settings, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_others_are_not_served_without_identity(tmp_path: Path, host: str) -> None:
    process = serve(tmp_path, free_port(), "--host", host)
    out, error = process.communicate(timeout=30)
    assert (process.returncode, out) == (1, "")
    (line,) = error.splitlines()
    assert line.startswith(f"runhold: refusing to serve on {host} without identity: set RUNHOLD_API_KEYS_FILE")
    assert "RUNHOLD_BOOTSTRAP_KEY=print" in line


def test_a_key_file_that_is_missing_stops_the_start_with_one_line(tmp_path: Path) -> None:
    process = serve(tmp_path, free_port(), RUNHOLD_API_KEYS_FILE=str(tmp_path / "none.json"))
    out, error = process.communicate(timeout=30)
    assert (process.returncode, out) == (1, "")
    assert "runhold keys create" in error
    assert len(error.splitlines()) == 1


def test_a_first_key_is_made_and_printed_once_and_never_logged(tmp_path: Path) -> None:
    port = free_port()
    found: list[list[str]] = []
    for _ in range(2):
        process = serve(tmp_path, port, "--host", "0.0.0.0", RUNHOLD_BOOTSTRAP_KEY="print")
        wait_until_ready(port)
        process.send_signal(signal.SIGTERM)
        out, error = process.communicate(timeout=30)
        assert process.returncode == 0
        keys = re.findall(r"^(rh\.[A-Za-z0-9_.-]+)$", out, re.MULTILINE)
        assert "rh." not in error
        found.append(keys)
    assert len(found[0]) == 1
    assert found[1] == []
    assert found[0][0].rpartition(".")[2] not in (tmp_path / "runhold-keys.json").read_text()
    process = serve(tmp_path, port, "--host", "0.0.0.0", RUNHOLD_BOOTSTRAP_KEY="print")
    try:
        wait_until_ready(port)
        with HttpStore(f"http://127.0.0.1:{port}", token=found[0][0]) as store:
            assert store.create_session("s").session_id == "s"
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)


def wait_until_ready(port: int) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            if httpx.get(f"http://127.0.0.1:{port}/readyz", trust_env=False).status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.05)
    raise AssertionError("it did not become ready")


HERE = [
    "localhost",
    "localhost:8080",
    "127.0.0.1",
    "127.0.0.1:1",
    "127.9.9.9:80",
    "[::1]",
    "[::1]:8080",
    "LOCALHOST",
    "a.localhost",
]
ELSEWHERE = [
    "",
    "example.com",
    "example.com:8080",
    "127.0.0.1.example.com",
    "localhost.example.com",
    "10.0.0.1",
    "[::2]:80",
]


@pytest.mark.parametrize("host", HERE)
def test_a_host_header_that_names_this_machine_is_taken(host: str) -> None:
    check_host(host.encode())


@pytest.mark.parametrize("host", [*ELSEWHERE, None])
def test_a_host_header_that_names_another_is_refused(host: str | None) -> None:
    with pytest.raises(Forbidden):
        check_host(None if host is None else host.encode())


def test_loopback_is_what_only_this_machine_reaches() -> None:
    assert [
        host
        for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "::", "10.0.0.1", "example.com")
        if is_loopback(host)
    ] == [
        "127.0.0.1",
        "::1",
        "localhost",
    ]


def test_a_page_from_elsewhere_reaches_nothing_by_a_name_of_its_own(server: Server) -> None:
    with httpx.Client(base_url=server.url, trust_env=False) as http:
        for path in ("/v1/sessions", "/docs", "/livez", "/openapi.json", "/nowhere"):
            answer = http.get(path, headers={"host": "evil.example.com"})
            assert answer.status_code == 403
            assert answer.json()["code"] == "forbidden"


def test_with_identity_any_name_is_answered(start_server: Any, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "runhold", "keys", "create", "--role", "admin", "--file", str(tmp_path / "k")]
    key = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    server: Server = start_server({"RUNHOLD_API_KEYS_FILE": str(tmp_path / "k")})
    headers = {"host": "runs.example.com", "authorization": f"Bearer {key}"}
    assert httpx.get(f"{server.url}/v1/sessions", headers=headers, trust_env=False).status_code == 200
