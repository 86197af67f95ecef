"""Plays one fault on one database, and says what came of it."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from tests.faults.happenings import Fault
from tests.faults.readback import ReadBack, repeat_pending, verify
from tests.faults.stage import LONGEST_RETURN_S, SESSIONS, Pace, Work, set_stage
from tests.support.pgbouncer import PgBouncer
from tests.support.postgresql import LocalPostgresql

MOST_CONNECTIONS = 40
"""What the tests' own PostgreSQL is to have, so that one fault can take them all."""


@dataclass
class Outcome:
    """One line of the table."""

    fault: str
    database: str
    commands: int
    """Different commands that were sent."""
    acknowledged: int
    """Those acknowledged while things broke, by their first or a later attempt; the others were repeated afterwards."""
    repeated: int
    """Attempts that got no answer, or a temporary one."""
    lost: int
    doubled: int
    longest_outage_s: float
    longest_return_s: float | None
    """From the moment when all was well again to the next success; None when none came."""
    wrong: list[str] = field(default_factory=list)
    """Whatever else was not as it must be."""

    @property
    def is_sound(self) -> bool:
        """Whether every promise was kept."""
        returned = self.longest_return_s is not None and self.longest_return_s <= LONGEST_RETURN_S
        return self.acknowledged > 0 and returned and not (self.lost or self.doubled or self.wrong)


async def play(
    fault: Fault, database: str, pace: Pace, postgresql: LocalPostgresql | None, pooler: PgBouncer | None = None
) -> Outcome:
    """Play a fault. ``postgresql`` is the server to break, where the database is one, ``pooler`` one before it."""
    folder = Path(tempfile.mkdtemp(prefix="runhold-faults-"))
    try:
        async with set_stage(pace, folder, postgresql, fault.environment, pooler) as stage:
            ledger = stage.ledger
            async with Work(stage, fault.payload_bytes) as work:
                await fault.happen(stage)
                await work.stop_writing()
                acknowledged, outage, returned = (
                    len(ledger.acknowledged),
                    ledger.longest_outage(),
                    stage.longest_return(),
                )
                await repeat_pending(stage.server.url, ledger)
                await work.read_to_the_end()
                found = await ReadBack(stage.server.url, ledger).check(SESSIONS, work.followers)
                await asyncio.to_thread(verify, stage.direct_url, ledger)
            attempts = sum(entry.attempts for entry in ledger.entries)
            return Outcome(
                fault.name,
                database,
                len(ledger.entries),
                acknowledged,
                attempts - len(ledger.acknowledged),
                found.lost,
                found.doubled,
                outage,
                returned,
                ledger.wrong,
            )
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def postgresql_to_break(*, durable: bool) -> LocalPostgresql:
    """Start a PostgreSQL that every fault may break."""
    return LocalPostgresql(durable=durable, settings={"max_connections": str(MOST_CONNECTIONS)})
