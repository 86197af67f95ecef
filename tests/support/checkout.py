"""A fresh copy of the project, as a clone would be: without .venv and whatever else is ignored."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def copy_project(into: Path, *, owner: int | None = None) -> Path:
    """Copy every file that is tracked or could be, and return the folder; ``owner`` gets it, with its folders."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in filter(None, os.fsdecode(listed.stdout).split("\0")):
        source, target = ROOT / name, into / name
        if source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    if owner is not None:
        for path in (into, *into.rglob("*")):
            os.chown(path, owner, owner)
    return into
