"""The model finds mistakes: two of the seeded bugs here, all of them by ``python -m tests.model.seeded_bugs``."""

from __future__ import annotations

import pytest

from tests.model.seeded_bugs.__main__ import main
from tests.model.seeded_bugs.bug import Bug
from tests.model.seeded_bugs.catalogue import BUGS
from tests.model.seeded_bugs.hunt import hunt, service_with

QUICK = ("retry_ignores_the_turn", "batch_poisons_its_neighbours")


def test_there_are_twenty_bugs_and_more_each_with_a_mistake_of_its_own() -> None:
    assert len(BUGS) >= 20
    assert len({bug.mistake for bug in BUGS.values()}) == len(BUGS)


@pytest.mark.parametrize("bug", BUGS.values(), ids=list(BUGS))
def test_every_bug_changes_a_rule_that_is_there(bug: Bug) -> None:
    owner, name = bug.find()
    rule = getattr(owner, name)
    mistaken = bug.mistaken()
    assert mistaken is not rule
    assert mistaken != rule
    assert callable(mistaken) == callable(rule)


@pytest.mark.parametrize("name", QUICK)
def test_a_bug_is_found_and_shown_by_few_calls(database: str, name: str) -> None:
    with service_with(BUGS[name], database) as url:
        catch = hunt(BUGS[name], url, seconds=120, reduce_seconds=20)
    assert catch.found, f"not found in {catch.calls} calls"
    assert 1 <= len(catch.sequence) <= 5, catch.sequence


def test_a_hunt_that_finds_nothing_is_told_by_the_exit_status(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--bug", "continuation_only_once", "--seconds", "0"]) == 1
    assert "not found: continuation_only_once" in capsys.readouterr().out


def test_the_command_tells_its_bugs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    assert all(
        f"{bug.name} " in line for bug, line in zip(BUGS.values(), capsys.readouterr().out.splitlines(), strict=True)
    )
