"""The ways in which a scenario reaches a store: over HTTP, or through the typed methods of one.

A port's ``call`` answers in the contract's JSON: ``{"ok": result}``, or ``{"error": code, "permanent": …, …}``.
"""

from __future__ import annotations

import asyncio
import base64
import dataclasses
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Protocol

import httpx

from runhold_client import ContractError, Session, StoredRecord, StoreError
from runhold_client.path_ids import path_id
from tests.conformance.expressible import Step, typed_arguments

Answer = dict[str, Any]

ROUTES: Mapping[str, tuple[str, str]] = {
    "create_session": ("POST", "/v1/sessions"),
    "load_session": ("GET", "/v1/sessions/{session_id}"),
    "purge_session": ("DELETE", "/v1/sessions/{session_id}"),
    "end_session": ("POST", "/v1/sessions/{session_id}/end"),
    "load_session_status": ("GET", "/v1/sessions/{session_id}/status"),
    "list_runs_by_session": ("GET", "/v1/sessions/{session_id}/runs"),
    "list_session_run_records": ("GET", "/v1/sessions/{session_id}/records"),
    "start_root_run": ("POST", "/v1/runs/root"),
    "start_child_run": ("POST", "/v1/runs/child"),
    "start_one_shot_run": ("POST", "/v1/runs/one-shot"),
    "start_one_shot_child_run": ("POST", "/v1/runs/one-shot-child"),
    "append_run_record": ("POST", "/v1/runs/{run_id}/records"),
    "record_run_cancellation": ("POST", "/v1/runs/{run_id}/cancellation"),
    "record_run_suspension": ("POST", "/v1/runs/{run_id}/suspension"),
    "load_run_suspension": ("GET", "/v1/runs/{run_id}/suspension"),
    "record_run_terminal": ("POST", "/v1/runs/{run_id}/terminal"),
    "repair_run_suspension": ("POST", "/v1/runs/{run_id}/suspension/repair"),
    "repair_run_terminal": ("POST", "/v1/runs/{run_id}/terminal/repair"),
    "run_commands": ("POST", "/v1/commands"),
    "load_run": ("GET", "/v1/runs/{run_id}"),
    "purge_one_shot_run": ("DELETE", "/v1/runs/{run_id}"),
    "list_run_records": ("GET", "/v1/runs/{run_id}/records"),
}
"""The contract's table of operations, as far as scenarios use it."""

GATHERED = {name for name, (method, path) in ROUTES.items() if method == "POST" and path.startswith("/v1/runs/")}
"""The writing commands of a worker, which may also go through ``run_commands``."""


class Port(Protocol):
    """A way to call an operation of the contract."""

    def call(self, step: Step) -> Answer:
        """Play one step."""
        ...


class HttpPort:
    """Over HTTP: every step, one request each, or a worker's commands one by one through ``run_commands``."""

    def __init__(self, url: str, *, gathered: bool = False) -> None:
        self._http = httpx.Client(base_url=url, timeout=30, trust_env=False)
        self._gathered = gathered

    def close(self) -> None:
        self._http.close()

    def call(self, step: Step) -> Answer:
        operation, args = step["op"], dict(step["args"])
        method, route = ROUTES[operation]
        ids = {name: args.pop(name) for name in ("run_id", "session_id") if "{" + name + "}" in route}
        body = args["record"] if operation == "append_run_record" else args
        if self._gathered and operation in GATHERED:
            return self._through_run_commands({"operation": operation, **ids, "body": body})
        path = route.format(**{name: path_id(id_) for name, id_ in ids.items()})
        if method == "POST":
            return _answer(self._http.post(path, json=body))
        query = [("status", status) for status in args.pop("statuses", [])] + list(args.items())
        return _answer(self._http.request(method, path, params=query))

    def _through_run_commands(self, command: Mapping[str, Any]) -> Answer:
        answer = _answer(self._http.post("/v1/commands", json={"commands": [command]}))
        if "ok" not in answer:
            return answer
        [result] = answer["ok"]["results"]
        if result["status"] < 300:
            return {"ok": result["body"]}
        return _refused(result["status"], result["problem"])


class StorePort:
    """Through the methods of a synchronous store, which is its own administrator."""

    def __init__(self, store: Any) -> None:
        self._store = store

    def call(self, step: Step) -> Answer:
        return _told(step, lambda: getattr(self._store, step["op"])(*typed_arguments(step)))


class AsyncStorePort:
    """Through the methods of an asynchronous store, in the event loop of the runner."""

    def __init__(self, store: Any, runner: asyncio.Runner) -> None:
        self._store = store
        self._runner = runner

    def call(self, step: Step) -> Answer:
        return _told(step, lambda: self._runner.run(getattr(self._store, step["op"])(*typed_arguments(step))))


def _answer(answer: httpx.Response) -> Answer:
    if answer.is_success:
        return {"ok": answer.json() if answer.content else None}
    assert answer.headers["content-type"].startswith("application/problem+json"), answer.headers
    return _refused(answer.status_code, answer.json())


def _refused(status: int, problem: Mapping[str, Any]) -> Answer:
    return {"error": problem["code"], "permanent": problem["permanent"], "status": status}


def _told(step: Step, call: Callable[[], Any]) -> Answer:
    try:
        told = as_json(call())
    except StoreError as error:
        return {"error": error.problem_code, "permanent": isinstance(error, ContractError)}
    # A method answers the status itself, the operation an object that holds it.
    return {"ok": {"status": told} if step["op"] == "load_session_status" else told}


def as_json(value: Any) -> Any:
    """A typed value as the contract's JSON."""
    if isinstance(value, StoredRecord):
        return {"id": value.id, "stored_at": as_json(value.stored_at), **as_json(value.record)}
    if isinstance(value, Session):
        times = {"created_at": _micros(value.created_at), "ended_at": value.ended_at and _micros(value.ended_at)}
        return {"session_id": value.session_id, "status": value.status.value, **times}
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if dataclasses.is_dataclass(value):
        return {field.name: as_json(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, tuple | list):
        return [as_json(item) for item in value]
    return value


def _micros(time: datetime) -> str:
    return time.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
