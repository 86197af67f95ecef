"""Fills the service with records and runs through ``POST /v1/commands``, with progress on standard error."""

from __future__ import annotations

import asyncio
import json
import secrets
import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any

import httpx

from benchmarks.stage import AGENT, Run

AT = "2026-03-01T10:00:00.123Z"
_ITEMS = 256
_REQUESTS = 4


def append_items(runs: list[Run], count: int) -> Iterator[dict[str, Any]]:
    """``count`` appends of 1 KiB to each run, in turn."""
    prefix = secrets.token_hex(4)
    payloads = [f'"{secrets.token_hex(512)}"' for _ in range(64)]
    for number in range(count):
        for run in runs:
            body = {
                "event_key": f"{prefix}-{number:051d}",
                "run_id": run.run_id,
                "agent_id": AGENT,
                "session_id": run.session_id,
                "turn_id": "turn-1",
                "type": "tool_result_received",
                "payload": payloads[number % 64],
                "timestamp": AT,
            }
            yield {"operation": "append_run_record", "run_id": run.run_id, "body": body}


def start_items(session_id: str, run_ids: Iterable[str]) -> Iterator[dict[str, Any]]:
    """A root start for each run."""
    for run_id in run_ids:
        yield {"operation": "start_root_run", "body": start_body(session_id, run_id)}


def start_body(session_id: str, run_id: str) -> dict[str, Any]:
    """The body of one root start."""
    owner = {"run_id": run_id, "agent_id": AGENT, "session_id": session_id, "timestamp": AT}
    stopped = '{"status":"canceled","phase":"canceled","cancellation":{"reason":"session_ended"}}'
    return {
        "run": {"agent_id": AGENT, "run_id": run_id, "session_id": session_id, "started_at": AT},
        "started": {**owner, "event_key": "started", "type": "run_started", "payload": "{}"},
        "canceled": {**owner, "event_key": "stopped", "type": "run_completed", "payload": stopped},
    }


def fill(url: str, items: Iterator[dict[str, Any]], total: int, what: str) -> None:
    """Send all items, a few requests at a time. Raises: RuntimeError when one is refused."""
    asyncio.run(_fill(url, items, total, what))


async def _fill(url: str, items: Iterator[dict[str, Any]], total: int, what: str) -> None:
    done, told = 0, time.monotonic()

    async def send(http: httpx.AsyncClient) -> None:
        nonlocal done, told
        while batch := [item for _, item in zip(range(_ITEMS), items, strict=False)]:
            answer = await http.post("/v1/commands", json={"commands": batch})
            results = answer.raise_for_status().json()["results"]
            wrong = [result for result in results if result["status"] != 200]
            if wrong:
                raise RuntimeError(json.dumps(wrong[0]))
            done += len(batch)
            if time.monotonic() - told > 5:
                told = time.monotonic()
                print(f"benchmarks: {what}: {done:,} of {total:,}", file=sys.stderr, flush=True)

    async with httpx.AsyncClient(base_url=url, timeout=60, trust_env=False) as http:
        await asyncio.gather(*[send(http) for _ in range(_REQUESTS)])
