"""What ./dev says where it cannot go on: one line that tells what to do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.checkout import ROOT, copy_project

# Runs ./dev's question to a Python with an answer of our own: a version, or a missing part.
PRETEND = """#!/bin/sh
[ "$2" = -c ] || exec "{python}" "$@"
exec "{python}" -I -c '
import sys, importlib.util as util
find = util.find_spec
util.find_spec = lambda name: None if name == "{missing}" else find(name)
sys.version_info = {version} or sys.version_info
exec(sys.argv[1])
' "$3"
"""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_project(tmp_path_factory.mktemp("never prepared"))


def pretend(folder: Path, name: str, *, missing: str = "", version: str = "None") -> None:
    folder.mkdir(exist_ok=True)
    program = folder / name
    program.write_text(PRETEND.format(python=sys.executable, missing=missing, version=version))
    program.chmod(0o755)


def dev(checkout: Path, programs: Path, *arguments: str, **environment: str) -> tuple[int, str]:
    # Only what ./dev itself calls, and the Pythons of the test.
    for tool in ("dirname", "cat", "id", "sh"):
        found = next(Path(folder) / tool for folder in ("/usr/bin", "/bin") if (Path(folder) / tool).exists())
        if not (programs / tool).exists():
            (programs / tool).symlink_to(found)
    done = subprocess.run(
        [str(checkout / "dev"), *arguments],
        env={"PATH": str(programs), **environment},
        cwd=programs,
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stderr


def test_a_python_without_venv_is_told_with_the_one_package_to_install(checkout: Path, tmp_path: Path) -> None:
    pretend(tmp_path, "python3", missing="ensurepip", version="(3, 13, 1)")
    assert dev(checkout, tmp_path, "serve") == (
        1,
        "dev: python3 lacks venv; install it first, on Debian and Ubuntu: apt-get install python3.13-venv\n",
    )


def test_no_python_of_a_known_version_is_told(checkout: Path, tmp_path: Path) -> None:
    pretend(tmp_path, "python3", version="(3, 10, 4)")
    expected = "dev: no Python 3.11 to 3.14 on PATH; install one, or name one in PYTHON\n"
    assert dev(checkout, tmp_path, "test") == (1, expected)


def test_a_named_python_that_does_not_fit_is_told(checkout: Path, tmp_path: Path) -> None:
    pretend(tmp_path, "other", version="(3, 10, 4)")
    status, said = dev(checkout, tmp_path, "migrate", PYTHON=str(tmp_path / "other"))
    assert (status, said) == (1, f"dev: PYTHON={tmp_path}/other is Python 3.10 (wanted: 3.11 to 3.14)\n")
    status, said = dev(checkout, tmp_path, "migrate", PYTHON="nowhere")
    assert (status, said) == (1, "dev: PYTHON=nowhere does not run (wanted: 3.11 to 3.14)\n")


def test_an_older_python3_does_not_hide_a_newer_one(checkout: Path, tmp_path: Path) -> None:
    pretend(tmp_path, "python3", version="(3, 9, 2)")
    # The newer one is found, and then itself says what it lacks.
    pretend(tmp_path, "python3.12", missing="venv", version="(3, 12, 1)")
    status, said = dev(checkout, tmp_path, "serve")
    assert (status, said.split(";")[0]) == (1, "dev: python3.12 lacks venv")


def test_an_unknown_command_gets_the_list_of_commands(checkout: Path, tmp_path: Path) -> None:
    status, said = dev(checkout, tmp_path, "launch")
    assert status == 2
    assert said.startswith("usage: ./dev COMMAND")
    done = subprocess.run([str(ROOT / "dev"), "--help"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, said)


@pytest.mark.parametrize(
    "command",
    [
        "serve",
        "migrate",
        "demo",
        "test",
        "test-system",
        "faults",
        "bench",
        "lint",
        "types",
        "generate",
        "lock",
        "setup",
    ],
)
def test_help_names_every_command(command: str) -> None:
    said = subprocess.run([str(ROOT / "dev"), "--help"], capture_output=True, text=True).stdout
    assert f"\n  {command} " in said


def test_only_root_can_install_what_belongs_to_the_system(checkout: Path, tmp_path: Path) -> None:
    (tmp_path / "apt-get").write_text("#!/bin/sh\nexit 9\n")
    (tmp_path / "id").write_text("#!/bin/sh\necho 1000\n")
    for name in ("apt-get", "id"):
        (tmp_path / name).chmod(0o755)
    status, said = dev(checkout, tmp_path, "setup", "--system")
    assert (status, said) == (1, "dev: setup --system installs packages of the system: run it as root\n")
