"""A few faults in short, and that the table tells the truth; all of them are played in tests/system."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.faults.happenings import FAULTS, Fault
from tests.faults.ledger import Ledger
from tests.faults.play import play, postgresql_to_break
from tests.faults.readback import Findings, compare
from tests.faults.stage import Pace, Stage
from tests.model import commands as make
from tests.support.checkout import ROOT
from tests.support.postgresql import LocalPostgresql

QUICK = Pace(hold_s=0.7, rounds=1, around_s=0.3)
NOTICEABLE_S = 0.5
IN_SHORT = [
    ("service killed with -9", "sqlite"),
    ("file locked by another process", "sqlite"),
    ("answer to COMMIT lost", "postgresql"),
    ("database killed with -9", "postgresql"),
]


@pytest.fixture(scope="module")
def postgresql() -> Iterator[LocalPostgresql]:
    server = postgresql_to_break(durable=False)
    yield server
    server.close()


@pytest.mark.parametrize(("name", "database"), IN_SHORT)
def test_nothing_is_lost_or_doubled(name: str, database: str, postgresql: LocalPostgresql) -> None:
    (fault,) = [fault for fault in FAULTS if fault.name == name and database in fault.databases]
    outcome = asyncio.run(play(fault, database, QUICK, postgresql if database == "postgresql" else None))
    assert outcome.is_sound, outcome
    # A fault that is over before a limit is reached only delays.
    assert outcome.repeated or outcome.longest_outage_s > NOTICEABLE_S, f"{outcome}: nobody noticed the fault"


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM records WHERE run_key = 1 AND position = 2",
        "UPDATE records SET payload = CAST('{}' AS BLOB) WHERE run_key = 1 AND position = 2",
    ],
)
def test_the_table_shows_what_is_lost(change: str) -> None:
    """Records are changed behind the service's back: a table that could not show it would be worth nothing."""

    async def spoil(stage: Stage) -> None:
        await stage.until(lambda: len(stage.ledger.times) > 300)
        with closing(sqlite3.connect(stage.file, isolation_level=None, timeout=30)) as other:
            other.executescript("DROP TRIGGER records_update; DROP TRIGGER records_delete;")
            assert other.execute(change).rowcount == 1
        await stage.over()

    outcome = asyncio.run(play(Fault("of a test", ("sqlite",), spoil), "sqlite", QUICK, None))
    assert not outcome.is_sound
    assert outcome.lost >= 1, outcome


def test_the_table_shows_what_is_doubled_or_has_another_id() -> None:
    ledger = Ledger()
    for key, given in (("k-1", "1"), ("k-2", "2")):
        ledger.acknowledge(ledger.begin(make.append("r", session="s", key=key)), (given,))
    log = [entry.call.body | {"id": entry.ids[0], "stored_at": make.T0} for entry in ledger.entries]
    assert compare(ledger, {"s": log}, {"r": log}) == Findings(lost=0, doubled=0)
    assert compare(ledger, {"s": [*log, log[0]]}, {"r": log}) == Findings(lost=0, doubled=1)
    assert compare(ledger, {"s": log}, {"r": [log[0], *log]}) == Findings(lost=0, doubled=1)
    moved = [log[0], log[1] | {"id": "3"}]
    assert compare(ledger, {"s": moved}, {"r": moved}) == Findings(lost=1, doubled=0)
    assert compare(ledger, {"s": log[:1]}, {"r": log}) == Findings(lost=1, doubled=0)
    assert ledger.wrong == []
    stray = log[0] | {"event_key": "stray", "id": "3"}
    compare(ledger, {"s": [*log, stray]}, {"r": [*log, stray]})
    assert ledger.wrong


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM], ids=lambda how: how.name)
def test_a_stopped_run_leaves_no_process_behind(how: signal.Signals) -> None:
    command = [sys.executable, "-m", "tests.faults", "--only", "none", "--database", "sqlite"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as faults:
        deadline = time.monotonic() + 30
        while not (started := _children(faults.pid)):
            assert faults.poll() is None, "it ended by itself"
            assert time.monotonic() < deadline, "the service never started"
            time.sleep(0.05)
        time.sleep(1.5)
        faults.send_signal(how)
        _, said = faults.communicate(timeout=30)
    assert faults.returncode == 130, said
    assert "Traceback" not in said
    assert not [pid for pid in started if _is_alive(pid)]


def _children(parent: int) -> list[int]:
    listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    return [int(line.split()[0]) for line in listed.splitlines() if int(line.split()[1]) == parent]


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
