"""How the stores reach a service: addresses, keys, proxies, timeouts, and bytes on the line."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from runhold_client import (
    AsyncHttpStore,
    HttpStore,
    InvalidCommand,
    Page,
    RetryPolicy,
    RunRecord,
    RunStatus,
    SessionStatus,
    Unauthenticated,
    Unavailable,
    UnexpectedAnswer,
)
from runhold_client.http_clients import is_loopback
from tests.client.faulty_server import CLOSE, answer, faulty_server, problem, slow

APPENDED = {"id": "7", "inserted": True, "session_status": ""}
GATHERED = answer(200, {"results": [{"status": 200, "body": APPENDED}]})
EMPTY_PAGE = answer(200, {"records": [], "next_cursor": "", "end_cursor": ""})
EMPTY_RUNS = answer(200, {"runs": [], "next_cursor": ""})
RECORD = RunRecord("k", "a/b", "agent", "planner_note", "{}", datetime(2026, 3, 1, tzinfo=UTC))
ONCE = RetryPolicy(attempts=1)


def request_line(request: bytes) -> str:
    return request.partition(b"\r\n")[0].decode()


@pytest.mark.parametrize("base", ["", "/", "/pre/fix", "/pre/fix/"])
def test_the_base_url_may_have_a_path_prefix(base: str) -> None:
    with faulty_server([answer(200, APPENDED)]) as server, HttpStore(server.url + base) as store:
        store.append_run_record(RECORD)
    assert request_line(server.requests[0]) == f"POST {base.rstrip('/')}/v1/runs/~YS9i/records HTTP/1.1"


def test_the_async_store_sends_commands_under_the_prefix_too() -> None:
    async def test(url: str) -> None:
        async with AsyncHttpStore(url) as store:
            assert (await store.append_run_record(RECORD)).id == "7"

    with faulty_server([GATHERED]) as server:
        asyncio.run(test(server.url + "/pre/fix"))
    assert request_line(server.requests[0]) == "POST /pre/fix/v1/commands HTTP/1.1"
    assert server.bodies()[0].startswith(b'{"commands":[{"operation":"append_run_record","run_id":"a/b","body":{')


def test_the_key_is_sent_as_a_bearer_token() -> None:
    with faulty_server([answer(200, APPENDED)]) as server, HttpStore(server.url, token="k.1_-") as store:
        store.append_run_record(RECORD)
    assert b"\r\nauthorization: bearer k.1_-\r\n" in server.requests[0].lower().replace(b"Bearer", b"bearer")


def test_without_a_key_no_authorization_is_sent() -> None:
    with faulty_server([answer(200, APPENDED)]) as server, HttpStore(server.url) as store:
        store.append_run_record(RECORD)
    assert b"authorization" not in server.requests[0].lower()


@pytest.mark.parametrize(
    "url", ["", "127.0.0.1:8080", "ftp://host", "http://", "http://h/?a=b", "http://h/#a", "/v1", "http://host:port"]
)
@pytest.mark.parametrize("store", [HttpStore, AsyncHttpStore])
def test_a_base_url_that_cannot_be_used_is_refused_at_once(store: Callable[[str], Any], url: str) -> None:
    with pytest.raises(ValueError, match="base_url"):
        store(url)


@pytest.mark.parametrize("token", ["", "a b", "a\r\nX-Evil: 1", "ключ"])
@pytest.mark.parametrize("store", [HttpStore, AsyncHttpStore])
def test_a_key_that_cannot_be_sent_is_refused_without_being_shown(store: Callable[..., Any], token: str) -> None:
    with pytest.raises(ValueError, match="token") as raised:
        store("http://127.0.0.1", token=token)
    assert not token or token not in str(raised.value)


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("localhost", True),
        ("a.localhost", True),
        ("example.org", False),
        ("10.0.0.1", False),
        ("localhost.example.org", False),
        ("1270.0.0.1", False),
    ],
)
def test_which_hosts_are_this_machine(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback


def test_a_proxy_variable_does_not_divert_what_stays_on_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with faulty_server([answer(200, APPENDED)]) as server, HttpStore(server.url, retries=ONCE) as store:
        assert store.append_run_record(RECORD).id == "7"


def test_a_proxy_variable_is_honoured_for_other_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    with faulty_server([answer(200, APPENDED)]) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        with HttpStore("http://service.invalid:8080", retries=ONCE) as store:
            assert store.append_run_record(RECORD).id == "7"
    assert request_line(proxy.requests[0]).startswith("POST http://service.invalid:8080/v1/runs/")


def test_a_transport_of_ones_own_replaces_that_of_httpx() -> None:
    def handle(request: httpx.Request) -> httpx.Response:
        seen.append(str(request.url))
        return httpx.Response(200, json={"status": "active"})

    seen: list[str] = []
    with HttpStore("https://service.example", transport=httpx.MockTransport(handle)) as store:
        assert store.load_session_status("s 1") is SessionStatus.ACTIVE
    assert seen == ["https://service.example/v1/sessions/s%201/status"]


def test_one_connection_serves_many_requests() -> None:
    with faulty_server([answer(200, APPENDED)]) as server, HttpStore(server.url) as store:
        for _ in range(20):
            store.append_run_record(RECORD)
    assert server.connections == 1


def test_a_long_poll_may_answer_later_than_the_timeout() -> None:
    with faulty_server([slow(0.5, EMPTY_PAGE)]) as server, HttpStore(server.url, timeout=0.2, retries=ONCE) as store:
        assert store.list_run_records("r", wait_ms=2_000) == Page((), "", "")
        with pytest.raises(Unavailable):
            store.list_run_records("r")
    assert request_line(server.requests[0]) == "GET /v1/runs/r/records?wait_ms=2000 HTTP/1.1"


def test_only_options_that_are_given_are_asked_for() -> None:
    page = "GET /v1/sessions/s/records"
    with faulty_server([EMPTY_PAGE]) as server, HttpStore(server.url) as store:
        store.list_session_run_records("s")
        store.list_session_run_records("s", "c&1", 5, order="desc", types=["a", "b c"], turn_ids=["t"], view="summary")
        store.list_session_run_records("s", limit=-1)
    assert [request_line(request) for request in server.requests] == [
        f"{page} HTTP/1.1",
        f"{page}?cursor=c%261&limit=5&order=desc&type=a&type=b+c&turn_id=t&view=summary HTTP/1.1",
        f"{page}?limit=-1 HTTP/1.1",
    ]


def test_every_filter_of_list_runs_is_asked_for_by_its_name() -> None:
    with faulty_server([EMPTY_RUNS]) as server, HttpStore(server.url) as store:
        store.list_runs(
            [RunStatus.RUNNING, RunStatus.FAILED],
            agent_id="a",
            session_id="s",
            parent_run_id="p/1",
            labels={"team": "x=y", "é": ""},
            started_after=datetime(2026, 3, 1, tzinfo=UTC),
            started_before=datetime(2026, 3, 2, tzinfo=UTC),
            order="desc",
        )
    url = httpx.URL("http://h" + request_line(server.requests[0]).split()[1])
    assert sorted(url.params.multi_items()) == [
        ("agent_id", "a"),
        ("label", "team=x=y"),
        ("label", "é="),
        ("order", "desc"),
        ("parent_run_id", "p/1"),
        ("session_id", "s"),
        ("started_after", "2026-03-01T00:00:00+00:00"),
        ("started_before", "2026-03-02T00:00:00+00:00"),
        ("status", "failed"),
        ("status", "running"),
    ]


@pytest.mark.parametrize(
    "call",
    [
        lambda store: store.append_run_record(RunRecord("k", "r", "a", "t", "{}", datetime(2026, 3, 1))),
        lambda store: store.append_run_record(RunRecord("k\ud800", "r", "a", "t", "{}", RECORD.timestamp)),
        lambda store: store.load_run("\ud800"),
        lambda store: store.list_run_records("r", "\udfff"),
        lambda store: store.list_run_records("r", types=["\udfff"]),
        lambda store: store.list_runs(labels={"a=b": "c"}),
        lambda store: store.create_session("s", datetime(2026, 3, 1)),
    ],
)
def test_what_cannot_be_said_exactly_is_refused_before_anything_is_sent(call: Callable[[HttpStore], Any]) -> None:
    with faulty_server([CLOSE]) as server, HttpStore(server.url) as store:
        with pytest.raises(InvalidCommand):
            call(store)
        assert server.requests == []


def test_the_async_store_retries_reads_and_raises_what_is_final() -> None:
    async def test(url: str) -> None:
        async with AsyncHttpStore(url, retries=RetryPolicy(attempts=3, first_wait_seconds=0.01)) as store:
            assert await store.load_session_status("s") == "active"
            with pytest.raises(Unauthenticated):
                await store.load_session_status("s")

    busy = problem(503, "unavailable", permanent=False)
    script = [busy, CLOSE, answer(200, {"status": "active"}), problem(401, "unauthenticated", permanent=False)]
    with faulty_server(script) as server:
        asyncio.run(test(server.url))
    assert len(server.requests) == 4


def test_the_async_store_repeats_a_request_of_commands_after_a_lost_answer() -> None:
    async def test(url: str) -> None:
        async with AsyncHttpStore(url, retries=RetryPolicy(attempts=3, first_wait_seconds=0.01)) as store:
            assert (await store.append_run_record(RECORD)).id == "7"

    with faulty_server([CLOSE, problem(503, "overloaded", permanent=False), GATHERED]) as server:
        asyncio.run(test(server.url))
    assert len(server.bodies()) == 3
    assert len(set(server.bodies())) == 1


def test_an_answer_of_another_server_is_told_to_the_async_store_too() -> None:
    async def test(url: str) -> None:
        async with AsyncHttpStore(url) as store:
            with pytest.raises(UnexpectedAnswer):
                await store.append_run_record(RECORD)

    with faulty_server([answer(200, {"hello": "world"})]) as server:
        asyncio.run(test(server.url))


def test_a_store_serves_many_threads() -> None:
    def work() -> None:
        done.extend(store.append_run_record(RECORD).id for _ in range(10))

    done: list[str] = []
    with faulty_server([answer(200, APPENDED)]) as server, HttpStore(server.url) as store:
        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert done == ["7"] * 80
