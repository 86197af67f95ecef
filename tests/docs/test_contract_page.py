"""docs/contract.md is held to the code: every refusal has its entry there, every writing command its row."""

from __future__ import annotations

import re

from runhold.api.operations import OPERATIONS
from runhold.api.problems import PROBLEMS
from tests.support.checkout import ROOT

PAGE = (ROOT / "docs" / "contract.md").read_text()
ENTRIES = dict(re.findall(r"^### (\w+)\n(\d{3})\. \S", PAGE, re.MULTILINE))
COMMANDS = PAGE.split("## Commands")[1].split("\n## ")[0]


def test_every_refusal_has_its_entry_with_its_status() -> None:
    assert {code: int(status) for code, status in ENTRIES.items()} == {
        code: status for code, (_, status) in PROBLEMS.items()
    }


def test_every_writing_command_has_its_row_and_names_codes_that_exist() -> None:
    writing = {operation.id for operation in OPERATIONS if operation.method != "GET"} - {"run_commands"}
    named = {
        name for row in re.findall(r"^\| ([^|]+) \|", COMMANDS, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)
    }
    assert named == writing
    told = set(re.findall(r"`((?:run|session|event|continuation|invalid)_\w+)`", COMMANDS.split("| --- |", 1)[1]))
    assert told - writing <= set(PROBLEMS)
