"""A part of the seeded bugs, on PostgreSQL. All of them, on either database: ``python -m tests.model.seeded_bugs``."""

from __future__ import annotations

import pytest

from tests.model.seeded_bugs.catalogue import BUGS
from tests.model.seeded_bugs.hunt import hunt, service_with

SOME = (
    "child_of_a_stopped_parent",
    "terminal_twice",
    "terminal_checks_in_the_wrong_order",
    "cancellation_overwrites",
    "suspension_ignores_the_bytes",
    "repair_reports_its_own_status",
    "retry_after_the_end_is_refused",
    "refusal_moves_the_counter",
    "purge_leaves_a_tree",
    "cursor_off_by_one",
)


@pytest.mark.timeout(660)
@pytest.mark.parametrize("name", SOME)
def test_a_seeded_bug_is_found_within_ten_minutes_and_told_in_few_calls(name: str) -> None:
    with service_with(BUGS[name], "postgresql") as url:
        catch = hunt(BUGS[name], url, seconds=600, reduce_seconds=30)
    assert catch.found, f"not found in {catch.calls} calls"
    assert len(catch.sequence) <= 8, catch.sequence
