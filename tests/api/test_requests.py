"""Requests that are wrong before any command is read: each gets its problem document, in the contract's order."""

from __future__ import annotations

import base64
import gzip
import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.api.story import a_one_shot_start, a_record
from tests.support.server import Server

JSON = {"content-type": "application/json"}


def problem(answer: httpx.Response, status: int, code: str) -> dict[str, Any]:
    """Check that an answer is this problem, whole."""
    assert (answer.status_code, answer.json().get("code")) == (status, code), answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    document: dict[str, Any] = answer.json()
    assert document["status"] == status
    assert document["type"].endswith(code)
    assert document["title"]
    assert document["request_id"] == answer.headers["x-request-id"]
    assert document["permanent"] is (status in (400, 404, 405, 409, 410, 413, 415, 422))
    return document


def test_an_unknown_route_is_not_found(http: httpx.Client) -> None:
    for path in ("/v1", "/v1/", "/v1/nothing", "/v1/sessions/", "/v1/runs/a/b/c", "/v1/runs//records", "/nowhere"):
        problem(http.get(path), 404, "not_found")


def test_a_known_route_with_another_method_tells_the_methods_it_has(http: httpx.Client) -> None:
    answer = http.put("/v1/runs/some-run/records")
    problem(answer, 405, "method_not_allowed")
    assert answer.headers["allow"] == "GET, POST"
    answer = http.delete("/v1/commands")
    problem(answer, 405, "method_not_allowed")
    assert answer.headers["allow"] == "POST"
    answer = http.post("/livez")
    problem(answer, 405, "method_not_allowed")
    assert answer.headers["allow"] == "GET"


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"content-type": ""},
        {"content-type": "text/plain"},
        {"content-type": "application/x-www-form-urlencoded"},
        {"content-type": "application/json; charset=utf-16"},
        {"content-type": "application/json; charset=latin1"},
        {"content-type": "application/json; v=1"},
        {"content-type": "application/problem+json"},
        {"content-type": "application/json", "content-encoding": "gzip"},
        {"content-type": "application/json", "content-encoding": "br"},
    ],
)
def test_a_body_that_is_not_plain_json_is_an_unsupported_media_type(
    http: httpx.Client, headers: dict[str, str]
) -> None:
    content = gzip.compress(b"{}") if headers.get("content-encoding") == "gzip" else b"not even json"
    problem(http.post("/v1/sessions", content=content, headers=headers), 415, "unsupported_media_type")


@pytest.mark.parametrize(
    "content_type",
    ["application/json", "APPLICATION/JSON", 'application/json; charset="UTF-8"', "application/json;charset=utf-8 ;"],
)
def test_json_may_be_declared_in_any_spelling(http: httpx.Client, unique: str, content_type: str) -> None:
    body = json.dumps({"session_id": unique}).encode()
    headers = {"content-type": content_type, "content-encoding": "identity"}
    assert http.post("/v1/sessions", content=body, headers=headers).status_code == 200


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"\xef\xbb\xbf{}", b"NaN", b'{"session_id":"\xed\xa0\x80"}'])
def test_a_body_that_is_not_json_is_malformed(http: httpx.Client, body: bytes) -> None:
    problem(http.post("/v1/sessions", content=body, headers=JSON), 400, "malformed_request")


@pytest.mark.parametrize("depth", [9_000, 200_000])
def test_a_nesting_bomb_is_refused_in_envelope_and_payload(http: httpx.Client, unique: str, depth: int) -> None:
    bomb = "[" * depth + "]" * depth
    envelope = http.post("/v1/sessions", content=f'{{"session_id":{bomb}}}'.encode(), headers=JSON)
    problem(envelope, 422, "invalid_command")
    payload = http.post(f"/v1/runs/{unique}/records", json=a_record(unique, payload=bomb))
    assert problem(payload, 422, "invalid_command")["errors"][0]["pointer"] == "/payload"


def test_a_lone_surrogate_is_answered_with_a_readable_problem(http: httpx.Client) -> None:
    body = b'{"session_id":"\\ud800","\\udfff":1}'
    found = problem(http.post("/v1/sessions", content=body, headers=JSON), 422, "invalid_command")
    assert {error["pointer"] for error in found["errors"]} == {"/session_id", "/?"}


def test_a_huge_number_is_only_a_wrong_type(http: httpx.Client) -> None:
    body = b'{"session_id":' + b"9" * 5_000 + b"}"
    found = problem(http.post("/v1/sessions", content=body, headers=JSON), 422, "invalid_command")
    assert found["errors"] == [{"pointer": "/session_id", "detail": "must be a string"}]


def test_a_repeated_name_is_pointed_to(http: httpx.Client) -> None:
    body = b'{"session_id":"a","session_id":"a"}'
    found = problem(http.post("/v1/sessions", content=body, headers=JSON), 422, "invalid_command")
    assert found["errors"] == [{"pointer": "/session_id", "detail": "must not be given twice"}]


def test_the_checks_come_in_the_order_of_the_contract(http: httpx.Client) -> None:
    large = b" " * (16 * 1024 * 1024 + 1)
    problem(http.post("/v1/nothing", content=b"{", headers={"content-type": "text/plain"}), 404, "not_found")
    problem(http.patch("/v1/sessions", content=b"{", headers={"content-type": "text/plain"}), 405, "method_not_allowed")
    problem(http.post("/v1/sessions", content=large, headers={"content-type": "text/plain"}), 413, "payload_too_large")
    problem(
        http.post("/v1/runs/%ff/records", content=b"{", headers={"content-type": "text/plain"}),
        415,
        "unsupported_media_type",
    )
    problem(http.post("/v1/runs/%ff/records", content=b"{", headers=JSON), 400, "malformed_request")
    problem(http.post("/v1/runs/%ff/records", content=b"{}", headers=JSON), 422, "invalid_command")


def test_a_body_that_says_it_is_too_large_is_refused_unread(server: Server) -> None:
    head = (
        b"POST /v1/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Content-Length: 16777217\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
        connection.sendall(head)
        answer = b""
        while b'"limit"' not in answer and (part := connection.recv(65_536)):
            answer += part
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b'"limit":16777216' in answer


def test_an_endless_body_is_refused_while_it_is_read(server: Server) -> None:
    def endless() -> Iterator[bytes]:
        for _ in range(17):
            yield b" " * 1024 * 1024

    with httpx.Client(base_url=server.url, trust_env=False, timeout=30) as http:
        problem(http.post("/v1/sessions", content=endless(), headers=JSON), 413, "payload_too_large")
        problem(http.post("/v1/sessions", content=endless(), headers={}), 413, "payload_too_large")


def test_a_body_of_exactly_the_limit_is_read(http: httpx.Client, unique: str) -> None:
    body = json.dumps({"session_id": unique}).encode()
    padded = body + b" " * (16 * 1024 * 1024 - len(body))
    assert http.post("/v1/sessions", content=padded, headers=JSON).status_code == 200


@pytest.mark.parametrize("endless", [b"GET /" + b"x" * 200_000, b"GET / HTTP/1.1\r\n" + b"X-Y: z\r\n" * 20_000])
def test_a_head_that_does_not_end_is_refused(server: Server, endless: bytes) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
        try:
            for start in range(0, len(endless), 8_192):
                connection.sendall(endless[start : start + 8_192])
            answer = connection.recv(65_536)
        except ConnectionError:
            # The service was faster than the sender, who can no longer read the answer.
            answer = b"HTTP/1.1 413"
    assert answer.startswith(b"HTTP/1.1 413")


def test_callers_that_hang_up_amid_their_request_leave_the_service_well(server: Server, http: httpx.Client) -> None:
    for _ in range(20):
        with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
            connection.sendall(
                b"POST /v1/sessions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                b"Content-Length: 500\r\n\r\n{"
            )
    assert http.get("/readyz").status_code == 200


def test_the_caller_may_name_its_request(http: httpx.Client) -> None:
    answer = http.get("/v1/runs/no-such-run", headers={"x-request-id": "job-7.a:b_c"})
    assert problem(answer, 404, "run_not_found")["request_id"] == "job-7.a:b_c"


@pytest.mark.parametrize("name", ["", "a b", "x" * 129, 'quote"', "new\tline", "é".encode().decode("latin-1")])
def test_a_name_that_is_not_plain_is_replaced(http: httpx.Client, name: str) -> None:
    answer = http.get("/v1/runs/no-such-run", headers={b"x-request-id": name.encode("latin-1")})
    assert problem(answer, 404, "run_not_found")["request_id"] != name


ODD_IDS = [
    "team/a b",
    "r%2F1",
    "k?x#y",
    "..",
    ".",
    "records",
    "root",
    "s-1/records",
    "~tilde",
    "back\\slash",
    "a\x01b\x7f",
    "\u00e9 e\u0301 \U0001f600",
    "x" * 1_000,
]


@pytest.mark.parametrize("id_", ODD_IDS)
def test_ids_of_any_spelling_work_through_every_route(http: httpx.Client, unique: str, id_: str) -> None:
    run_id = f"{id_}{unique}" if len(id_) > 10 else id_ + "/" + unique
    # A segment that begins with a tilde, percent-encoded or not, is always in base64url.
    for spell in (_tilde,) if id_.startswith("~") else (_percent, _tilde):
        name = run_id + spell.__name__
        assert http.post("/v1/runs/one-shot", json=a_one_shot_start(name)).status_code == 200
        path = f"/v1/runs/{spell(name)}"
        assert _get(http, path)["run_id"] == name
        appended = http.post(f"{path}/records", json=a_record(name))
        assert appended.json()["id"] == "2", appended.text
        assert [record["id"] for record in _get(http, f"{path}/records")["records"]] == ["1", "2"]


def _percent(id_: str) -> str:
    return "".join(f"%{byte:02X}" for byte in id_.encode())


def _tilde(id_: str) -> str:
    return "~" + base64.urlsafe_b64encode(id_.encode()).decode().rstrip("=")


def _get(http: httpx.Client, path: str) -> Any:
    answer = http.get(path)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_the_empty_id_is_not_found(http: httpx.Client) -> None:
    problem(http.get("/v1/runs/~"), 404, "run_not_found")
    problem(http.get("/v1/sessions/~/status"), 404, "session_not_found")
    problem(http.get("/v1/sessions/~"), 404, "session_not_found")


def test_ids_that_are_words_of_routes_are_ordinary(http: httpx.Client) -> None:
    problem(http.get("/v1/runs/one-shot-child"), 404, "run_not_found")
    problem(http.get("/v1/runs/root/records"), 404, "run_not_found")
    problem(http.get("/v1/sessions/status/status"), 404, "session_not_found")
    problem(http.get("/v1/runs/%2E%2E/records"), 404, "run_not_found")


def test_requests_in_parallel_each_get_their_own_answer(server: Server, unique: str) -> None:
    wrong: list[str] = []

    def work(number: int) -> None:
        with httpx.Client(base_url=server.url, trust_env=False, timeout=30) as http:
            for turn in range(20):
                name = f"{unique}-{number}-{turn}"
                answer = http.post("/v1/sessions", json={"session_id": name}, headers={"x-request-id": name})
                if answer.json().get("session_id") != name or answer.headers["x-request-id"] != name:
                    wrong.append(answer.text)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
