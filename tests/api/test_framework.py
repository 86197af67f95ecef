"""The service inside of other applications, and through the framework's own routing."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
from fastapi import FastAPI
from starlette.types import ASGIApp, Receive, Scope, Send

from runhold.main import Application, create_app, open_service
from runhold.settings import load_settings
from tests.api.story import a_one_shot_start, a_record
from tests.api.test_requests import problem


def test_a_route_reached_through_the_framework_answers_the_same(tmp_path: Path) -> None:
    app = _app(tmp_path)

    async def framework(scope: Scope, receive: Receive, send: Send) -> None:
        await FastAPI.__call__(app, scope, receive, send)

    asyncio.run(_use(app, framework, ""))


def test_the_service_may_be_mounted_in_another_application(tmp_path: Path) -> None:
    app = _app(tmp_path)
    host = FastAPI()
    host.mount("/records of/agents", app)
    asyncio.run(_use(app, host, "/records%20of/agents"))


def test_before_it_is_open_every_answer_is_a_problem(tmp_path: Path) -> None:
    async def look() -> None:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(_app(tmp_path)), base_url="http://inside") as http:
            problem(await http.get("/v1/runs"), 503, "unavailable")
            problem(await http.get("/readyz"), 503, "unavailable")
            assert (await http.get("/livez")).status_code == 200

    asyncio.run(look())


def _app(tmp_path: Path) -> Application:
    return create_app(load_settings({}, database_url=f"sqlite:///{tmp_path}/store.db", log_level="warning"))


async def _use(app: Application, outer: ASGIApp, root: str) -> None:
    service = await open_service(app.settings)
    app.use(service)
    try:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(outer), base_url="http://localhost") as http:
            assert (await http.post(f"{root}/v1/runs/one-shot", json=a_one_shot_start("r"))).status_code == 200
            appended = await http.post(f"{root}/v1/runs/r/records", json=a_record("r"))
            assert appended.json() == {"id": "2", "inserted": True, "session_status": ""}
            problem(await http.get(f"{root}/v1/runs/none"), 404, "run_not_found")
            assert (await http.get(f"{root}/v1/runs/r")).json()["record_count"] == 2
            problem(await http.put(f"{root}/v1/runs/r"), 405, "method_not_allowed")
    finally:
        app.use(None)
        await service.close()
