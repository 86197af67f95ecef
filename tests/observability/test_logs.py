"""Logs: a JSON line a request, with what is needed to follow it, and with nothing that is secret or private."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import httpx

from runhold.api.identity import Role
from runhold.identity.key_file import change_keys
from runhold.identity.keys import new_key
from tests.api.story import a_completion, a_one_shot_start, a_record, a_root_start
from tests.support.server import Server

TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
SECRET = "planted-7f3a"
"""A part of everything that must never be logged."""


def lines(server: Server) -> list[dict[str, Any]]:
    return [json.loads(line) for line in server.output().splitlines() if line.startswith("{")]


def test_a_request_can_be_followed_by_its_id_and_its_trace(own_server: Server) -> None:
    headers = {"x-request-id": "mine-1", "traceparent": TRACE}
    with httpx.Client(base_url=own_server.url, trust_env=False, headers=headers) as http:
        assert http.get("/v1/runs/none").headers["x-request-id"] == "mine-1"
        assert http.post("/v1/runs/one-shot", json=a_one_shot_start("r")).status_code == 200
    own_server.stop()
    found = [line for line in lines(own_server) if line.get("request_id") == "mine-1"]
    assert [(line["operation"], line["status"], line["code"]) for line in found] == [
        ("load_run", 404, "run_not_found"),
        ("start_one_shot_run", 200, ""),
    ]
    for line in found:
        assert line["traceparent"] == TRACE
        assert line["duration_ms"] > 0
        assert line["event"] == "request"


def test_nothing_secret_or_private_is_ever_logged(start_server: Any, tmp_path: Path) -> None:
    key, kept = new_key(Role.ADMIN, "default", SECRET)
    change_keys(tmp_path / "keys", lambda _: ([kept], None))
    server: Server = start_server(
        {
            "RUNHOLD_API_KEYS_FILE": str(tmp_path / "keys"),
            "RUNHOLD_INTEGRITY_KEY": f"{SECRET}-integrity",
            "RUNHOLD_LOG_LEVEL": "debug",
        }
    )
    headers = {"authorization": f"Bearer {key}", "cookie": SECRET}
    with httpx.Client(base_url=server.url, headers=headers, trust_env=False, timeout=30) as http:
        http.post("/v1/sessions", json={"session_id": "s"})
        start = a_root_start("r", "s", labels={SECRET: SECRET})
        assert http.post("/v1/runs/root", json=start).status_code == 200
        for payload in (f'"{SECRET}"', f'["{SECRET}"'):
            http.post("/v1/runs/r/records", json=a_record("r", session_id="s", payload=payload))
        http.post("/v1/runs/r/records", json=a_record("r", session_id="s", payload=f'"{SECRET} other"'))
        http.post("/v1/runs/r/records", content=f'{{"{SECRET}":'.encode(), headers={"content-type": "application/json"})
        reason = json.dumps({"reason": SECRET})
        cancel = a_record("r", "cancel", "s", type="runtime.cancellation_intent", payload=reason)
        assert http.post("/v1/runs/r/cancellation", json={"reason": SECRET, "record": cancel}).status_code == 200
        suspended = a_record("r", "suspend", "s", type="run_suspended", payload='{"SuspensionID":"p"}')
        data = base64.b64encode(SECRET.encode()).decode()
        body = {"suspension": {"id": "p", "data": data}, "record": suspended}
        assert http.post("/v1/runs/r/suspension", json=body).status_code == 200
        http.post("/v1/runs/r/suspension", json={**body, "suspension": {"id": "p", "data": data + "!"}})
        http.post("/v1/runs/r/terminal", json=a_completion("r", "s"))
        for query in ({"label": f"{SECRET}={SECRET}"}, {"cursor": SECRET}, {"limit": SECRET}, {SECRET: "x"}):
            http.get("/v1/runs", params=query)
        http.get(f"/v1/runs/{SECRET}")
        http.get(f"/{SECRET}?{SECRET}")
        http.post("/v1/commands", json={"commands": [{"operation": SECRET}], SECRET: 1})
        http.get("/metrics")
        wrong = {"authorization": f"Bearer rh.{SECRET}.{SECRET}"}
        assert http.get("/v1/sessions", headers=wrong).status_code == 401
    server.stop()
    log = server.output()
    assert len(lines(server)) > 15
    for secret in (SECRET, data, key, key.split(".")[2]):
        assert secret not in log
