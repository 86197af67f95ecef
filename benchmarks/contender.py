"""This service as a contender in a benchmark of stores for agents: ``bench.py --contender FILE runhold``.

That program gives the base class (``HttpContender``: it starts ``argv``, makes the database, and sends with plain
httpx) and the workloads; it is not part of this project, so it is looked up when it runs this file. An event is one
record.
"""

from __future__ import annotations

import importlib
import json
import sys
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

AGENT = "bench.agent"
AT = "2026-03-01T10:00:00.123Z"
_AT_ONCE = 256
_STOPPED = '{"status":"canceled","phase":"canceled","cancellation":{"reason":"session_ended"}}'
_DONE = '{"status":"success","phase":"completed"}'
_ROOT = Path(__file__).resolve().parent.parent

Lane = list[Any]
"""A session with one run of the same id, and how many records it holds."""


def environment(self: Any) -> dict[str, str]:
    """The service's settings: the database that the benchmark made, and no line a request, as its peers write none."""
    url = importlib.import_module("common").PG_URL
    return {
        "RUNHOLD_DATABASE_URL": f"{url}/{self.db}",
        "RUNHOLD_AUTO_MIGRATE": "true",
        "RUNHOLD_PORT": "18080",
        "RUNHOLD_LOG_LEVEL": "warning",
    }


def record(name: str, key: str, kind: str, payload: str) -> dict[str, str]:
    """A record of the run ``name`` in the session of the same id."""
    owner = {"run_id": name, "agent_id": AGENT, "session_id": name}
    return {**owner, "event_key": key, "type": kind, "payload": payload, "timestamp": AT}


async def new_session(_: Any, http: Any) -> Lane:
    """Start a run in a session of its own."""
    name = uuid.uuid4().hex
    await checked(http.post("/v1/sessions", json={"session_id": name}))
    run = {"agent_id": AGENT, "run_id": name, "session_id": name, "started_at": AT}
    started = record(name, "started", "run_started", "{}")
    body = {"run": run, "started": started, "canceled": record(name, "stopped", "run_completed", _STOPPED)}
    await checked(http.post("/v1/runs/root", json=body))
    return [name, 0]


async def append(_: Any, http: Any, lane: Lane, event: dict[str, Any]) -> None:
    """Store one durable event."""
    name, number = lane
    body = record(name, f"event-{number}", "tool_call_scheduled", json.dumps(event))
    await checked(http.post(f"/v1/runs/{name}/records", json=body))
    lane[1] += 1


async def preload(_: Any, http: Any, lane: Lane, count: int, size: int) -> None:
    """Bring a run to ``count`` events."""
    name, event = lane[0], importlib.import_module("common").event
    for begin in range(0, count, _AT_ONCE):
        bodies = [
            record(name, f"event-{number}", "tool_call_scheduled", json.dumps(event(size, number)))
            for number in range(begin, min(count, begin + _AT_ONCE))
        ]
        items = [{"operation": "append_run_record", "run_id": name, "body": body} for body in bodies]
        answer = await checked(http.post("/v1/commands", json={"commands": items}))
        assert all(result["status"] == 200 for result in answer.json()["results"])
    lane[1] = count


async def read_page(_: Any, http: Any, lane: Lane) -> int:
    """Read 100 events from the middle."""
    answer = await checked(http.get(f"/v1/runs/{lane[0]}/records", params={"cursor": "450", "limit": "100"}))
    return len(answer.json()["records"])


async def read_all(_: Any, http: Any, lane: Lane) -> int:
    """Read everything, page by page."""
    cursor, count = "", 0
    while True:
        query = {"cursor": cursor, "limit": "1000"}
        page = (await checked(http.get(f"/v1/runs/{lane[0]}/records", params=query))).json()
        count, cursor = count + len(page["records"]), page["next_cursor"]
        if not cursor:
            return count


async def run_whole(self: Any, http: Any, events: list[dict[str, Any]]) -> None:
    """Start, append each event, finish."""
    lane = await new_session(self, http)
    for event in events:
        await append(self, http, lane, event)
    done = {"status": "completed", "record": record(lane[0], "done", "run_completed", _DONE)}
    await checked(http.post(f"/v1/runs/{lane[0]}/terminal", json=done))


async def checked(answer: Any) -> Any:
    """Wait for an answer and insist on a success."""
    found = await answer
    if found.status_code != 200:
        raise RuntimeError(found.text)
    return found


async def gathering_client(self: Any, _: int) -> Any:
    """The client library's store, which sends what waits together in one request; all clients share it."""
    if not hasattr(self, "store"):
        sys.path.insert(0, str(_ROOT / "client"))
        self.store = importlib.import_module("runhold_client").AsyncHttpStore(self.base)
    return self.store


async def gathering_session(_: Any, store: Any) -> Lane:
    """Start a run in a session of its own."""
    client, at = importlib.import_module("runhold_client"), datetime(2026, 3, 1, 10, tzinfo=UTC)
    name = uuid.uuid4().hex
    await store.create_session(name)
    records = [
        client.RunRecord(key, name, AGENT, kind, payload, at, session_id=name)
        for key, kind, payload in (("started", "run_started", "{}"), ("stopped", "run_completed", _STOPPED))
    ]
    await store.start_root_run(client.RunStart(AGENT, name, at, session_id=name), *records)
    return [name, 0]


async def gathering_append(_: Any, store: Any, lane: Lane, event: dict[str, Any]) -> None:
    """Store one durable event."""
    client, at = importlib.import_module("runhold_client"), datetime(2026, 3, 1, 10, tzinfo=UTC)
    name, number = lane
    lane[1] += 1
    payload = json.dumps(event)
    await store.append_run_record(
        client.RunRecord(f"event-{number}", name, AGENT, "tool_call_scheduled", payload, at, session_id=name)
    )


async def gathering_whole(self: Any, store: Any, events: list[dict[str, Any]]) -> None:
    """Start, append each event, finish."""
    client, at = importlib.import_module("runhold_client"), datetime(2026, 3, 1, 10, tzinfo=UTC)
    lane = await gathering_session(self, store)
    for event in events:
        await gathering_append(self, store, lane, event)
    done = client.RunRecord("done", lane[0], AGENT, "run_completed", _DONE, at, session_id=lane[0])
    await store.record_run_terminal(lane[0], client.TerminalStatus.COMPLETED, done)


async def gathering_preload(self: Any, store: Any, lane: Lane, count: int, size: int) -> None:
    """Bring a run to ``count`` events."""
    assert store is self.store
    await preload(self, self.http, lane, count, size)


async def gathering_page(self: Any, _: Any, lane: Lane) -> int:
    """Read 100 events from the middle."""
    return await read_page(self, self.http, lane)


async def gathering_all(self: Any, _: Any, lane: Lane) -> int:
    """Read everything, page by page."""
    return await read_all(self, self.http, lane)


def register() -> None:
    """Tell the benchmark of both contenders."""
    contenders = importlib.import_module("contenders")
    methods = {
        "name": "runhold",
        "packages": ("httpx",),
        "note": "this service over HTTP: plain httpx, one command a request, one process",
        "argv": [str(_ROOT / ".venv" / "bin" / "python"), "-m", "runhold", "serve"],
        "base": "http://127.0.0.1:18080",
        "health": "/readyz",
    }
    functions = (environment, new_session, append, preload, read_page, read_all, run_whole)
    plain = {**methods, **{each.__name__: each for each in functions}}
    contenders.reg(type("Runhold", (contenders.HttpContender,), plain))
    gathering = {
        **plain,
        "name": "runhold-gathering",
        "note": "this service over HTTP: its client library, which gathers what tasks send at the same time",
        "client": gathering_client,
        "new_session": gathering_session,
        "append": gathering_append,
        "preload": gathering_preload,
        "read_page": gathering_page,
        "read_all": gathering_all,
        "run_whole": gathering_whole,
    }
    contenders.reg(type("RunholdGathering", (contenders.HttpContender,), gathering))


if "contenders" in sys.modules:
    register()
