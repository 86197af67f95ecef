"""What every test can ask for: each database, a running service on it, an HTTP client.

Tests that need no database do not ask for one; all others ask by these names and run on both. Services and databases
are real and in processes of their own.
"""

from __future__ import annotations

import os
import signal
import uuid
from collections.abc import Callable, Generator, Iterator, Mapping
from pathlib import Path

import httpx
import pytest

from tests.support.postgresql import started_postgresql
from tests.support.server import Server

SYSTEM_TESTS = Path(__file__).parent / "system"
SHARED_SERVERS = pytest.StashKey[dict[str, Server]]()
LOG_STARTS = pytest.StashKey[dict[Path, int]]()

StartServer = Callable[..., Server]


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> str:
    """The kind of database that this turn of the test is about."""
    return str(request.param)


@pytest.fixture
def database_url(database: str, tmp_path: Path) -> Iterator[str]:
    """An empty database, of each kind in turn, for this test alone."""
    if database == "sqlite":
        yield f"sqlite:///{tmp_path}/store.db"
        return
    postgresql = started_postgresql()
    url = postgresql.new_database_url()
    yield url
    postgresql.drop_database(url)


@pytest.fixture
def server(database: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Server:
    """A running service on each database in turn. All tests share it: use ids of your own (``unique``)."""
    shared = request.config.stash.setdefault(SHARED_SERVERS, {})
    if database not in shared:
        if database == "sqlite":
            url = f"sqlite:///{tmp_path_factory.mktemp('shared')}/store.db"
        else:
            url = started_postgresql().new_database_url("shared")
        shared[database] = Server(url)
    if not shared[database].is_running:
        shared[database].start()
    return shared[database]


@pytest.fixture
def start_server(database_url: str, request: pytest.FixtureRequest) -> Iterator[StartServer]:
    """Start services for this test alone, on its own database: ``start_server({"RUNHOLD_BODY_BYTES": "4096"})``.

    Several share the database. The test may stop, kill and restart them; what still runs is stopped after it.
    """
    started: list[Server] = []

    def start(
        environment: Mapping[str, str] | None = None, *, arguments: tuple[str, ...] = (), wait: bool = True
    ) -> Server:
        server = Server(database_url, environment, arguments=arguments)
        started.append(server)
        request.node.stash.setdefault(LOG_STARTS, {})[server.log] = 0
        server.start(wait=wait)
        return server

    yield start
    for server in started:
        server.close()


@pytest.fixture
def own_server(start_server: StartServer) -> Server:
    """A running service for this test alone, on an empty database."""
    return start_server()


@pytest.fixture
def http(server: Server) -> Iterator[httpx.Client]:
    """An HTTP client of the shared service. No proxy of the environment is asked, not even for loopback."""
    with httpx.Client(base_url=server.url, trust_env=False, timeout=30) as client:
        yield client


@pytest.fixture
def unique() -> str:
    """A short text that no other test has, to make ids from."""
    return uuid.uuid4().hex[:12]


@pytest.fixture(scope="session", autouse=True)
def no_settings_from_outside() -> Iterator[None]:
    """Whoever runs the tests may have settings of a service of their own; they are not what is tested."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("RUNHOLD_")]:
            patch.delenv(name)
        yield


def pytest_configure() -> None:
    """Let SIGTERM end the tests as Ctrl-C does: with what they started."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Remember how far the shared services' logs had come, to show what a failing test added."""
    shared = item.config.stash.get(SHARED_SERVERS, {})
    item.stash[LOG_STARTS] = {server.log: server.log.stat().st_size for server in shared.values()}


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out tests/system, which needs Chromium, wrk and the like, unless it is asked for by name."""
    if collection_path == SYSTEM_TESTS:
        return not any(SYSTEM_TESTS in (Path(arg.split("::")[0]).resolve() / "x").parents for arg in config.args)
    return None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show what the services wrote during a test that failed."""
    report = yield
    if report.failed:
        for log, start in item.stash.get(LOG_STARTS, {}).items():
            said = log.read_bytes()[start:].decode(errors="replace") if log.exists() else ""
            if said:
                report.sections.append((f"service log ({log.name})", said[-20_000:]))
    return report


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop the shared services."""
    for server in config.stash.get(SHARED_SERVERS, {}).values():
        server.stop()
        server.close()
