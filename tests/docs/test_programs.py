"""Every Python program of the pages runs, as it is written, against a service; a page is one program."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.checkout import ROOT
from tests.support.server import Server

PAGES = [ROOT / "README.md", ROOT / "client" / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
WITH_PROGRAMS = [page for page in PAGES if BLOCK.search(page.read_text())]


def run_page(page: Path, url: str, folder: Path) -> str:
    program = "\n\n".join(BLOCK.findall(page.read_text())).replace("http://127.0.0.1:8080", url)
    done = subprocess.run([sys.executable, "-"], input=program, cwd=folder, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


@pytest.mark.parametrize("page", WITH_PROGRAMS, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_programs_of_a_page_run(page: Path, server: Server, tmp_path: Path) -> None:
    run_page(page, server.url, tmp_path)


def test_the_worker_of_the_readme_says_what_it_did_and_the_same_when_it_is_run_again(
    own_server: Server, tmp_path: Path
) -> None:
    first = run_page(ROOT / "README.md", own_server.url, tmp_path).splitlines()
    assert [line.split(" ")[:2] for line in first[-3:]] == [
        ["1", "run_started"],
        ["2", "planner_note"],
        ["3", "run_completed"],
    ]
    assert "inserted=True" in first[0]
    again = run_page(ROOT / "README.md", own_server.url, tmp_path).splitlines()
    assert again == [line.replace("inserted=True", "inserted=False") for line in first]


def test_the_worker_of_the_readme_fits_in_twenty_lines() -> None:
    (program,) = BLOCK.findall((ROOT / "README.md").read_text())
    body = [line for line in program.splitlines() if line and not line.startswith(("import", "from"))]
    assert len(body) <= 20
