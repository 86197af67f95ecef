"""The demo is a program that people run: its story and its chaos, as processes of their own, on both databases."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

from tests.support.checkout import ROOT

CHAPTERS = [
    "1. The host creates a session",
    "2. A worker starts a run, with its transcript",
    "3. The tool call becomes a child run",
    "4. An answer is lost on the way",
    "5. The run waits for a person",
    "6. The person agrees, and a new run continues",
    "7. A run is canceled",
    "8. Everything can be read, page by page",
    "9. The host ends the session",
    "10. The host purges the session",
]


def demo(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "demo", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=120
    )


def chapters(said: str) -> list[str]:
    return [line for line in said.splitlines() if re.match(r"\d+\. ", line)]


def test_the_story_is_told_to_its_end(database_url: str) -> None:
    done = demo("--database-url", database_url)
    assert (done.returncode, done.stderr) == (0, "")
    assert chapters(done.stdout) == CHAPTERS
    assert "record 6, inserted: False" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 110


def test_the_story_can_be_told_again_and_again_by_a_service_that_runs(server: Any) -> None:
    for _ in range(2):
        done = demo("--url", server.url)
        assert (done.returncode, done.stderr) == (0, "")
        assert chapters(done.stdout) == CHAPTERS
    assert server.is_running


def test_nothing_is_lost_or_doubled_when_the_service_is_killed_three_times(database_url: str) -> None:
    done = demo("--database-url", database_url, "--chaos", "--seconds", "4")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("kill -9") == 3
    last = re.fullmatch(r"acknowledged (\d+), lost 0, doubled 0", done.stdout.splitlines()[-1])
    assert last is not None
    assert int(last[1]) > 500


def test_a_service_that_cannot_start_says_why() -> None:
    done = demo("--database-url", "postgresql://nobody:s3cret@127.0.0.1:9/none")
    assert done.returncode == 1
    assert done.stderr.startswith("demo: the service did not become ready")
    assert "s3cret" not in done.stderr + done.stdout
    assert "Traceback" not in done.stderr


def test_chaos_is_not_for_a_service_that_somebody_else_runs() -> None:
    done = demo("--chaos", "--url", "http://127.0.0.1:9")
    assert done.returncode == 2
    assert "a service of their own" in " ".join(done.stderr.replace("│", " ").split())
