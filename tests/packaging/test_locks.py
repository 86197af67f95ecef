"""The locks hold what the projects ask for, on every platform, and name no place to get it from."""

from __future__ import annotations

import re
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.support.checkout import ROOT

LOCKS = ("run", "build", "dev")
LOCK_FILES = [ROOT / "requirements" / f"{lock}.txt" for lock in LOCKS] + [ROOT / "client/generator/requirements.txt"]
OURS = {"runhold", "runhold-client"}


def entries(lock: Path) -> list[str]:
    """Each package of a lock with its hashes."""
    return re.split(r"^(?=[A-Za-z0-9])", lock.read_text(), flags=re.MULTILINE)[1:]


def pins(lock: Path) -> dict[str, str]:
    """The version of each package that a lock has for this machine."""
    here = [Requirement(entry.split("\\")[0].strip()) for entry in entries(lock)]
    here = [each for each in here if not each.marker or each.marker.evaluate()]
    return {canonicalize_name(each.name): str(each.specifier).removeprefix("==") for each in here}


def project(folder: str) -> dict[str, Any]:
    return tomllib.loads((ROOT / folder / "pyproject.toml").read_text())


def asked(what: str) -> list[str]:
    """What the projects ask for at run time, to build them, and to work on them."""
    service, client = project("."), project("client")
    groups = service["dependency-groups"]
    if what == "build":
        return [*groups["build"], *service["build-system"]["requires"], *client["build-system"]["requires"]]
    run: list[str] = service["project"]["dependencies"] + client["project"]["dependencies"]
    if what == "run":
        return run
    extras = [
        one for each in (service, client) for some in each["project"]["optional-dependencies"].values() for one in some
    ]
    return [*run, *extras, *groups["build"], *[one for one in groups["dev"] if isinstance(one, str)]]


@pytest.mark.parametrize("what", LOCKS)
def test_a_lock_satisfies_what_the_projects_ask_for(what: str) -> None:
    locked = pins(ROOT / "requirements" / f"{what}.txt")
    for requirement in map(Requirement, asked(what)):
        name = canonicalize_name(requirement.name)
        if name not in OURS:
            assert name in locked, f"{name} is not locked: ./dev lock"
            assert requirement.specifier.contains(locked[name]), f"{name} {locked[name]}: ./dev lock"


def test_the_locks_agree() -> None:
    everything = pins(ROOT / "requirements" / "dev.txt")
    for lock in ("run", "build"):
        for name, version in pins(ROOT / "requirements" / f"{lock}.txt").items():
            assert everything[name] == version


def test_what_is_installed_is_what_is_locked() -> None:
    locked = pins(ROOT / "requirements" / "dev.txt")
    installed = {canonicalize_name(found.name): found.version for found in metadata.distributions()}
    assert {name: version for name, version in installed.items() if name in locked and locked[name] != version} == {}
    assert set(installed) - set(locked) <= OURS | {"pip", "setuptools"}


@pytest.mark.parametrize("lock", LOCK_FILES, ids=lambda path: "-".join(path.parts[-2:]))
def test_every_package_of_a_lock_has_hashes_and_no_place_to_get_it_from(lock: Path) -> None:
    assert entries(lock)
    assert all("==" in entry.split()[0] and "--hash=sha256:" in entry for entry in entries(lock))
    assert not re.search(r"://|--(extra-)?index-url|--find-links|--trusted-host|file:", lock.read_text())
