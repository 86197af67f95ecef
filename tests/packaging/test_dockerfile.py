"""The Dockerfile keeps to good practice and to the project: what it copies exists, and nothing else is sent to it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.checkout import ROOT
from tests.support.dockerfile import Step, is_ignored, stages

DOCKERFILE = ROOT / "Dockerfile"
IGNORE = (ROOT / ".dockerignore").read_text()


def last_stage() -> dict[str, Step]:
    return {step.name: step for step in stages(DOCKERFILE)[-1]}


def test_the_linter_finds_nothing() -> None:
    program = Path(sys.prefix) / "bin" / "hadolint"
    done = subprocess.run([str(program), "--no-color", str(DOCKERFILE)], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")


def test_the_linter_would_find_something(tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_text("FROM python\nRUN cd /tmp && sudo pip install x\n")
    program = Path(sys.prefix) / "bin" / "hadolint"
    assert subprocess.run([str(program), str(tmp_path / "Dockerfile")], capture_output=True).returncode == 1


def test_the_image_is_built_in_two_stages_and_only_the_installed_service_is_taken_over() -> None:
    build, final = stages(DOCKERFILE)
    assert build[0].rest.endswith(" AS build")
    assert [step.rest for step in final if step.name == "COPY"] == ["--from=build /opt/runhold /opt/runhold"]


def test_the_service_does_not_run_as_root() -> None:
    user, group = last_stage()["USER"].rest.split(":")
    assert int(user) > 0
    assert int(group) > 0


def test_the_service_gets_signals_and_the_migration_is_a_command_of_its_own() -> None:
    # In exec form no shell stands between the container's stop and the service.
    assert last_stage()["ENTRYPOINT"].rest == '["runhold"]'
    assert last_stage()["CMD"].rest == '["serve"]'


def test_the_health_check_asks_the_service_without_a_shell_or_a_program_the_image_lacks() -> None:
    words = last_stage()["HEALTHCHECK"].words
    assert words[0] == "python"
    assert "/livez" in words[-1]


def test_all_that_is_copied_is_there_and_sent_to_the_build() -> None:
    copied = [word for step in stages(DOCKERFILE)[0] if step.name == "COPY" for word in step.words[:-1]]
    assert copied
    for name in copied:
        assert (ROOT / name).exists(), name
        assert not is_ignored(name, IGNORE), name


@pytest.mark.parametrize(
    "name",
    [
        ".git",
        ".venv",
        "var/runhold.db",
        "tests/conftest.py",
        ".env",
        "keys.json",
        "app/runhold/__pycache__/a.cpython-313.pyc",
    ],
)
def test_nothing_else_is_sent_to_the_build(name: str) -> None:
    assert is_ignored(name, IGNORE)


def test_shells_other_than_bash_read_the_scripts() -> None:
    for script in ("dev", ".ci/run"):
        for shell in filter(shutil.which, ("sh", "dash")):
            assert subprocess.run([shell, "-n", str(ROOT / script)]).returncode == 0
