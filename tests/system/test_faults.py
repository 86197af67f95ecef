"""Every fault of ./dev faults on every database, each in seconds: nothing lost, nothing doubled, soon back."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from tests.faults.happenings import FAULTS, Fault
from tests.faults.play import play, postgresql_to_break
from tests.faults.stage import SHORT
from tests.support.postgresql import LocalPostgresql


@pytest.fixture(scope="module")
def postgresql() -> Iterator[LocalPostgresql]:
    """A PostgreSQL that every fault may break."""
    server = postgresql_to_break(durable=False)
    yield server
    server.close()


@pytest.mark.parametrize(
    ("fault", "database"),
    [pytest.param(fault, database, id=f"{fault.name}-{database}") for fault in FAULTS for database in fault.databases],
)
def test_nothing_is_lost_or_doubled(fault: Fault, database: str, postgresql: LocalPostgresql) -> None:
    outcome = asyncio.run(play(fault, database, SHORT, postgresql if database == "postgresql" else None))
    assert outcome.is_sound, outcome
