"""./dev on a fresh machine: a new copy, a user without rights or a home, a path with spaces, a proxy variable.

These install packages from a registry. A copy is prepared once for all tests here.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.support.checkout import ROOT, copy_project
from tests.support.ports import free_port
from tests.support.unprivileged import OTHER_USER, folder_for_anyone, python_for_anyone

FIRST_START_SECONDS = 240.0
KEPT = ("PIP_", "SSL_", "HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "NO_PROXY", "no_proxy")


@pytest.fixture(scope="module")
def checkout() -> Iterator[Path]:
    """A fresh copy in a folder whose name has spaces, owned by a user without rights."""
    with tempfile.TemporaryDirectory(prefix="runhold dev ", dir=folder_for_anyone()) as folder:
        Path(folder).chmod(0o755)
        project = Path(folder) / "a fresh machine"
        project.mkdir()
        (Path(folder) / "programs").mkdir()
        (Path(folder) / "programs" / "python3").symlink_to(python_for_anyone())
        yield copy_project(project, owner=OTHER_USER)


def start(checkout: Path, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    """Start ./dev as somebody whose environment says next to nothing: no HOME above all."""
    kept = {name: value for name, value in os.environ.items() if name.startswith(KEPT)}
    return subprocess.Popen(
        [str(checkout / "dev"), *arguments],
        # From elsewhere: ./dev finds its place by itself.
        cwd="/",
        env={**kept, "PATH": f"{checkout.parent / 'programs'}:/usr/bin:/bin", **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        user=OTHER_USER,
        group=OTHER_USER,
        extra_groups=None if OTHER_USER is None else [],
    )


def outcome(process: subprocess.Popen[str], seconds: float = FIRST_START_SECONDS) -> tuple[int, str]:
    said, _ = process.communicate(timeout=seconds)
    return process.returncode, said


def seconds_until_ready(process: subprocess.Popen[str], port: int, most: float) -> float:
    begun = time.monotonic()
    with httpx.Client(trust_env=False) as http:
        while process.poll() is None and time.monotonic() - begun < most:
            try:
                if http.get(f"http://127.0.0.1:{port}/readyz").status_code == 200:
                    return time.monotonic() - begun
            except httpx.TransportError:
                pass
            time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    raise AssertionError(f"not ready within {most:.0f} s:\n{outcome(process)[1]}")


# The tests below build on each other's copy, in this order, so that it need be prepared only once.


@pytest.mark.timeout(600)
def test_ctrl_c_while_setting_up_is_said_in_one_line_and_leaves_nothing_in_the_way(checkout: Path) -> None:
    temporary = checkout.parent / "temporary"
    temporary.mkdir(mode=0o777)
    temporary.chmod(0o777)
    setup = start(checkout, "migrate", "--help", TMPDIR=str(temporary))
    deadline = time.monotonic() + 60
    while not list(checkout.glob(".venv/lib/python*/site-packages/[a-c]*")) and time.monotonic() < deadline:
        assert setup.poll() is None, outcome(setup)
        time.sleep(0.02)
    # As the terminal does: to every process of the foreground.
    os.killpg(setup.pid, signal.SIGINT)
    status, said = outcome(setup)
    assert status != 0
    assert said.splitlines()[-1] == "dev: stopped while setting up .venv; the next start begins again"
    assert (checkout / ".venv" / "unfinished").exists()
    assert "Traceback" not in said
    assert list(temporary.iterdir()) == []


@pytest.mark.timeout(600)
def test_two_that_start_at_once_on_a_fresh_machine_both_succeed(checkout: Path) -> None:
    both = [start(checkout, "migrate", "--help") for _ in range(2)]
    answers = [outcome(process) for process in both]
    assert [status for status, _ in answers] == [0, 0], answers
    assert sum("making .venv" in said for _, said in answers) == 1
    assert sum("waiting for another ./dev" in said for _, said in answers) == 1


def test_a_second_start_serves_within_two_seconds_and_gets_its_signals(checkout: Path) -> None:
    # A proxy that nothing listens on: whoever sent loopback traffic there would fail.
    proxy = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY"), "http://127.0.0.1:9")
    taken = []
    for _ in range(3):
        port = free_port()
        service = start(checkout, "serve", "--port", str(port), **proxy)
        taken.append(seconds_until_ready(service, port, 60))
        page = httpx.get(f"http://127.0.0.1:{port}/docs", trust_env=False)
        assert "swagger-ui" in page.text
        # exec: the process that was started is the service.
        service.send_signal(signal.SIGTERM)
        status, said = outcome(service)
        assert status == 0, said
    assert min(taken) < 2, taken


def test_a_taken_port_is_told_in_one_line(checkout: Path) -> None:
    port = free_port()
    service = start(checkout, "serve", "--port", str(port))
    try:
        seconds_until_ready(service, port, 60)
        status, said = outcome(start(checkout, "serve", "--port", str(port)))
        assert status == 1
        assert len(said.strip().splitlines()) == 1
        assert str(port) in said
    finally:
        service.send_signal(signal.SIGTERM)
        outcome(service)


def test_what_the_environment_says_about_python_and_pip_does_no_harm(checkout: Path) -> None:
    stamp = checkout / ".venv" / "stamp-run"
    stamp.write_text("from another lock")
    odd = {"PYTHONPATH": "/nowhere", "PIP_USER": "1", "PIP_TARGET": "/nowhere", "HOME": "/nowhere", "PYTHONHOME": ""}
    status, said = outcome(start(checkout, "migrate", "--help", **odd))
    assert status == 0, said
    # Nothing was missing, so the sound environment was kept and no registry was needed.
    assert "making .venv" not in said


@pytest.mark.timeout(600)
def test_a_copy_that_was_moved_is_prepared_anew(checkout: Path) -> None:
    moved = checkout.with_name("moved")
    shutil.move(checkout, moved)
    try:
        status, said = outcome(start(moved, "migrate", "--help"))
        assert status == 0, said
        assert "making .venv" in said
    finally:
        shutil.move(moved, checkout)


def test_shellcheck_finds_nothing_in_the_scripts() -> None:
    done = subprocess.run(["shellcheck", "dev", ".ci/run"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
