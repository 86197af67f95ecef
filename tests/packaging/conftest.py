"""Both wheels, built once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.checkout import copy_project


class Wheels(NamedTuple):
    """The files of both distributions."""

    service: Path
    client: Path


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Wheels:
    """Both wheels, each built from its own source distribution, which therefore lacks nothing."""
    checkout = copy_project(tmp_path_factory.mktemp("checkout"))
    built = [build(checkout / part, tmp_path_factory.mktemp("dist")) for part in (".", "client")]
    return Wheels(*built)


def build(project: Path, into: Path) -> Path:
    """Build a project's source distribution and, from that, its wheel."""
    hatchling = [sys.executable, "-I", "-m", "hatchling", "build", "-d", str(into)]
    subprocess.run([*hatchling, "-t", "sdist"], cwd=project, check=True, capture_output=True)
    (source,) = into.glob("*.tar.gz")
    pip = [sys.executable, "-I", "-m", "pip", "--disable-pip-version-check", "--quiet", "wheel"]
    subprocess.run([*pip, "--no-index", "--no-deps", "--no-build-isolation", "-w", str(into), str(source)], check=True)
    (wheel,) = into.glob("*.whl")
    return wheel
