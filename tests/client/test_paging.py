"""A list that does not move forward ends in an error, not in an endless loop."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import islice

import pytest

from runhold_client import (
    AsyncHttpStore,
    HttpStore,
    UnexpectedAnswer,
    aiter_run_records,
    iter_run_records,
    iter_sessions,
)
from tests.client.faulty_server import answer, faulty_server


def pages(cursors: Sequence[str]) -> list[bytes]:
    return [answer(200, {"records": [], "next_cursor": cursor, "end_cursor": cursor}) for cursor in cursors]


@pytest.mark.parametrize("cursors", [["5"], ["6", "6"], ["6", "7", "6"]])
def test_a_cursor_that_comes_back_ends_the_list(cursors: list[str]) -> None:
    with faulty_server(pages(cursors)) as server, HttpStore(server.url) as store:
        with pytest.raises(UnexpectedAnswer, match="move forward"):
            list(islice(iter_run_records(store, "r", "5"), 10))
        assert len(server.requests) == len(cursors)


def test_a_cursor_that_comes_back_ends_the_async_list_too() -> None:
    async def test(url: str) -> None:
        async with AsyncHttpStore(url) as store:
            with pytest.raises(UnexpectedAnswer, match="move forward"):
                async for _ in aiter_run_records(store, "r"):
                    pass

    with faulty_server(pages(["1", "1"])) as server:
        asyncio.run(test(server.url))


def test_an_empty_page_in_the_middle_is_no_end() -> None:
    session = {"session_id": "s", "status": "active", "created_at": "2026-03-01T10:00:00.000000Z", "ended_at": None}
    script = [
        answer(200, {"sessions": [], "next_cursor": "a"}),
        answer(200, {"sessions": [session], "next_cursor": ""}),
    ]
    with faulty_server(script) as server, HttpStore(server.url) as store:
        assert [found.session_id for found in iter_sessions(store)] == ["s"]
