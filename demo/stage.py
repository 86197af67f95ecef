"""The service that the demo plays on: one of its own on a new database, or one that runs already."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from tests.support.server import Server


@contextmanager
def own_service(database_url: str | None = None) -> Iterator[Server]:
    """A service in a process of its own, for the block; it can be killed and started again.

    Args:
        database_url: where it keeps its records; a temporary SQLite database when None.

    Raises:
        RuntimeError: it did not start; with what it said.
    """
    with tempfile.TemporaryDirectory(prefix="runhold-demo-") as folder:
        server = Server(database_url or f"sqlite:///{folder}/demo.db")
        try:
            server.start()
            yield server
            server.stop()
        finally:
            server.close()
