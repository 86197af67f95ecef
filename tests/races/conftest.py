"""Two running services on one database, shared by all races; ids of one's own keep them apart."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.server import Server


@pytest.fixture(scope="session")
def second_servers() -> Iterator[dict[str, Server]]:
    """The second service of each database, started when it is first asked for."""
    started: dict[str, Server] = {}
    yield started
    for server in started.values():
        server.stop()
        server.close()


@pytest.fixture
def servers(database: str, server: Server, second_servers: dict[str, Server]) -> list[Server]:
    """Two service processes on the same database, of each kind in turn."""
    if database not in second_servers:
        second_servers[database] = Server(server.database_url)
        second_servers[database].start()
    return [server, second_servers[database]]
