"""``python -m tests.model.seeded_bugs``: hunt every seeded bug. Exit status 1 when one is not found in time."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence

from tests.model.seeded_bugs.catalogue import BUGS
from tests.model.seeded_bugs.hunt import Catch, hunt, service_with

WITHIN_SECONDS = 600.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line. Returns its exit status."""
    asked = _parser().parse_args(arguments)
    if asked.list:
        width = max(map(len, BUGS))
        for bug in BUGS.values():
            print(f"{bug.name:<{width}}  {bug.mistake}")
        return 0
    names = asked.bug or list(BUGS)
    catches = []
    for number, name in enumerate(names, 1):
        bug = BUGS[name]
        print(f"[{number}/{len(names)}] {name}: {bug.mistake} … ", end="", flush=True)
        with service_with(bug, asked.database) as url:
            catch = hunt(bug, url, asked.seconds, first_seed=asked.seed)
        print(f"{'found' if catch.found else 'NOT FOUND'} after {catch.seconds:.1f} s", flush=True)
        catches.append(catch)
    print(table(catches))
    missed = [catch.bug.name for catch in catches if not catch.found]
    print(
        f"{len(catches) - len(missed)} of {len(catches)} found, each within {asked.seconds:.0f} s on {asked.database}"
    )
    if missed:
        print(f"not found: {', '.join(missed)}")
    return 1 if missed else 0


def table(catches: Sequence[Catch]) -> str:
    """What was found: bug, when, by which disagreement, and the fewest calls that show it."""
    lines = []
    for catch in catches:
        lines.append(f"\n{catch.bug.name}: {catch.bug.mistake}")
        if not catch.found:
            lines.append(f"  not found in {catch.seconds:.1f} s and {catch.calls} calls")
            continue
        lines.append(f"  after {catch.seconds:.1f} s and {catch.calls} calls, shown by {len(catch.sequence)}:")
        lines += [f"    {number}. {call}" for number, call in enumerate(catch.sequence, 1)]
        lines.append(f"  {_short(catch.found)}")
    return "\n".join(lines) + "\n"


def _short(text: str, most: int = 300) -> str:
    """The end of a disagreement, where it is named: what comes before are the calls again."""
    text = "".join(character if character.isprintable() else ascii(character)[1:-1] for character in text)
    return text if len(text) <= most else f"…{text[-most:]}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.model.seeded_bugs",
        description="Put realistic mistakes into services of their own, one by one, and see that the model finds each.",
        epilog="Exit status: 0 when all were found, 1 when one was not.",
    )
    parser.add_argument("--list", action="store_true", help="tell the bugs and hunt none")
    parser.add_argument("--bug", nargs="+", choices=list(BUGS), metavar="NAME", help="hunt only these")
    parser.add_argument("--database", choices=["sqlite", "postgresql"], default="sqlite", help="default: sqlite")
    parser.add_argument(
        "--seconds", type=float, default=WITHIN_SECONDS, help=f"for each bug; default: {WITHIN_SECONDS:.0f}"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the random choices; default: 0")
    return parser


if __name__ == "__main__":
    # As Ctrl-C does: what was started is stopped.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main())
