"""SIGTERM while the database does not answer: the service still ends, in the time that it was given."""

from __future__ import annotations

import signal
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import httpx
import pytest

from tests.faults.proxy import Mode, Proxy, Stall, in_background
from tests.faults.stage import through
from tests.hostile.asking import done
from tests.model import commands as make
from tests.model.wire import Wire, checked
from tests.support.postgresql import started_postgresql
from tests.support.server import running_server


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT], ids=lambda how: how.name)
def test_a_service_whose_database_stands_still_ends_in_time(how: signal.Signals) -> None:
    postgresql = started_postgresql()
    url = postgresql.new_database_url()
    settings = {"RUNHOLD_DRAIN_TIMEOUT_MS": "1000"}
    with (
        in_background(Proxy(urlsplit(url).port or 5432)) as proxy,
        running_server(through(url, proxy.port), settings) as server,
        ThreadPoolExecutor(3) as pool,
        httpx.Client(base_url=server.url, trust_env=False, timeout=30) as http,
    ):
        with Wire(server.url) as wire:
            done(wire, make.create("s"), make.start("r", session="s"))
        proxy.mode = Stall()
        calls = [make.append("r", session="s", key=key) for key in ("k-1", "k-2")]
        path = "/v1/runs/r/records"
        waiting = [pool.submit(http.post, path, json=call.body) for call in calls]
        reading = pool.submit(http.get, path, params={"wait_ms": "30000", "cursor": "1"})
        time.sleep(0.5)
        begun = time.monotonic()
        assert server.stop(how=how) == 0
        assert time.monotonic() < begun + 6
        assert {checked(future.result(10)).status for future in (*waiting, reading)} <= {200, 503}
        proxy.mode = Mode()
    postgresql.drop_database(url)
