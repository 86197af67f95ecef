"""Reads the Dockerfile and carries its steps out without an engine, in a folder that stands for the container's disk.

Paths of the container that a step uses (``/src``, ``/opt``, ``/data``) become folders in there; the base image's Python
is one of this machine. Users and groups are not made: the service is started as the user's number.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

from tests.support.unprivileged import python_for_anyone

FOLDERS = ("/src", "/opt", "/data")


class Step(NamedTuple):
    """One instruction, its continued lines joined: ``RUN`` and all that follows it."""

    name: str
    rest: str

    @property
    def options(self) -> dict[str, str]:
        """What is given as ``--name=value`` before the rest."""
        found = (word for word in self.rest.split() if word.startswith("--"))
        return dict(re.findall(r"^--([a-z-]+)=(\S+)$", "\n".join(found), re.MULTILINE))

    @property
    def words(self) -> list[str]:
        """The arguments without options, in exec form or as words."""
        text = re.sub(r"^(--[a-z-]+=\S+\s+)+", "", self.rest)
        if text.startswith("CMD "):
            text = text.removeprefix("CMD ").strip()
        words: list[str] = json.loads(text) if text.startswith("[") else shlex.split(text)
        return words


@dataclass
class Image:
    """What a stage's instructions leave: its settings, once its steps are done."""

    environment: dict[str, str] = field(default_factory=dict)
    folder: str = "/"
    user: str = "0"
    entrypoint: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)
    health: list[str] = field(default_factory=list)


def stages(dockerfile: Path) -> list[list[Step]]:
    """The steps of each stage; a stage begins with its FROM."""
    text = re.sub(r"^\s*#.*\n", "", dockerfile.read_text(), flags=re.MULTILINE)
    found: list[list[Step]] = []
    for line in re.sub(r"\\\n\s*", "", text).splitlines():
        name, _, rest = line.strip().partition(" ")
        if name == "FROM":
            found.append([])
        if name and name != "ARG":
            found[-1].append(Step(name, rest.strip()))
    return found


def is_ignored(path: str, rules: str) -> bool:
    """Whether .dockerignore keeps a path out of the build: the last rule that matches it or a folder of it wins."""
    parents = [path, *(str(parent) for parent in Path(path).parents)]
    ignored = False
    for rule in rules.splitlines():
        pattern = rule.strip().lstrip("!")
        if not pattern or pattern.startswith("#"):
            continue
        anywhere = pattern.removeprefix("**/")
        if any(
            fnmatch(each, pattern) or (anywhere != pattern and fnmatch(Path(each).name, anywhere)) for each in parents
        ):
            ignored = not rule.strip().startswith("!")
    return ignored


class Builder:
    """Carries out the stages of a Dockerfile, one after another, in one folder that is emptied between them."""

    def __init__(self, dockerfile: Path, context: Path, disk: Path) -> None:
        self._context = context
        self._ignore = dockerfile.with_name(".dockerignore").read_text()
        self._stages = stages(dockerfile)
        self.disk = disk
        self._earlier = disk.with_name(disk.name + "-before")
        programs = disk.parent / "programs"
        programs.mkdir()
        (programs / "python").symlink_to(python_for_anyone())
        self._path = f"{programs}:/usr/bin:/bin"

    def build(self) -> Image:
        """Carry out all stages; return what the last one leaves. Raises: CalledProcessError when a step fails."""
        image = Image()
        for number, stage in enumerate(self._stages):
            if number:
                self.disk.rename(self._earlier)
            for folder in FOLDERS:
                (self.disk / folder[1:]).mkdir(parents=True)
            image = Image()
            for step in stage:
                self._do(step, image)
        return image

    def inside(self, text: str) -> str:
        """Replace the container's paths by those of the folder that stands for its disk."""
        return re.sub(rf"(?<![\w/.])({'|'.join(FOLDERS)})(?=[/\s:'\"]|$)", lambda found: f"{self.disk}{found[1]}", text)

    def variables(self, image: Image) -> dict[str, str]:
        """The environment that a command of the image gets."""
        kept = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_"))}
        given = {name: value.replace("$PATH", self._path) for name, value in image.environment.items()}
        # A database URL begins its path after three slashes, where no path is looked for.
        given = {
            name: re.sub(r"^sqlite:///(/.*)", lambda m: "sqlite:///" + self.inside(m[1]), value)
            for name, value in given.items()
        }
        return {"PATH": self._path, **kept, **{name: self.inside(value) for name, value in given.items()}}

    def _do(self, step: Step, image: Image) -> None:
        match step.name:
            case "RUN":
                # Users are not made: that would change the machine.
                parts = [part for part in step.rest.split(" && ") if part.split()[0] not in ("groupadd", "useradd")]
                self._shell(re.sub(r"install -d (-[og] \d+ )*", "mkdir -p ", " && ".join(parts)), image)
            case "COPY":
                self._copy(step, image)
            case "ENV":
                image.environment |= dict(word.split("=", 1) for word in shlex.split(step.rest))
            case "WORKDIR":
                image.folder = step.rest
                self._place(step.rest, image).mkdir(parents=True, exist_ok=True)
            case "USER":
                image.user = step.rest
            case "ENTRYPOINT":
                image.entrypoint = step.words
            case "CMD":
                image.command = step.words
            case "HEALTHCHECK":
                image.health = step.words
            case "FROM" | "EXPOSE" | "VOLUME":
                pass
            case _:
                raise ValueError(f"an instruction that this does not know: {step.name}")

    def _shell(self, script: str, image: Image) -> None:
        folder = self._place(image.folder, image)
        subprocess.run(["sh", "-ec", self.inside(script)], cwd=folder, env=self.variables(image), check=True)

    def _copy(self, step: Step, image: Image) -> None:
        *sources, target = step.words
        into = self._place(target, image)
        for source in sources:
            origin = self._earlier / source.lstrip("/") if "from" in step.options else self._context / source
            if origin.is_dir():
                shutil.copytree(origin, into, symlinks=True, dirs_exist_ok=True, ignore=self._ignored(step))
            else:
                place = into / origin.name if target.endswith("/") else into
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(origin, place)

    def _ignored(self, step: Step) -> Callable[[str, list[str]], list[str]]:
        def ignored(folder: str, names: list[str]) -> list[str]:
            if "from" in step.options:
                return []
            within = Path(folder).relative_to(self._context)
            return [name for name in names if is_ignored(str(within / name), self._ignore)]

        return ignored

    def _place(self, path: str, image: Image) -> Path:
        return self.disk / str(Path(image.folder, path)).lstrip("/")
