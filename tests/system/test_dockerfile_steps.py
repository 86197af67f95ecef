"""The Dockerfile's steps, carried out without an engine: the image they would make migrates, serves and is healthy."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.support.checkout import ROOT, copy_project
from tests.support.dockerfile import Builder, Image
from tests.support.ports import free_port
from tests.support.unprivileged import folder_for_anyone


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    """A folder that other users may enter: the service will not run as the user of the tests."""
    # Not pytest's own: every other run of pytest closes that to other users again.
    with tempfile.TemporaryDirectory(prefix="runhold-image-", dir=folder_for_anyone()) as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture(scope="module")
def builder(place: Path) -> Builder:
    context = copy_project(place / "context")
    return Builder(ROOT / "Dockerfile", context, place / "disk")


@pytest.fixture(scope="module")
def image(builder: Builder) -> Image:
    image = builder.build()
    user, group = map(int, image.user.split(":"))
    if os.getuid() == 0:
        os.chown(builder.disk / "data", user, group)
    return image


def start(builder: Builder, image: Image, words: list[str], **environment: str) -> subprocess.Popen[str]:
    """Start a command as the container would."""
    user, group = map(int, image.user.split(":"))
    as_root = os.getuid() == 0
    variables = builder.variables(image) | environment
    program = next(
        Path(folder) / words[0] for folder in variables["PATH"].split(":") if (Path(folder) / words[0]).exists()
    )
    return subprocess.Popen(
        [str(program), *words[1:]],
        cwd=builder.disk / image.folder.lstrip("/"),
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        user=user if as_root else None,
        group=group if as_root else None,
        extra_groups=[] if as_root else None,
    )


def outcome(process: subprocess.Popen[str]) -> tuple[int, str]:
    said, _ = process.communicate(timeout=60)
    return process.returncode, said


def test_the_image_migrates_by_a_command_of_its_own_then_serves_and_reports_its_health(
    builder: Builder, image: Image
) -> None:
    assert outcome(start(builder, image, [*image.entrypoint, "migrate"]))[0] == 0
    port = str(free_port())
    assert outcome(start(builder, image, image.health, RUNHOLD_PORT=port))[0] != 0

    # The test stays on loopback; an image serves on all addresses, which asks for keys.
    service = start(builder, image, image.entrypoint + image.command, RUNHOLD_PORT=port, RUNHOLD_HOST="127.0.0.1")
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False) as http:
            deadline = time.monotonic() + 30
            while service.poll() is None and time.monotonic() < deadline:
                try:
                    if http.get("/readyz").status_code == 200:
                        break
                except httpx.TransportError:
                    time.sleep(0.05)
            assert http.post("/v1/sessions", json={"session_id": "in-a-container"}).status_code == 200
        assert outcome(start(builder, image, image.health, RUNHOLD_PORT=port))[0] == 0
    finally:
        service.send_signal(signal.SIGTERM)
        status, said = outcome(service)
    assert status == 0, said
    assert (builder.disk / "data" / "runhold.db").is_file()


def test_the_image_holds_the_service_and_not_what_built_it(builder: Builder, image: Image) -> None:
    packages = {path.name.lower() for path in (builder.disk / "opt/runhold").glob("lib/python*/site-packages/*")}
    assert {"runhold", "runhold_client"} <= packages
    assert packages.isdisjoint({"hatchling", "pip", "pytest", "editables"})
    assert list((builder.disk / "src").iterdir()) == []
