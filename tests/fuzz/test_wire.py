"""Requests of any bytes at all: paths, queries, heads and bodies that no client would send. No server error but 503.

Every answer under /v1 that is no success is a problem document; what is no HTTP is told so, or the line goes dead.
"""

from __future__ import annotations

import json
import socket

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.model import commands as make
from tests.model.profile import FULL
from tests.support.server import Server

many = settings(
    max_examples=5_000 if FULL else 150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)

PIECES = st.sampled_from(
    [
        *(
            "/v1/runs",
            "/v1/sessions",
            "/v1/commands",
            "/",
            "//",
            "/..",
            "/.",
            "/%2e%2e",
            "/records",
            "/root",
            "/status",
        ),
        *("/~", "~QQ", "~QR", "~" + "QUFB" * 400, "%", "%2F", "%00", "%ff", "%ED%A0%80", "%zz", "é", "\\", "a" * 3_000),
        *("?limit=1", "?limit=-1", "&limit=" + "9" * 400, "?cursor=1", "&cursor=%00", "?cursor=AQ", "&cursor=%C3%A9"),
        *("?order=desc", "&order=", "?view=summary", "&wait_ms=1", "&wait_ms=0x1", "?status=running", "&status=%80"),
        *(
            "?label=a=b",
            "&label=%00=%00",
            "?label=a",
            "?type=%F0%9F%98%80",
            "&turn_id=",
            "?x=1",
            "&",
            "=",
            ";",
            "+",
            "#f",
        ),
        *(
            "?started_after=2026-03-01T10:00:00Z",
            "&started_before=now",
            "?agent_id=%ED%BF%BF",
            "&session_id=" + "s" * 2_000,
        ),
    ]
)
TARGETS = (
    st.lists(PIECES, min_size=1, max_size=6).map("".join).map(lambda text: text if text[0] == "/" else "/v1/" + text)
)
METHODS = st.sampled_from(
    ["GET", "POST", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS", "TRACE", "CONNECT", "get", "PROPFIND", "X" * 200]
)
HEADS = st.lists(
    st.sampled_from(
        [
            *(
                b"content-type: application/json",
                b"content-type: text/plain",
                b"content-type: application/json; charset=\xff",
            ),
            *(
                b"content-type: application/json;;;=;",
                b"content-encoding: gzip",
                b"content-encoding: ,,",
                b"accept: \x80\xff",
            ),
            *(b"expect: 100-continue", b"expect: 200-ok", b"transfer-encoding: chunked", b"transfer-encoding: gzip"),
            *(
                b"content-length: 5",
                b"content-length: -1",
                b"content-length: 99999999999999999999",
                b"upgrade: websocket",
            ),
            *(
                b"connection: upgrade",
                b"x-request-id: " + b"r" * 4_000,
                b"x-request-id: a\tb",
                b"authorization: Bearer \xff",
            ),
            *(
                b"traceparent: 00-zz-zz-zz",
                b"forwarded: for=\xff",
                b"x-forwarded-for: ,,,",
                b"range: bytes=0-",
                b": empty",
            ),
            *(
                b"no colon",
                b"host: a:b:c",
                b"cookie: " + b"c" * 8_000,
                b"te: trailers",
                b"\x00: \x00",
                b"accept-encoding: gzip",
            ),
        ]
    ),
    max_size=4,
)
TEXTS = st.text(max_size=20) | st.sampled_from(
    ["", "\0", "r", "2026-03-01T10:00:00Z", "run_started", "{}", "A" * 2_000]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


CALLS = [
    make.create("s"),
    make.start("r"),
    make.start("r", session="s"),
    make.start("c", parent="r"),
    make.append("r"),
    make.cancellation("r"),
    make.suspension("r"),
    make.terminal("r"),
    make.batch(make.start("r"), make.append("r")),
]


@st.composite
def spoiled(draw: st.DrawFn) -> bytes:
    """A valid body with some members replaced by anything, or its text changed anywhere."""
    call = draw(st.sampled_from(CALLS))
    body = json.loads(json.dumps(call.body))
    for _ in range(draw(st.integers(0, 2))):
        at = body
        while isinstance(at, dict) and at:
            name = draw(st.sampled_from(sorted(at)))
            if not isinstance(at[name], dict) or draw(st.booleans()):
                at[name] = draw(VALUES)
                break
            at = at[name]
    text = json.dumps(body)
    if draw(st.booleans()):
        place = draw(st.integers(0, len(text)))
        piece = draw(
            st.sampled_from(['"', "\\", "{", "[", "}", ",", "\\ud800", "\ufeff", "NaN", "1e999", "\0", '"a":1,'])
        )
        text = text[:place] + piece + text[place + draw(st.integers(0, 3)) :]
    encoding = draw(st.sampled_from(["utf-8"] * 8 + ["utf-16", "utf-8-sig", "latin-1"]))
    return text.encode(encoding, "surrogatepass" if encoding != "latin-1" else "replace")


BODIES = st.none() | st.binary(max_size=50) | spoiled()


def answer_to(server: Server, request: bytes, patience: float) -> bytes:
    """All that the service sends until it closes the connection, or is silent for so many seconds."""
    parts = []
    with socket.create_connection(("127.0.0.1", server.port), timeout=patience) as connection:
        try:
            connection.sendall(request)
            while part := connection.recv(65_536):
                parts.append(part)
        except (ConnectionError, TimeoutError):
            pass
    return b"".join(parts)


def judge(answer: bytes, target: str) -> None:
    """What is sent back is no server error, and a problem is a problem document."""
    if not answer:
        return
    head, _, body = answer.partition(b"\r\n\r\n")
    if head.startswith(b"HTTP/1.1 100"):
        head, _, body = body.partition(b"\r\n\r\n")
    status = int(head.split(b" ")[1])
    assert status < 500 or status == 503, answer[:2_000]
    lines = head.lower().split(b"\r\n")
    if b"content-type: application/problem+json" in lines and body:
        told = json.loads(body)
        assert told["status"] == status, answer[:2_000]
        assert told["code"]
        assert told["permanent"] is (status not in (401, 403, 429, 503))
    elif status >= 400:
        # Not from the service itself, but from what reads HTTP for it.
        assert not body or b"Invalid HTTP request" in body, f"{target}: {answer[:2_000]!r}"


@many
@given(METHODS, TARGETS, HEADS, BODIES)
@example("GET", "/v1/runs/%ED%A0%80", [], None)
@example("POST", "/v1/commands", [b"content-type: application/json"], b'{"commands":[{}]}')
@example("POST", "/v1/sessions", [b"content-type: application/json", b"content-type: text/plain"], b"{}")
@example("GET", "/v1/runs?" + "&".join(["label=a=b"] * 3_000), [], None)
def test_no_request_of_any_bytes_is_answered_by_a_server_error(
    server: Server, method: str, target: str, heads: list[bytes], body: bytes | None
) -> None:
    lines = [f"{method} {target} HTTP/1.1".encode(), b"host: localhost", b"connection: close", *heads]
    if body is not None and not any(b"content-length" in head or b"transfer-encoding" in head for head in heads):
        lines.append(b"content-length: %d" % len(body))
    said = len(server.output())
    judge(answer_to(server, b"\r\n".join(lines) + b"\r\n\r\n" + (body or b""), patience=0.2), target)
    assert server.is_running
    assert "Traceback" not in server.output()[said:]


@many
@given(
    spoiled(),
    st.sampled_from(["/sessions", "/runs/root", "/runs/child", "/runs/r/terminal", "/commands", "/runs/r/records"]),
)
def test_no_body_of_any_bytes_is_answered_by_a_server_error(server: Server, body: bytes, path: str) -> None:
    head = f"POST /v1{path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n"
    answer = answer_to(server, f"{head}content-length: {len(body)}\r\n\r\n".encode() + body, patience=20)
    assert answer
    judge(answer, path)
