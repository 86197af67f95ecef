"""Fifty writers on one session through two services, while readers page: no gap, nothing missed, nothing twice."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.model import commands as make
from tests.model.model import Call
from tests.model.profile import FULL
from tests.model.wire import Wire
from tests.support.server import Server

WRITERS = 50
RUNS = 7
APPENDS = 200 if FULL else 16
"""Records of each writer; every other request carries four of them."""

Document = dict[str, Any]


def pages(wire: Wire, operation: str, owner: str, limit: int, cursor: str = "", **query: str) -> Iterator[Document]:
    """The records of a list from a cursor on, to its present end; each page's end is where the next begins."""
    while True:
        asked = (*query.items(), ("limit", str(limit)), *((("cursor", cursor),) if cursor else ()))
        page = wire.call(Call(operation, owner, asked))
        assert page.status == 200, page
        yield from page.body["records"]
        cursor = page.body["next_cursor"]
        if not cursor:
            return


class Reader:
    """Follows a list until told that the writers are done, and then to its end."""

    def __init__(self, server: Server, operation: str, owner: str, limit: int, done: threading.Event) -> None:
        self._asked = operation, owner, limit
        self._server = server
        self._done = done
        self.empty_pages = 0

    def follow(self) -> list[Document]:
        """All records in the order in which they were seen."""
        operation, owner, limit = self._asked
        seen: list[Document] = []
        cursor = ""
        with Wire(self._server.url) as wire:
            while True:
                is_over = self._done.is_set()
                query = (("limit", str(limit)), *((("cursor", cursor),) if cursor else ()))
                page = wire.call(Call(operation, owner, query))
                assert page.status == 200, page
                seen += page.body["records"]
                cursor = page.body["end_cursor"]
                if not page.body["records"]:
                    self.empty_pages += 1
                    if is_over:
                        return seen


def write(server: Server, writer: int, runs: list[str], session: str) -> list[tuple[str, str]]:
    """Append the writer's records over all runs in turn. Returns the run and key of each, as acknowledged."""
    said = []
    with Wire(server.url, timeout=120) as wire:
        number = 0
        while number < APPENDS:
            count = 4 if number % 8 == 4 else 1
            calls = [
                make.append(runs[(writer + number + n) % RUNS], "agent", session, f"{writer} {number + n}")
                for n in range(count)
            ]
            answer = wire.call(make.batch(*calls) if count > 1 else calls[0])
            assert answer.status == 200, answer
            results = [result["body"] for result in answer.body["results"]] if count > 1 else [answer.body]
            for call, result in zip(calls, results, strict=True):
                assert result["inserted"], result
                said.append((call.path, call.body["event_key"]))
            number += count
    return said


def test_fifty_writers_leave_one_gapless_log_and_readers_who_page_meanwhile_see_it(
    servers: list[Server], unique: str
) -> None:
    session, runs = f"{unique}-s", [f"{unique}-{n}" for n in range(RUNS)]
    done = threading.Event()
    readers = [
        Reader(servers[0], "list_session_run_records", session, 17, done),
        Reader(servers[1], "list_session_run_records", session, 1000, done),
        Reader(servers[1], "list_run_records", runs[0], 5, done),
    ]
    with Wire(servers[0].url) as wire, ThreadPoolExecutor(WRITERS + len(readers)) as pool:
        assert wire.call(make.create(session)).status == 200
        for run in runs:
            assert wire.call(make.start(run, session=session)).status == 200
        following = [pool.submit(reader.follow) for reader in readers]
        writing = [pool.submit(write, servers[n % 2], n, runs, session) for n in range(WRITERS)]
        try:
            acknowledged = [record for future in writing for record in future.result()]
        finally:
            done.set()
        seen = [future.result() for future in following]

        log = list(pages(wire, "list_session_run_records", session, 1000))
        by_run = {run: list(pages(wire, "list_run_records", run, 1000)) for run in runs}
        backwards = list(pages(wire, "list_session_run_records", session, 1000, order="desc"))
        counts = {run: wire.call(make.load(run)).body["record_count"] for run in runs}

    assert len(log) == len(acknowledged) + RUNS == WRITERS * APPENDS + RUNS
    assert {(record["run_id"], record["event_key"]) for record in log if record["type"] != "run_started"} == set(
        acknowledged
    )
    for run, records in by_run.items():
        assert [record["id"] for record in records] == [str(n + 1) for n in range(counts[run])]
        assert [record for record in log if record["run_id"] == run] == records
    assert backwards == log[::-1]
    assert seen == [log, log, by_run[runs[0]]]
    stored_at = [record["stored_at"] for record in log]
    assert len(set(stored_at)) > 1, "the writers did not take turns"
