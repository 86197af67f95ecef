"""What tests need to act as a user without rights when they run as root; as anybody else they act as themselves."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

NOBODY = 65534
OTHER_USER = NOBODY if os.getuid() == 0 else None
"""The user and group to run a program as, for ``subprocess``; None when the tests are not root's."""


def folder_for_anyone() -> str:
    """A place for temporary files that every user can reach. Raises: RuntimeError when there is none."""
    for place in (tempfile.gettempdir(), "/tmp", "/var/tmp"):
        if _open_to_all(Path(place).resolve()):
            return str(Path(place).resolve())
    raise RuntimeError("no folder for temporary files that other users may enter; set TMPDIR to one")


def python_for_anyone() -> Path:
    """A Python 3.11 to 3.14 with venv that every user may run; the tests' own when it is one, or is not root's."""
    own = Path(getattr(sys, "_base_executable", sys.executable)).resolve()
    ask = "import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))"
    for found in (own, *map(Path, filter(None, [shutil.which("python3", path="/usr/bin:/usr/local/bin")]))):
        if (OTHER_USER is None or _open_to_all(found.parent)) and subprocess.run(
            [found, "-I", "-c", ask]
        ).returncode == 0:
            return found
    raise RuntimeError("no Python that an unprivileged user may run: ./dev setup --system installs one")


def _open_to_all(folder: Path) -> bool:
    return all(each.stat().st_mode & 0o001 for each in (folder.resolve(), *folder.resolve().parents))
