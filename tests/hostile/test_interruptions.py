"""A purge that is killed half-way, and a writer that commits late: cases 14 and 16 of what happened to other stores."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.conftest import StartServer
from tests.hostile.asking import done, listed, refused
from tests.hostile.slowness import LONG_SECONDS, slow, wait_until_slow
from tests.model import commands as make
from tests.model.model import Call
from tests.model.wire import Wire


def test_a_purge_that_is_killed_half_way_never_happened_and_a_finished_one_leaves_nothing(
    start_server: StartServer, unique: str
) -> None:
    server = start_server()
    with Wire(server.url) as wire:
        done(wire, make.create("s"), make.create("other"))
        for run in ("r-1", "r-2"):
            done(wire, make.start(run, session="s", labels={"a": "b"}), make.append(run, session="s"))
            done(wire, make.suspension(run, session="s"))
        done(wire, make.end_session("s"))
        before = listed(wire, "list_session_run_records", "s")
    # Runs go last: by then the seal is written, and checkpoints and records are deleted, but nothing is committed.
    with (
        slow(server.database_url, "runs", "DELETE", LONG_SECONDS, "OLD.run_id = 'r-2'"),
        ThreadPoolExecutor(1) as pool,
        Wire(server.url) as wire,
    ):
        purge = pool.submit(wire.call, Call("purge_session", "s"))
        wait_until_slow(server.database_url)
        server.kill()
        with pytest.raises(httpx.TransportError):
            purge.result()
    server.start()
    with Wire(server.url) as wire:
        assert listed(wire, "list_session_run_records", "s") == before
        assert done(wire, Call("load_run_suspension", "r-1"))["id"] == "s-1"
        again = done(wire, make.append("r-1", session="s"))
        assert (again["id"], again["inserted"]) == ("2", False)
        done(wire, Call("purge_session", "s"), Call("purge_session", "s"))
        refused(wire, make.start("r-1", session="s"), "session_purged")
        refused(wire, Call("load_session", "s"), "session_purged")
        started = done(wire, make.start("r-1", session="other", labels={"a": "b"}))["started"]
        assert (started["id"], started["inserted"]) == ("1", True)
        assert done(wire, make.append("r-1", session="other"))["inserted"]
        assert len(listed(wire, "list_run_records", "r-1")) == 2
        refused(wire, Call("load_run_suspension", "r-1"), "run_suspension_not_found")


def test_a_reader_never_passes_over_a_record_that_commits_late(start_server: StartServer) -> None:
    """Writer A is held after it took its number; whatever commits meanwhile, the reader's cursor stays before A."""
    servers = [start_server(), start_server()]
    with Wire(servers[0].url) as wire, ThreadPoolExecutor(3) as pool:
        done(wire, make.create("s"), make.create("elsewhere"))
        done(wire, make.start("r", session="s"), make.start("q", session="s"), make.start("x", session="elsewhere"))
        with slow(servers[0].database_url, "records", "INSERT", 1.0, "NEW.type = 'usage'"):
            late = make.append("r", session="s", key="late")
            late.body["type"] = "usage"
            held = [pool.submit(send, servers[0].url, late)]
            wait_until_slow(servers[0].database_url)
            others = [make.append("r", session="s", key="next"), make.append("q", session="s", key="beside")]
            held += [pool.submit(send, servers[1].url, call) for call in others]
            meanwhile = {
                (operation, owner): read_on(wire, operation, owner, "")
                for operation, owner in (("list_session_run_records", "s"), ("list_run_records", "r"))
            }
            assert [answer.result()["inserted"] for answer in held] == [True] * 3
        for (operation, owner), (seen, cursor) in meanwhile.items():
            rest, _ = read_on(wire, operation, owner, cursor)
            assert [*seen, *rest] == [record["event_key"] for record in listed(wire, operation, owner)]
            assert {"late", "next"} <= {*seen, *rest}


def send(url: str, call: Call) -> dict[str, object]:
    """Make a call that succeeds, on a connection of its own."""
    with Wire(url) as wire:
        return dict(done(wire, call))


def read_on(wire: Wire, operation: str, owner: str, cursor: str) -> tuple[list[str], str]:
    """Read from a cursor to the present end. Returns the keys of the records and where the reader stands."""
    keys: list[str] = []
    while True:
        page = done(wire, Call(operation, owner, (("limit", "1"), *((("cursor", cursor),) if cursor else ()))))
        keys += [record["event_key"] for record in page["records"]]
        cursor = page["end_cursor"]
        if not page["records"]:
            return keys, cursor
