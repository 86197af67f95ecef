"""Plays every fault on every database and prints what came of it: ``python -m tests.faults``.

The exit status is 0 when nothing was lost or doubled and every other promise was kept, too, else 1.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import suppress

from tests.faults.happenings import FAULTS
from tests.faults.play import Outcome, play, postgresql_to_break
from tests.faults.stage import FULL, SHORT
from tests.support.postgresql import LocalPostgresql

_COLUMNS = (
    ("fault", 42),
    ("database", 10),
    ("commands", 8),
    ("acknowledged", 12),
    ("repeated", 8),
    ("lost", 4),
    ("doubled", 7),
    ("longest outage", 14),
    ("back after", 10),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Play the faults that were asked for, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--short", action="store_true", help="seconds for each fault, as the tests do")
    parser.add_argument("--only", default="", metavar="TEXT", help="only faults whose name holds this")
    parser.add_argument("--database", choices=["sqlite", "postgresql"], help="only on this one")
    given = parser.parse_args(arguments)
    chosen = [
        (fault, database)
        for fault in FAULTS
        for database in fault.databases
        if given.only in fault.name and given.database in (None, database)
    ]
    if not chosen:
        parser.error("no fault is of that name")
    # The tests' environment, and whoever started it, may have settings of a service of their own.
    for name in [name for name in os.environ if name.startswith("RUNHOLD_")]:
        del os.environ[name]
    # By way of SIGINT, which the event loop turns into an orderly end of what is under way.
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    pace = SHORT if given.short else FULL
    postgresql: LocalPostgresql | None = None
    outcomes = []
    try:
        print(_line([name for name, _ in _COLUMNS]))
        print(_line(["-" * width for _, width in _COLUMNS]), flush=True)
        for number, (fault, database) in enumerate(chosen, 1):
            _progress(f"{number}/{len(chosen)}  {fault.name} ({database}) …")
            if database == "postgresql" and postgresql is None:
                postgresql = postgresql_to_break(durable=not given.short)
            outcome = asyncio.run(play(fault, database, pace, postgresql if database == "postgresql" else None))
            outcomes.append(outcome)
            _progress("")
            print(_line(_cells(outcome)), flush=True)
            for wrong in outcome.wrong[:10]:
                print(f"    {wrong}", flush=True)
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130
    finally:
        if postgresql is not None:
            postgresql.close()
    unsound = sum(not outcome.is_sound for outcome in outcomes)
    lost, doubled = sum(outcome.lost for outcome in outcomes), sum(outcome.doubled for outcome in outcomes)
    acknowledged = sum(outcome.acknowledged for outcome in outcomes)
    print(f"acknowledged {acknowledged}, lost {lost}, doubled {doubled}; {unsound} of {len(outcomes)} lines not sound")
    return 1 if unsound else 0


def _cells(outcome: Outcome) -> list[str]:
    back = "never" if outcome.longest_return_s is None else f"{outcome.longest_return_s:.2f} s"
    numbers = (outcome.commands, outcome.acknowledged, outcome.repeated, outcome.lost, outcome.doubled)
    return [outcome.fault, outcome.database, *map(str, numbers), f"{outcome.longest_outage_s:.2f} s", back]


def _line(cells: Sequence[str]) -> str:
    """A line of a table in Markdown; text to the left, numbers to the right."""
    padded = [
        cell.ljust(width) if place < 2 else cell.rjust(width)
        for place, (cell, (_, width)) in enumerate(zip(cells, _COLUMNS, strict=True))
    ]
    return f"| {' | '.join(padded)} |"


def _progress(text: str) -> None:
    """Show what is going on, on the last line of a terminal."""
    if sys.stderr.isatty():
        with suppress(OSError):
            text = text[: os.get_terminal_size(sys.stderr.fileno()).columns - 1]
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
    elif text:
        print(f"{time.strftime('%H:%M:%S')}  {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
