"""One bug, one service, one hunt."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path

import httpx
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.errors import Flaky
from hypothesis.stateful import run_state_machine_as_test

from tests.model.machine import ServiceAndModel
from tests.model.seeded_bugs.bug import Bug
from tests.model.seeded_bugs.reduce import Step, disagreement, reduced, told
from tests.support.postgresql import started_postgresql
from tests.support.server import Server

EXAMPLES_AT_A_TIME = 25
STEPS = 40


@dataclass
class Catch:
    """What a hunt brought in."""

    bug: Bug
    seconds: float
    """Until service and model disagreed; without the reduction. Without a catch, how long was looked."""
    calls: int
    """So many calls were made until then."""
    found: str = ""
    """What they disagree about; empty when nothing was found."""
    sequence: list[str] = field(default_factory=list)
    """The fewest calls that show it."""


class _Seen:
    """The first example that showed a disagreement."""

    def __init__(self) -> None:
        self.calls = 0
        self.steps: list[Step] = []
        self.token = ""


def hunt(bug: Bug, url: str, seconds: float, *, first_seed: int = 0, reduce_seconds: float = 60.0) -> Catch:
    """Play against a service that has the bug until it shows.

    Args:
        bug: what is hunted, for the report.
        url: the service.
        seconds: after which the hunt is given up.
        first_seed: the same seed looks in the same places.
        reduce_seconds: how long to look for fewer calls.
    """
    seen, begun = _Seen(), time.monotonic()
    round_ = first_seed
    while not seen.steps and time.monotonic() - begun < seconds:
        _play(url, seen, round_, lambda: time.monotonic() - begun < seconds)
        round_ += 1
    took = time.monotonic() - begun
    if not seen.steps:
        return Catch(bug, took, seen.calls)
    fewest = reduced(url, seen.steps, seen.token, reduce_seconds)
    found = disagreement(url, fewest, seen.token) or "shows itself only sometimes"
    return Catch(bug, took, seen.calls, found.replace(seen.token, ""), [told(call, seen.token) for call, _ in fewest])


def _play(url: str, seen: _Seen, round_: int, goes_on: Callable[[], bool]) -> None:
    """Play some examples; the first that shows a disagreement is kept in ``seen``."""

    class Hunter(ServiceAndModel):
        base_url = url

        def teardown(self) -> None:
            if seen.steps or not goes_on():
                self.pair.wire.http.close()
                return
            try:
                super().teardown()
            except (AssertionError, httpx.HTTPError):
                self.agrees = False
                raise
            finally:
                seen.calls += len(self.pair.history)
                if self.generator and not self.agrees:
                    seen.steps, seen.token = self.pair.history, self.token

    rules = settings(
        max_examples=EXAMPLES_AT_A_TIME,
        stateful_step_count=STEPS,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
        print_blob=False,
    )
    with redirect_stdout(StringIO()), suppress(AssertionError, httpx.HTTPError, Flaky):
        run_state_machine_as_test(seed(round_)(Hunter), settings=rules)


@contextmanager
def service_with(bug: Bug, database: str) -> Iterator[str]:
    """The URL of a service that has the bug, on an empty database that goes with it."""
    with tempfile.TemporaryDirectory() as folder:
        kept = f"sqlite:///{Path(folder)}/store.db" if database == "sqlite" else started_postgresql().new_database_url()
        server = Server(kept, {"SEEDED_BUG": bug.name}, module="tests.model.seeded_bugs.serve")
        try:
            server.start()
            yield server.url
        finally:
            server.close()
            if database != "sqlite":
                started_postgresql().drop_database(kept)
