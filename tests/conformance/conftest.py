"""Counts what each kind of store could play, and prints it after the tests."""

from __future__ import annotations

from collections import defaultdict

import pytest

from tests.conformance.player import Count

COUNTS = pytest.StashKey[defaultdict[str, Count]]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[COUNTS] = defaultdict(Count)


@pytest.fixture
def counts(request: pytest.FixtureRequest) -> defaultdict[str, Count]:
    """What was played so far, by kind of store and database."""
    return request.config.stash[COUNTS]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    for port, count in sorted(config.stash[COUNTS].items()):
        terminalreporter.write_line(
            f"conformance through {port}: {count.played} steps played, {count.not_expressible} not expressible"
        )
