"""What goes in comes out, byte by byte, and ids that look alike are different."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace

from runhold.domain.errors import RunNotFound, SessionNotFound
from runhold.domain.paging import RecordQuery
from runhold.domain.values import AppendResult, Run, RunSuspension, Session, StoredRecord
from tests import builders as a
from tests.store.conftest import Store, opened, run

ODD_IDS = ["\u00c4", "A\u0308", "a", "A", " a", "a ", "a\u200b", "\U0001f331", "\ue000", "é" * 512, "/", "%2F", "~"]


def test_ids_compare_code_point_by_code_point(database_url: str) -> None:
    async def inside() -> None:
        async with opened(database_url) as store:
            for session_id in ODD_IDS:
                await run(store, a.a_session(session_id))
                await run(store, a.a_root_start(a.a_run(session_id=session_id, run_id=session_id)))
            for session_id in ODD_IDS:
                assert (await store.reader.load_session("default", session_id)).session_id == session_id
                assert (await store.reader.load_run("default", session_id)).session_id == session_id
            for other in ("b", "a  ", "\u00e4", "\U0001f332"):
                with pytest.raises(SessionNotFound):
                    await store.reader.load_session("default", other)
                with pytest.raises(RunNotFound):
                    await store.reader.load_run("default", other)

    asyncio.run(inside())


def test_namespaces_do_not_see_each_other(database_url: str) -> None:
    async def inside() -> None:
        async with opened(database_url) as store:
            await run(store, a.a_session())
            with pytest.raises(SessionNotFound):
                await store.reader.load_session("other", "s")

    asyncio.run(inside())


LABELS = {"": "", "nul\0": "\0", "\U0001f331": "emoji", "z": "first", "a": "last", "é": "é"}


def test_everything_is_read_as_it_was_written(database_url: str) -> None:
    payload = '{ "b" : 1e400,"a":"\\ud800 \\u0000", "b": -0.0 , "é":"\U0001f331" }'
    data = bytes(range(256)) * 4

    async def inside() -> tuple[Run, list[StoredRecord], RunSuspension, Session]:
        async with opened(database_url) as store:
            await run(store, a.a_session(), a.a_root_start(a.a_run(labels=LABELS)))
            (appended,) = await run(store, a.an_append(payload=payload, turn_id="t\u200bü", type="ä", timestamp=-1))
            assert appended == AppendResult("2", True, "active")
            (suspended,) = await run(store, a.a_suspension(data))
            assert suspended == AppendResult("3", True, "active")
            page = await store.reader.list_run_records("default", "r", RecordQuery())
            return (
                await store.reader.load_run("default", "r"),
                page.records,
                await store.reader.load_run_suspension("default", "r"),
                await store.reader.load_session("default", "s"),
            )

    stored_run, records, checkpoint, session = asyncio.run(inside())
    assert stored_run.labels == LABELS
    assert stored_run.record_count == 3
    assert stored_run.head_digest == records[-1].digest
    assert records[1].record == a.a_record(payload=payload, turn_id="t\u200bü", type="ä", timestamp=-1)
    assert [record.session_position for record in records] == [1, 2, 3]
    assert checkpoint == RunSuspension("p", data)
    assert (session.created_at, session.record_count, session.run_count) == (a.AT * 1000, 3, 1)


@pytest.mark.parametrize("times", [-62_135_596_799_999, 253_402_300_799_999], ids=["year 1", "year 9999"])
def test_times_reach_from_year_1_to_year_9999(database_url: str, times: int) -> None:
    async def inside() -> StoredRecord:
        async with opened(database_url) as store:
            await run(store, replace(a.a_session(), created_at=times * 1000))
            await run(store, a.a_root_start(a.a_run(started_at=times)))
            page = await store.reader.list_run_records("default", "r", RecordQuery())
            return page.records[0]

    assert asyncio.run(inside()).record.timestamp == times


def test_a_payload_of_eight_mebibytes_is_kept_and_a_page_stops_behind_it(database_url: str) -> None:
    payload = '"' + "x" * (8 * 1024 * 1024 - 2) + '"'

    async def inside() -> list[Any]:
        async with opened(database_url) as store:
            await run(store, a.a_session(), a.a_root_start())
            await run(store, a.an_append(payload=payload), wait=True)
            await run(store, a.an_append(event_key="k2"))
            pages = []
            after = 0
            while True:
                page = await store.reader.list_run_records("default", "r", RecordQuery(after=after))
                pages.append(([record.position for record in page.records], page.has_more))
                if not page.has_more:
                    return [*pages, page.records[-1].record.payload]
                assert page.end > after
                after = page.end

    assert asyncio.run(inside())[:-1] == [([1], True), ([2], True), ([3], False)]


def test_a_summary_tells_sizes_and_leaves_the_payloads_out(database_url: str) -> None:
    async def inside(store: Store) -> None:
        await run(store, a.a_session(), a.a_root_start(), a.an_append(payload='"ü"'))
        page = await store.reader.list_run_records("default", "r", RecordQuery(summary=True, types=("planner_note",)))
        assert [record.record.payload for record in page.records] == [""]
        assert page.payload_bytes == [4]

    async def outside() -> None:
        async with opened(database_url) as store:
            await inside(store)

    asyncio.run(outside())
