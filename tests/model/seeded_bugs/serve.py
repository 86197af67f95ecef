"""The service with one bug in it: ``SEEDED_BUG=name python -m tests.model.seeded_bugs.serve serve …``."""

from __future__ import annotations

import os

from tests.model.seeded_bugs.catalogue import BUGS


def main() -> None:
    BUGS[os.environ["SEEDED_BUG"]].apply()
    # What the service keeps of its rules when it is imported must already be mistaken.
    from runhold.cli import main as serve

    serve()


if __name__ == "__main__":
    main()
