"""A connection to the shared service that checks every problem document on its way."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.model.wire import Wire
from tests.support.server import Server


@pytest.fixture
def wire(server: Server) -> Iterator[Wire]:
    """A connection of the test's own to the shared service, on each database in turn."""
    with Wire(server.url) as wire:
        yield wire
