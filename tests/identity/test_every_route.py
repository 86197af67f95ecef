"""Every route of the document with no key, a bad key, each wrong role, and from another namespace.

The requests are the document's own examples, in its order: a story that works on an empty database. A route that is
added is walked, too; one that no rule covers fails here.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.routing import APIRoute

from runhold.api.identity import Role
from runhold.api.openapi import build_document
from runhold.api.operations import OPERATIONS
from runhold.identity.key_file import change_keys
from runhold.identity.keys import new_key
from runhold.main import create_app
from runhold.settings import Settings
from tests.support.server import Server

DOCUMENT: dict[str, Any] = build_document(OPERATIONS)
ROLES = {operation.id: operation.roles for operation in OPERATIONS}
STORY = [
    (path, method, operation) for path, methods in DOCUMENT["paths"].items() for method, operation in methods.items()
]
OPEN = {"/livez", "/readyz", "/docs", "/docs/problems", "/openapi.json", "/static"}
"""What everybody may see."""
ANY_KEY = {"/metrics"}
"""What everybody with a key may see, whatever its role."""
BY_CLOCK = {"stored_at", "updated_at", "created_at", "ended_at", "head_digest", "request_id"}


class Caller:
    """Calls with one key."""

    def __init__(self, url: str, key: str | None) -> None:
        headers = {} if key is None else {"authorization": f"Bearer {key}"}
        self.http = httpx.Client(base_url=url, headers=headers, timeout=30, trust_env=False)

    def __call__(self, path: str, method: str, operation: dict[str, Any], **query: str) -> httpx.Response:
        """Send the example of an operation."""
        for parameter in operation["parameters"]:
            if parameter["in"] == "path":
                escaped = "".join(f"%{byte:02X}" for byte in parameter["example"].encode())
                path = path.replace(f"{{{parameter['name']}}}", escaped)
        body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("example")
        return self.http.request(method, path, json=body, params=query)


class Place:
    """A service with a key of each role in the namespaces ``a`` and ``b``."""

    def __init__(self, server: Server, keys: dict[tuple[str, Role], str]) -> None:
        self.server = server
        self._keys = keys
        self._callers: list[Caller] = []

    def caller(self, namespace: str = "a", role: Role = Role.ADMIN) -> Caller:
        """Somebody with the key of that role in that namespace."""
        return self.with_key(self._keys[namespace, role])

    def with_key(self, key: str | None) -> Caller:
        """Somebody with any key, or none."""
        self._callers.append(Caller(self.server.url, key))
        return self._callers[-1]

    def close(self) -> None:
        """Close all connections."""
        for caller in self._callers:
            caller.http.close()


@pytest.fixture
def place(start_server: Any, tmp_path: Path) -> Iterator[Place]:
    """A service with identity on a database of its own."""
    file, keys, kept = tmp_path / "keys.json", {}, []
    for namespace in ("a", "b"):
        for role in Role:
            keys[namespace, role], key = new_key(role, namespace)
            kept.append(key)
    change_keys(file, lambda _: (kept, None))
    found = Place(start_server({"RUNHOLD_API_KEYS_FILE": str(file)}), keys)
    yield found
    found.close()


def play(caller: Caller) -> list[tuple[str, int, Any]]:
    """The whole story; what each operation answered, apart from clocks."""
    answers = []
    for path, method, operation in STORY:
        answer = caller(path, method, operation)
        answers.append((operation["operationId"], answer.status_code, told(answer)))
    return answers


def told(answer: httpx.Response) -> Any:
    if not answer.content or "json" not in answer.headers["content-type"]:
        return None
    return _without_clocks(answer.json())


def _without_clocks(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_clocks(inner) for name, inner in value.items() if name not in BY_CLOCK}
    return [_without_clocks(inner) for inner in value] if isinstance(value, list) else value


def test_every_route_has_a_rule() -> None:
    routes = {route.path for route in create_app(Settings()).routes if hasattr(route, "path")}
    covered = {operation.template for operation in OPERATIONS} | OPEN | ANY_KEY
    assert routes <= covered, "say in this test who may call it"
    assert {operation.template for operation in OPERATIONS} <= routes
    for operation in OPERATIONS:
        assert operation.roles, operation.id
        assert Role.ADMIN in operation.roles
    documented = {operation["operationId"] for _, _, operation in STORY}
    assert documented == set(ROLES)
    assert all(isinstance(route, APIRoute) or route.path == "/static" for route in create_app(Settings()).routes)  # type: ignore[attr-defined]


def test_without_a_valid_key_no_route_answers_and_nothing_is_written(place: Place) -> None:
    for key in (None, "rh.unknown.key", "x", "a.b.c"):
        caller = place.with_key(key)
        for path, method, operation in STORY:
            answer = caller(path, method, operation)
            assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated"), operation["operationId"]
            assert answer.headers["www-authenticate"] == "Bearer"
        assert caller.http.get("/v1/nothing").status_code == 401
    assert all(status < 300 for _, status, _ in play(place.caller()))


@pytest.mark.parametrize("role", list(Role))
def test_a_role_may_do_what_the_table_says_and_nothing_else(place: Place, role: Role) -> None:
    admin, caller = place.caller(), place.caller(role=role)
    for path, method, operation in STORY:
        name = operation["operationId"]
        if role in ROLES[name]:
            answer = caller(path, method, operation)
            assert answer.status_code < 300, (name, answer.text)
            continue
        answer = caller(path, method, operation)
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden"), name
        assert answer.json()["permanent"] is False
        # It did nothing: the admin's own call is the first one, as the story goes on to show.
        assert admin(path, method, operation).status_code < 300, name


def test_in_a_batch_a_worker_may_do_only_what_single_calls_allow(place: Place) -> None:
    worker = place.caller(role=Role.WORKER)
    items = [
        {"operation": "create_session", "body": {"session_id": "s"}},
        {"operation": "purge_session", "run_id": "s", "body": {}},
    ]
    answer = worker.http.post("/v1/commands", json={"commands": items})
    assert answer.status_code == 200
    assert {result["status"] for result in answer.json()["results"]} <= {403, 422}
    assert worker.http.get("/v1/sessions/s/status").status_code == 404


def test_another_namespace_is_as_if_it_were_not_there(place: Place, start_server: Any, tmp_path: Path) -> None:
    """What ``b`` is answered beside the data of ``a`` is what it is answered alone, word for word."""
    ours, theirs = place.caller("a"), place.caller("b")
    unseen = [theirs(*step) for step in STORY if step[1] == "get"]
    alone_before = [(answer.status_code, told(answer)) for answer in unseen]
    for step in STORY:
        if step[1] != "delete":
            assert ours(*step).status_code < 300
    cursors = [
        ours.http.get(path, params={"limit": "1"}).json()["next_cursor"]
        for path in ("/v1/sessions", "/v1/runs", "/v1/sessions/trip-to-lisbon/records")
    ]
    beside = [(answer.status_code, told(answer)) for answer in (theirs(*step) for step in STORY if step[1] == "get")]
    assert beside == alone_before
    for cursor in cursors:
        for path in ("/v1/sessions", "/v1/runs", "/v1/sessions/trip-to-lisbon/records"):
            found = theirs.http.get(path, params={"cursor": cursor}).json()
            assert not found.get("sessions") and not found.get("runs") and not found.get("records")
    for status, _ in [(theirs(*step).status_code, 0) for step in STORY if step[1] == "delete"]:
        assert status == 404
    # The same ids, a story of their own; then what a stored is still there, untouched.
    assert [status for _, status, _ in play(theirs)] == [int(_success(operation)) for _, _, operation in STORY]
    for step in STORY:
        if step[1] == "get":
            assert ours(*step).status_code == 200, step[2]["operationId"]


def _success(operation: dict[str, Any]) -> str:
    return next(str(status) for status in operation["responses"] if status.startswith("2"))
