"""Lists that other stores served in changing order, or not to their end: section B of the field cases."""

from __future__ import annotations

import random
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest

from runhold_client import HttpStore, RunRecord
from runhold_client.paging import iter_run_records, iter_session_run_records
from tests.hostile.asking import done, listed
from tests.model import commands as make
from tests.model.model import Call
from tests.model.wire import Wire
from tests.support.server import Server


def append_many(wire: Wire, run: str, session: str, keys: list[str]) -> None:
    """Append records of one timestamp, many in a request."""
    for first in range(0, len(keys), 256):
        calls = [make.append(run, session=session, key=key) for key in keys[first : first + 256]]
        results = done(wire, make.batch(*calls))["results"]
        assert all(result["body"]["inserted"] for result in results)


def test_records_of_one_moment_keep_the_order_in_which_they_were_accepted(wire: Wire, unique: str) -> None:
    chosen, session = random.Random(17), f"{unique}-s"
    keys = [f"{chosen.randrange(10**9)}" for _ in range(200)]
    done(wire, make.create(session), make.start(unique, session=session))
    append_many(wire, unique, session, keys)
    for _ in range(10):
        for operation, owner in (("list_run_records", unique), ("list_session_run_records", session)):
            assert [record["event_key"] for record in listed(wire, operation, owner, limit="7")][1:] == keys


@pytest.mark.parametrize(("asked", "served"), [(1, 1), (100, 100), (1000, 1000), (1001, 1000), (100_000, 1000)])
def test_a_log_of_1001_records_is_read_to_its_end_in_pages_of_any_size(
    wire: Wire, unique: str, asked: int, served: int
) -> None:
    session = f"{unique}-s"
    done(wire, make.create(session), make.start(unique, session=session))
    append_many(wire, unique, session, [f"k{number}" for number in range(1000)])
    for operation, owner in (("list_run_records", unique), ("list_session_run_records", session)):
        first = done(wire, Call(operation, owner, (("limit", str(asked)),)))
        assert len(first["records"]) == served
        assert [record["id"] for record in listed(wire, operation, owner, limit=str(asked))] == [
            str(number) for number in range(1, 1002)
        ]


def test_the_clients_iterators_reach_the_end_and_no_page_but_an_only_one_is_empty(server: Server, unique: str) -> None:
    session = f"{unique}-s"
    with Wire(server.url) as wire, HttpStore(server.url) as store:
        done(wire, make.create(session), make.start(unique, session=session))
        append_many(wire, unique, session, [f"k{number}" for number in range(999)])
        expected = ["started", *(f"k{number}" for number in range(999))]
        assert [stored.record.event_key for stored in iter_run_records(store, unique, page_size=100)] == expected
        assert [stored.record.event_key for stored in iter_session_run_records(store, session)] == expected
        last = RunRecord(
            event_key="last",
            run_id=unique,
            agent_id="agent",
            session_id=session,
            turn_id="",
            type="planner_note",
            payload="{}",
            timestamp=datetime(2026, 3, 1, 10, tzinfo=UTC),
        )
        assert store.append_run_record(last).id == "1001"
        assert [stored.id for stored in iter_run_records(store, unique, after="1000")] == ["1001"]
        # A page that ends where the log ends says so at once.
        assert store.list_run_records(unique, limit=1000).next_cursor == "1000"
        assert store.list_run_records(unique, cursor="1", limit=1000).next_cursor == ""


def test_every_session_that_was_there_throughout_is_listed_once(wire: Wire, server: Server, unique: str) -> None:
    """A thousand sessions of one millisecond, while fifty more are made and twenty are purged."""
    lasting = [f"{unique} {number:04}" for number in range(980)]
    purged = [f"{unique} {number:04} purged" for number in range(0, 1000, 50)]
    ids = [*lasting, *purged]
    random.Random(25).shuffle(ids)
    begun = threading.Event()

    def create(wire: Wire, sessions: list[str]) -> None:
        done(wire, *(make.create(session, "2019-05-05T05:05:05.005Z") for session in sessions))

    def change() -> None:
        begun.wait(30)
        with Wire(server.url) as other:
            for number, session in enumerate(purged):
                create(other, [f"{unique} {number * 49:04} new a", f"{unique} {number * 37:04} new b"])
                done(other, make.end_session(session), Call("purge_session", session))
            create(other, [f"{unique} new {number}" for number in range(10)])

    create(wire, ids)
    with ThreadPoolExecutor(1) as pool:
        changing = pool.submit(change)
        rounds = 0
        while rounds < 2 or not changing.done():
            found = []
            cursor = ""
            while True:
                query = (("limit", "13"), *((("cursor", cursor),) if cursor else ()))
                page = done(wire, Call("list_sessions", query=query))
                begun.set()
                found += [session["session_id"] for session in page["sessions"]]
                cursor = page["next_cursor"]
                if not cursor or not page["sessions"]:
                    break
            mine = [session for session in found if session.startswith(unique)]
            assert len(mine) == len(set(mine)), "a session came twice"
            assert [session for session in mine if session in set(lasting)] == lasting
            rounds += 1
        changing.result()


def test_a_session_of_sixty_thousand_records_is_read_to_its_end_and_from_its_middle(
    wire: Wire, server: Server, unique: str
) -> None:
    count, session = 60_000, f"{unique}-s"
    runs = [f"{unique}-{number}" for number in range(4)]
    done(wire, make.create(session), *(make.start(run, session=session) for run in runs))
    each = count // len(runs)

    def fill(run: str) -> None:
        with Wire(server.url) as other:
            append_many(other, run, session, [f"k{number}" for number in range(each)])

    with ThreadPoolExecutor(len(runs)) as pool:
        list(pool.map(fill, runs))
    log = listed(wire, "list_session_run_records", session, limit="1000", view="summary")
    assert len(log) == count + len(runs)
    assert len({(record["run_id"], record["id"]) for record in log}) == len(log)
    middle = done(wire, Call("list_run_records", runs[0], (("cursor", str(each // 2)), ("limit", "3"))))
    assert [record["id"] for record in middle["records"]] == [str(each // 2 + n) for n in (1, 2, 3)]
