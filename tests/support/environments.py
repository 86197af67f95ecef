"""Clean virtual environments that hold exactly what a distribution says it needs, made without the network.

What a package needs is copied from the environment that runs the tests, where pip put it from the lock, checked by its
hash. So a test finds a dependency that is used and not declared, and needs neither time nor a registry for it.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from shutil import copy2

from packaging.requirements import Requirement
from packaging.utils import NormalizedName, canonicalize_name


def clean_environment(folder: Path, wheels: Iterable[Path]) -> Path:
    """Make an environment with some wheels and what they need. Returns its Python.

    Raises:
        CalledProcessError: a wheel cannot be installed, or needs something that is not there.
    """
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    python = folder / "bin" / "python"
    pip = [str(python), "-I", "-m", "pip", "--disable-pip-version-check", "--quiet"]
    subprocess.run([*pip, "install", "--no-index", "--no-deps", *map(str, wheels)], check=True)
    site = next(folder.glob("lib/python*/site-packages"))
    ours = {canonicalize_name(found.name) for found in metadata.distributions(path=[str(site)])}
    for name in _needed(metadata.distributions(path=[str(site)]), ours):
        _copy(name, site)
    subprocess.run([*pip, "check"], check=True)
    return python


def _needed(roots: Iterable[metadata.Distribution], there: set[NormalizedName]) -> set[NormalizedName]:
    """The names of all that some distributions need, directly or not."""
    needed: set[NormalizedName] = set()
    waiting = [(root, "") for root in roots]
    seen = set()
    while waiting:
        distribution, extra = waiting.pop()
        for text in distribution.requires or []:
            requirement = Requirement(text)
            if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
                continue
            name = canonicalize_name(requirement.name)
            for wanted in ("", *requirement.extras):
                if (name, wanted) not in seen and name not in there:
                    seen.add((name, wanted))
                    needed.add(name)
                    waiting.append((metadata.distribution(name), wanted))
    return needed


def _copy(name: str, into: Path) -> None:
    own = Path(sysconfig.get_path("purelib"))
    for file in metadata.distribution(name).files or []:
        source = own / file
        # Programs lie outside the packages; no test calls another package's.
        if ".." not in file.parts and source.is_file():
            target = into / file
            target.parent.mkdir(parents=True, exist_ok=True)
            copy2(source, target)
