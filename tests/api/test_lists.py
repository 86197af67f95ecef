"""Lists over HTTP: their query strings, limits, cursors, filters and waiting."""

from __future__ import annotations

import json
import threading
import time
from typing import Any

import httpx
import pytest

from tests.api.story import a_completion, a_one_shot_start, a_record, a_root_start
from tests.api.test_requests import problem


@pytest.fixture
def session(http: httpx.Client, unique: str) -> str:
    """A session with one running run of the same name that holds its start and nine notes."""
    assert http.post("/v1/sessions", json={"session_id": unique}).status_code == 200
    assert http.post("/v1/runs/root", json=a_root_start(unique, unique)).status_code == 200
    for number in range(2, 11):
        record = a_record(unique, f"k-{number}", unique, turn_id=f"t-{number % 3}", type=f"type-{number % 2}")
        assert http.post(f"/v1/runs/{unique}/records", json=record).json()["id"] == str(number)
    return unique


def get(http: httpx.Client, path: str, **query: Any) -> Any:
    answer = http.get(path, params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def ids(page: Any) -> list[int]:
    return [int(record["id"]) for record in page["records"]]


@pytest.mark.parametrize("owner", ["runs", "sessions"])
def test_pages_lead_from_the_first_record_to_the_last(http: httpx.Client, session: str, owner: str) -> None:
    path = f"/v1/{owner}/{session}/records"
    page = get(http, path, limit=4)
    found = ids(page)
    while page["next_cursor"]:
        assert page["next_cursor"] == page["end_cursor"]
        page = get(http, path, limit=4, cursor=page["next_cursor"])
        found += ids(page)
    assert found == list(range(1, 11))
    later = get(http, path, cursor=page["end_cursor"])
    assert later == {"records": [], "next_cursor": "", "end_cursor": page["end_cursor"]}


@pytest.mark.parametrize("owner", ["runs", "sessions"])
def test_a_descending_list_begins_with_the_newest(http: httpx.Client, session: str, owner: str) -> None:
    path = f"/v1/{owner}/{session}/records"
    page = get(http, path, limit=7, order="desc")
    assert ids(page) == [10, 9, 8, 7, 6, 5, 4]
    assert ids(get(http, path, limit=7, order="desc", cursor=page["next_cursor"])) == [3, 2, 1]


@pytest.mark.parametrize("owner", ["runs", "sessions"])
def test_filters_are_alternatives_within_and_hold_together(http: httpx.Client, session: str, owner: str) -> None:
    path = f"/v1/{owner}/{session}/records"
    assert ids(get(http, path, type="type-1")) == [3, 5, 7, 9]
    assert ids(get(http, path, type=["type-0", "run_started"])) == [1, 2, 4, 6, 8, 10]
    assert ids(get(http, path, type="type-1", turn_id=["t-0", "t-1"])) == [3, 7, 9]
    nothing = get(http, path, type="no such type")
    assert (nothing["records"], nothing["next_cursor"]) == ([], "")
    assert nothing["end_cursor"] == get(http, path)["end_cursor"] or owner == "sessions"


def test_a_summary_tells_sizes_instead_of_payloads(http: httpx.Client, session: str) -> None:
    full, summary = (get(http, f"/v1/runs/{session}/records", view=view) for view in ("full", "summary"))
    assert "payload_bytes" not in full["records"][0]
    for stored, short in zip(full["records"], summary["records"], strict=True):
        assert short == {**stored, "payload": "", "payload_bytes": len(stored["payload"])}


def test_a_record_comes_back_with_all_that_was_sent(http: httpx.Client, session: str) -> None:
    payload = ' { "zz":1, "a":{"b":2e400,"aa":3.0}, "a":"\\ud800 \\u0000 \u00e9\U0001f600" }\n'
    sent = a_record(session, "verbatim", session, payload=payload, timestamp="1969-12-31T23:59:59.001+00:00")
    assert http.post(f"/v1/runs/{session}/records", json=sent).status_code == 200
    (stored,) = get(http, f"/v1/runs/{session}/records", cursor="10")["records"]
    assert stored.pop("stored_at").endswith("Z")
    assert stored == {**sent, "id": "11", "timestamp": "1969-12-31T23:59:59.001Z"}


@pytest.mark.parametrize("limit", ["0", "-1", "+1", " 1", "1 ", "x", "1.0", "1e2", "\u0663", "0x1"])
def test_a_limit_that_is_no_number_from_one_is_invalid(http: httpx.Client, limit: str) -> None:
    for path in ("/v1/runs/none/records", "/v1/sessions/none/records", "/v1/sessions", "/v1/runs"):
        problem(http.get(path, params={"limit": limit}), 422, "invalid_limit")


@pytest.mark.parametrize("limit", ["1000", "1001", "9" * 5_000, ""])
def test_a_limit_over_the_maximum_is_lowered(http: httpx.Client, session: str, limit: str) -> None:
    assert ids(get(http, f"/v1/runs/{session}/records", limit=limit)) == list(range(1, 11))


@pytest.mark.parametrize(
    "cursor", ["0", "01", "-1", "+1", " 1", "x", "9223372036854775808", "\u0663", "1\u0000", "9" * 5_000]
)
def test_a_run_cursor_is_a_canonical_position(http: httpx.Client, session: str, cursor: str) -> None:
    problem(http.get(f"/v1/runs/{session}/records", params={"cursor": cursor}), 422, "invalid_cursor")


def test_a_run_cursor_past_the_end_gives_an_empty_page(http: httpx.Client, session: str) -> None:
    page = get(http, f"/v1/runs/{session}/records", cursor="9223372036854775807")
    assert page == {"records": [], "next_cursor": "", "end_cursor": "9223372036854775807"}


def test_limit_is_judged_before_cursor_and_cursor_before_existence(http: httpx.Client) -> None:
    for path in ("/v1/runs/none/records", "/v1/sessions/none/records", "/v1/sessions/none/runs"):
        problem(http.get(path, params={"limit": "x", "cursor": "?"}), 422, "invalid_limit")
        problem(http.get(path, params={"cursor": "?"}), 422, "invalid_cursor")
        assert http.get(path).status_code == 404
        problem(http.get(path, params={"limit": "x", "nope": "1"}), 422, "invalid_command")


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("/v1/runs/none", "a=1"),
        ("/v1/runs/none/suspension", "limit=1"),
        ("/v1/sessions/none", "x"),
        ("/v1/sessions/none/status", "=1"),
        ("/v1/runs/none/records", "status=running"),
        ("/v1/runs/none/records", "limit=1&limit=1"),
        ("/v1/runs/none/records", "cursor=&cursor="),
        ("/v1/runs/none/records", "order=up"),
        ("/v1/runs/none/records", "view=short"),
        ("/v1/runs/none/records", "wait_ms=-1"),
        ("/v1/runs/none/records", "wait_ms=soon"),
        ("/v1/runs/none/records", "type=%00"),
        ("/v1/runs/none/records", "type=%ff"),
        ("/v1/runs/none/records", "type=" + "x" * 1_025),
        ("/v1/sessions", "status=purged"),
        ("/v1/sessions", "status=running"),
        ("/v1/sessions", "type=x"),
        ("/v1/runs", "status=active"),
        ("/v1/runs", "status=purged"),
        ("/v1/runs", "label=no-equals-sign"),
        ("/v1/runs", "agent_id=a&agent_id=b"),
        ("/v1/runs", "started_after=yesterday"),
        ("/v1/runs", "started_before=2026-03-01T10:00:00.1234Z"),
        ("/v1/sessions/none/runs", "agent_id=a"),
    ],
)
def test_a_query_that_is_not_understood_is_an_invalid_command(http: httpx.Client, path: str, query: str) -> None:
    problem(http.get(f"{path}?{query}"), 422, "invalid_command")


def test_commands_take_no_query(http: httpx.Client, session: str) -> None:
    problem(http.post(f"/v1/runs/{session}/records?wait=1", json=a_record(session)), 422, "invalid_command")
    problem(http.delete(f"/v1/sessions/{session}?force=1"), 422, "invalid_command")
    problem(http.delete(f"/v1/runs/{session}?force=1"), 422, "invalid_command")


def test_a_cursor_of_another_list_filter_or_order_is_invalid(http: httpx.Client, session: str) -> None:
    path = f"/v1/sessions/{session}/records"
    cursor = get(http, path, limit=2)["next_cursor"]
    assert ids(get(http, path, cursor=cursor, view="summary")) == list(range(3, 11))
    for query in ({"type": "type-1"}, {"turn_id": "t-1"}, {"order": "desc"}):
        problem(http.get(path, params={"cursor": cursor, **query}), 422, "invalid_cursor")
    other = f"{session}-other"
    assert http.post("/v1/sessions", json={"session_id": other}).status_code == 200
    problem(http.get(f"/v1/sessions/{other}/records", params={"cursor": cursor}), 422, "invalid_cursor")
    problem(http.get("/v1/sessions", params={"cursor": cursor}), 422, "invalid_cursor")


def test_runs_are_found_by_each_filter(http: httpx.Client, unique: str) -> None:
    first, second = f"{unique}-1", f"{unique}-2"
    labels = {"owner": unique, "a=b": "c=d", "": "\0"}
    for run_id, started in ((first, "2026-03-01T10:00:00.000Z"), (second, "2026-03-01T11:00:00.000Z")):
        body = a_one_shot_start(run_id, agent_id=f"agent-{unique}", labels=labels, started_at=started)
        body["started"] |= {"agent_id": f"agent-{unique}", "timestamp": started}
        assert http.post("/v1/runs/one-shot", json=body).status_code == 200, body
    completion = a_completion(second)
    completion["record"]["agent_id"] = f"agent-{unique}"
    completion["record"]["payload"] = json.dumps({"status": "success", "phase": "completed", "labels": labels})
    assert http.post(f"/v1/runs/{second}/terminal", json=completion).status_code == 200

    def found(**query: Any) -> list[str]:
        return [run["run_id"] for run in get(http, "/v1/runs", **query)["runs"]]

    mine = {"agent_id": f"agent-{unique}"}
    assert found(**mine) == [first, second]
    assert found(**mine, order="desc") == [second, first]
    assert found(label=f"owner={unique}") == [first, second]
    assert found(label=[f"owner={unique}", "=\0"]) == [first, second]
    assert found(label=[f"owner={unique}", "owner=other"]) == []
    assert found(**mine, status="running") == [first]
    assert found(**mine, status=["running", "completed"]) == [first, second]
    assert found(**mine, started_after="2026-03-01T10:00:00.000Z", started_before="2026-03-01T11:00:00Z") == [first]
    assert found(**mine, started_after="2026-03-01T12:00:00.001+02:00") == [second]
    assert found(**mine, parent_run_id=first) == []
    assert found(**mine, session_id=unique) == []
    page = get(http, "/v1/runs", **mine, limit=1)
    assert [run["run_id"] for run in get(http, "/v1/runs", **mine, cursor=page["next_cursor"])["runs"]] == [second]
    (shown,) = get(http, "/v1/runs", **mine, limit=1)["runs"]
    assert shown["labels"] == labels


def test_sessions_are_listed_by_time_and_status(http: httpx.Client, unique: str) -> None:
    names = [f"{unique}-{number}" for number in range(5)]
    for name in reversed(names):
        created = f"1900-01-01T00:00:00.{name[-1]}Z"
        assert http.post("/v1/sessions", json={"session_id": name, "created_at": created}).status_code == 200
    assert http.post(f"/v1/sessions/{names[1]}/end").status_code == 200

    def found(**query: Any) -> list[str]:
        found: list[str] = []
        page = {"next_cursor": ""}
        while page["next_cursor"] or not found:
            page = get(http, "/v1/sessions", limit=2, cursor=page["next_cursor"], **query)
            found += [session["session_id"] for session in page["sessions"]]
            if len(found) > 100:
                break
        return [name for name in found if name.startswith(unique)]

    assert found() == names
    assert found(status="active") == [names[0], *names[2:]]


def test_a_reader_may_wait_for_a_first_record(http: httpx.Client, session: str) -> None:
    path = f"/v1/runs/{session}/records"
    begun = time.monotonic()
    assert get(http, path, cursor="10", wait_ms=400)["records"] == []
    assert 0.35 < time.monotonic() - begun < 5

    def append() -> None:
        time.sleep(0.3)
        http.post(path, json=a_record(session, "late", session))

    thread = threading.Thread(target=append)
    thread.start()
    begun = time.monotonic()
    page = get(http, path, cursor="10", wait_ms=20_000)
    thread.join()
    assert ids(page) == [11]
    assert time.monotonic() - begun < 10
    assert ids(get(http, path, wait_ms="9" * 100)) == list(range(1, 12))
