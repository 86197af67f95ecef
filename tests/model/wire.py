"""One call as one HTTP request, and the answer back; with an encoding of path ids of our own.

Every problem document that passes here is checked for what all of them promise.
"""

from __future__ import annotations

import base64
import json
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

import httpx

from tests.model.model import Answer, Call

S, R = "/v1/sessions", "/v1/runs"
ROUTES = {
    "create_session": ("POST", S),
    "list_sessions": ("GET", S),
    "load_session": ("GET", S + "/{id}"),
    "purge_session": ("DELETE", S + "/{id}"),
    "end_session": ("POST", S + "/{id}/end"),
    "load_session_status": ("GET", S + "/{id}/status"),
    "list_runs_by_session": ("GET", S + "/{id}/runs"),
    "list_session_run_records": ("GET", S + "/{id}/records"),
    "start_root_run": ("POST", R + "/root"),
    "start_child_run": ("POST", R + "/child"),
    "start_one_shot_run": ("POST", R + "/one-shot"),
    "start_one_shot_child_run": ("POST", R + "/one-shot-child"),
    "append_run_record": ("POST", R + "/{id}/records"),
    "record_run_cancellation": ("POST", R + "/{id}/cancellation"),
    "record_run_suspension": ("POST", R + "/{id}/suspension"),
    "load_run_suspension": ("GET", R + "/{id}/suspension"),
    "record_run_terminal": ("POST", R + "/{id}/terminal"),
    "repair_run_suspension": ("POST", R + "/{id}/suspension/repair"),
    "repair_run_terminal": ("POST", R + "/{id}/terminal/repair"),
    "run_commands": ("POST", "/v1/commands"),
    "load_run": ("GET", R + "/{id}"),
    "purge_one_shot_run": ("DELETE", R + "/{id}"),
    "list_run_records": ("GET", R + "/{id}/records"),
    "list_runs": ("GET", R),
}
TEMPORARY = (401, 403, 429, 500, 503)


def segment(text: str, plain: bool = False) -> str:
    """An id as one path segment: base64url after a tilde, or percent-encoded where that is possible."""
    if plain and text and text not in (".", "..") and not text.startswith("~"):
        return quote(text, safe="")
    return "~" + base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def body_bytes(body: Any) -> bytes:
    """JSON, escaped only where it must be, so that both spellings of text are sent."""
    try:
        return json.dumps(body, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(body).encode()


def checked(answer: httpx.Response) -> Answer:
    """The answer; fails when it is a server error or a problem that is not what problems must be."""
    if answer.status_code < 300:
        return Answer(answer.status_code, answer.json() if answer.content else None)
    assert answer.status_code < 500 or answer.status_code == 503, f"{answer.status_code} {answer.text[:500]}"
    return Answer(answer.status_code, checked_problem(answer))


def checked_problem(answer: httpx.Response) -> dict[str, Any]:
    kind = answer.headers.get("content-type", "")
    assert kind.split(";")[0] == "application/problem+json", f"{answer.status_code} {kind} {answer.text[:300]}"
    problem = answer.json()
    assert isinstance(problem, dict)
    for name in ("type", "title", "detail", "code", "request_id"):
        assert isinstance(problem.get(name), str), f"{name} in {problem}"
    assert problem["type"] and problem["title"] and problem["code"] and problem["request_id"], problem
    assert problem["status"] == answer.status_code, problem
    assert problem["permanent"] is (answer.status_code not in TEMPORARY), problem
    if answer.status_code in (429, 503):
        assert "retry-after" in answer.headers, problem
    return problem


class Wire:
    """A connection of our own to a running service."""

    def __init__(self, base_url: str, timeout: float = 30.0) -> None:
        limits = httpx.Limits(max_connections=1, max_keepalive_connections=1)
        self.http = httpx.Client(base_url=base_url, timeout=timeout, trust_env=False, limits=limits)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.http.close()

    def call(self, call: Call, plain: bool = False) -> Answer:
        method, template = ROUTES[call.operation]
        path = template.replace("{id}", segment(call.path, plain))
        sends = method == "POST" and call.body is not None
        return checked(
            self.http.request(
                method,
                path,
                params=httpx.QueryParams(list(call.query)) if call.query else None,
                content=body_bytes(call.body) if sends else None,
                headers={"content-type": "application/json"} if sends else None,
            )
        )
