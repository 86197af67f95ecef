"""The pages lead somewhere, and each command they show is one that a test or the CI runs."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.docs.test_programs import PAGES
from tests.support.checkout import ROOT

LINK = re.compile(r"\]\(([^)#\s]*)(#[^)\s]*)?\)")
SHELL = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RUN_ELSEWHERE = {
    "./dev serve": "tests/system/test_dev.py",
    "./dev test": ".ci/run",
}
"""Commands that take long or do not end, and who runs them."""


def commands() -> list[tuple[Path, str]]:
    found = []
    for page in PAGES:
        for block in SHELL.findall(page.read_text()):
            lines = block.replace("\\\n", " ").splitlines()
            found += [(page, " ".join(shlex.split(line, comments=True))) for line in lines]
    return [(page, command) for page, command in found if command]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_a_file(page: Path) -> None:
    for target, anchor in LINK.findall(page.read_text()):
        if target.startswith(("http://", "https://", "mailto:")):
            continue
        found = (page.parent / target) if target else page
        assert found.exists(), f"{page.name}: {target}"
        if anchor and found.suffix == ".md":
            headings = re.findall(r"^#+ (.+)$", found.read_text(), re.MULTILINE)
            assert anchor[1:] in {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}, anchor


def test_what_is_run_elsewhere_is_run_there() -> None:
    for command, where in RUN_ELSEWHERE.items():
        text = (ROOT / where).read_text()
        assert all(part in text for part in command.split()), command


@pytest.mark.parametrize(
    ("page", "command"), [c for c in commands() if c[1] not in RUN_ELSEWHERE], ids=lambda v: str(v)[-60:]
)
def test_every_other_command_works_as_it_is_shown(page: Path, command: str, tmp_path: Path) -> None:
    assert page.exists()
    environment = {
        "PATH": f"{ROOT}/.venv/bin:/usr/local/bin:/usr/bin:/bin",
        "HOME": str(tmp_path),
        "RUNHOLD_DATABASE_URL": f"sqlite:///{tmp_path}/runhold.db",
    }
    subprocess.run(["runhold", "migrate"], env=environment, check=True, capture_output=True)
    done = subprocess.run(["sh", "-c", command], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
