"""Make or mend ``.venv``: ``python3 requirements/environment.py run|dev``. ``./dev`` calls it before everything else.

``run`` is what serving needs, ``dev`` adds what testing, linting and generating need. Both come from the locks beside
this file, by pip, with hashes and as wheels only: nothing is compiled. It needs Python 3.11 to 3.14 and its standard
library, nothing else.

When nothing has changed it ends at once. Two that start together do not disturb each other: the second waits. An
interrupted one leaves a mark, and the next starts over.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
UNFINISHED = VENV / "unfinished"
SCRATCH = VENV / "scratch"
LOCKS = {"run": ("run.txt", "build.txt"), "dev": ("dev.txt",)}
"""The locks of each level. They agree with each other, and dev.txt holds all of the others."""
PROJECTS = (ROOT, ROOT / "client")
PIP_INSTALL = (
    str(PYTHON),
    "-I",
    "-m",
    "pip",
    "-q",
    "--no-input",
    "--disable-pip-version-check",
    "install",
    "--no-deps",
)
# What would send packages elsewhere than into .venv, or start another Python there.
DISTURBING = ("PIP_PREFIX", "PIP_ROOT", "PIP_TARGET", "PIP_USER", "PYTHONHOME", "PYTHONPATH", "__PYVENV_LAUNCHER__")


def main(level: str) -> None:
    """Make sure that ``.venv`` has what a level needs. Raises: SystemExit, with one line, when it cannot."""
    if is_ready(level):
        return
    try:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        signal.signal(signal.SIGHUP, signal.default_int_handler)
        with locked() as lock:
            if not is_ready(level):
                prepare(level, lock)
    except KeyboardInterrupt:
        raise SystemExit("dev: stopped while setting up .venv; the next start begins again") from None
    except (OSError, subprocess.CalledProcessError) as error:
        raise SystemExit(f"dev: could not set up .venv: {error}") from None


def is_ready(level: str) -> bool:
    """Whether ``.venv`` was finished for this level, here, from these locks and with this Python."""
    if UNFINISHED.exists() or not wanted_python_is_inside():
        return False
    return stamp(level).is_file() and stamp(level).read_text() == fingerprint(level)


def prepare(level: str, lock: int) -> None:
    """Install what a level needs, into a new ``.venv`` unless the one there is sound."""
    prints = {each: fingerprint(each) for each in LOCKS}
    if UNFINISHED.exists() or not wanted_python_is_inside() or not made_here():
        say(f"making .venv with Python {'.'.join(map(str, sys.version_info[:3]))}")
        if VENV.is_symlink():
            VENV.unlink()
        shutil.rmtree(VENV, ignore_errors=True)
        VENV.mkdir()
        UNFINISHED.touch()
        call([base_python(), "-I", "-m", "venv", str(VENV)], lock)
        (VENV / "made-in").write_text(str(ROOT))
    UNFINISHED.touch()
    for each in LOCKS:
        stamp(each).unlink(missing_ok=True)
    say(f"installing packages for '{level}' into .venv; the first time this takes a minute or two")
    try:
        for name in LOCKS[level]:
            file = ROOT / "requirements" / name
            call([*PIP_INSTALL, "--require-hashes", "--only-binary", ":all:", "--requirement", str(file)], lock)
        editables = [part for project in PROJECTS for part in ("--editable", str(project))]
        call([*PIP_INSTALL, "--no-index", "--no-build-isolation", *editables], lock)
    except subprocess.CalledProcessError:
        # pip undid what it had begun: a registry that is out of reach costs nobody a sound .venv.
        UNFINISHED.unlink()
        raise
    for each in LOCKS if level == "dev" else (level,):
        stamp(each).write_text(prints[each])
    shutil.rmtree(SCRATCH)
    UNFINISHED.unlink()


def fingerprint(level: str) -> str:
    """What an installation depends on, as a hash: the locks, both projects, and how they are installed."""
    hashed = hashlib.sha256()
    for file in [Path(__file__), *(Path(__file__).with_name(lock) for lock in LOCKS[level])]:
        hashed.update(hashlib.sha256(file.read_bytes()).digest())
    for project in PROJECTS:
        described = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))
        # The configuration of linters and tests changes nothing that is installed.
        installed = (described["build-system"], described["project"], described["tool"]["hatch"])
        hashed.update(json.dumps(installed, sort_keys=True).encode())
    return hashed.hexdigest()


def stamp(level: str) -> Path:
    """The file that says what a level was installed from."""
    return VENV / f"stamp-{level}"


def made_here() -> bool:
    """Whether ``.venv`` is ours and has not been moved: its programs hold its path."""
    mark = VENV / "made-in"
    return mark.is_file() and mark.read_text() == str(ROOT)


def wanted_python_is_inside() -> bool:
    """Whether ``.venv`` runs, is of the version it was made with, and of that of ``PYTHON`` if one is given."""
    if not made_here():
        return False
    if Path(sys.prefix).resolve() == VENV.resolve():
        inside = identity()
    else:
        try:
            ask = "import sys; print(sys.version_info[:2], sys.base_prefix)"
            told = subprocess.run([str(PYTHON), "-I", "-c", ask], capture_output=True, text=True, check=False)
            inside = told.stdout.strip()
        except OSError:
            return False
    has_packages = (VENV / "lib" / f"python{inside[1:].replace(', ', '.').split(')')[0]}" / "site-packages").is_dir()
    return has_packages and (not os.environ.get("PYTHON") or inside == identity())


def identity() -> str:
    """This Python: its version and where it is installed."""
    return f"{sys.version_info[:2]} {sys.base_prefix}"


def base_python() -> str:
    """The interpreter to make ``.venv`` with: this one, or the one this one's environment was made with."""
    return getattr(sys, "_base_executable", None) or sys.executable


@contextmanager
def locked() -> Iterator[int]:
    """Let one process at a time change ``.venv``; yield the lock's descriptor. It is free when its holders are gone."""
    with (ROOT / ".venv.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another ./dev, which is setting up .venv")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield file.fileno()


def say(text: str) -> None:
    """Tell what takes time. Standard output is left to the command that ./dev is asked for."""
    print(f"dev: {text}", file=sys.stderr, flush=True)


def call(command: list[str], lock: int) -> None:
    """Run a command. Raises: CalledProcessError.

    It shares the lock: should this process be killed, the next one waits until the command has ended, too. Ctrl-C
    comes to this process alone, which ends the command: pip's own last words would be a page long.
    """
    environment = {name: value for name, value in os.environ.items() if name not in DISTURBING}
    # Without a home pip would keep its cache in a folder called "~".
    environment.setdefault("HOME", str(VENV))
    # What an ended pip leaves behind goes with the unfinished .venv.
    SCRATCH.mkdir(exist_ok=True)
    environment["TMPDIR"] = str(SCRATCH)
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, pass_fds=(lock,), start_new_session=True
    ) as running:
        try:
            status = running.wait()
        except KeyboardInterrupt:
            os.killpg(running.pid, signal.SIGTERM)
            raise
    if status:
        raise subprocess.CalledProcessError(status, " ".join(command[:6]) + " …")


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in LOCKS:
        raise SystemExit("usage: python3 requirements/environment.py run|dev")
    main(sys.argv[1])
