"""The command line of the benchmarks: ``python -m benchmarks [NAME ...]``; without a name, all of them."""

from __future__ import annotations

import argparse
import importlib
import signal
import sys
import time
from pathlib import Path

from benchmarks.report import machine
from benchmarks.stage import Stage

NOT_BENCHMARKS = {
    "__init__",
    "__main__",
    "contender",
    "figures",
    "floor",
    "fill",
    "peers",
    "raw",
    "report",
    "stage",
    "worker",
    "wrk",
}
NAMES = sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem not in NOT_BENCHMARKS)


def main() -> int:
    """Run benchmarks and print a table for each. Exit status: 0 when all ran, 1 when one could not."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="one of: " + ", ".join(NAMES) + " (default: all)")
    parser.add_argument("--pairs", type=int, default=5, help="interleaved measurements of each thing (default 5)")
    parser.add_argument("--seconds", type=float, default=3.0, help="length of one measurement (default 3)")
    given = parser.parse_args()
    unknown = [name for name in given.names if name not in NAMES]
    if unknown:
        parser.error(f"no benchmark {', '.join(unknown)}; there are: {', '.join(NAMES)}")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    failed = []
    with Stage(pairs=given.pairs, seconds=given.seconds) as stage:
        print(machine(stage), flush=True)
        for name in given.names or NAMES:
            begun = time.monotonic()
            print(f"benchmarks: {name} …", file=sys.stderr, flush=True)
            try:
                table = importlib.import_module(f"benchmarks.{name}").run(stage)
            except RuntimeError as error:
                print(f"benchmarks: {name} could not be measured: {error}", file=sys.stderr)
                failed.append(name)
                continue
            print(f"\n{table}\n\n({time.monotonic() - begun:.0f} s)", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
