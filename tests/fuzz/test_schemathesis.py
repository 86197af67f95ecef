"""Schemathesis plays the whole API from ``openapi.yaml``: examples, edges, random requests, and links; every check.

Short and the same at every run by default; ``TEST_PROFILE=full`` plays others each time, and for minutes.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.fuzz.hooks import ONE_SHOT, RUN, SESSION
from tests.hostile.asking import done
from tests.model import commands as make
from tests.model.profile import FULL
from tests.model.wire import Wire
from tests.support.checkout import ROOT
from tests.support.server import Server

CONFIGURATION = Path(__file__).with_name("schemathesis.toml")


@pytest.mark.timeout(3600 if FULL else 300)
def test_no_request_that_the_schema_can_say_or_spoil_gets_another_answer_than_it_promises(
    own_server: Server, tmp_path: Path
) -> None:
    with Wire(own_server.url) as wire:
        done(wire, make.create(SESSION), make.start(RUN, session=SESSION), make.start(ONE_SHOT))
    options = ["--max-time", "1200"] if FULL else ["--max-examples", "5", "--seed", "1"]
    played = subprocess.run(
        [
            *(sys.executable, "-m", "schemathesis.cli", "--config-file", str(CONFIGURATION)),
            *("run", str(ROOT / "openapi.yaml"), "--url", own_server.url, "--no-color", *options),
        ],
        env=os.environ | {"PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert played.returncode == 0, played.stdout[-20_000:] + played.stderr[-2_000:]
    paths = yaml.safe_load((ROOT / "openapi.yaml").read_text(encoding="utf-8"))["paths"]
    operations = sum("operationId" in operation for path in paths.values() for operation in path.values())
    assert f"Tested: {operations}" in played.stdout, played.stdout[-5_000:]
    assert own_server.is_running
    assert "Traceback" not in own_server.output()
