"""One worker process whose tasks append, each to a run of its own: with the gathering store, or with plain httpx.

``python -m benchmarks.worker URL gathering|plain SECONDS`` reads the runs from its standard input.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import httpx
import uvloop

from benchmarks.figures import Load
from benchmarks.stage import Run
from runhold_client import AsyncHttpStore, RunRecord

AT = datetime(2026, 3, 1, 10, 0, 0, 123_000, tzinfo=UTC)
Append = Callable[[RunRecord], Awaitable[object]]


def work(url: str, runs: list[Run], how: str, seconds: float) -> Load:
    """Measure in a process of its own. Raises: RuntimeError when it failed."""
    given = json.dumps([[run.run_id, run.session_id] for run in runs])
    command = [sys.executable, "-m", "benchmarks.worker", url, how, str(seconds)]
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return Load(**json.loads(done.stdout))


async def _loop(append: Append, runs: list[list[str]], seconds: float) -> Load:
    prefix, took, begun = secrets.token_hex(4), [], time.perf_counter()
    payloads = [f'"{secrets.token_hex(512)}"' for _ in range(64)]
    end = begun + seconds

    async def task(run_id: str, session_id: str) -> None:
        number = 0
        while (sent := time.perf_counter()) < end:
            number += 1
            record = RunRecord(
                f"{prefix}-{number:051d}",
                run_id,
                "agent-" + "a" * 54,
                "tool_result_received",
                payloads[number % 64],
                AT,
                session_id=session_id,
                turn_id="turn-1",
            )
            await append(record)
            took.append((time.perf_counter() - sent) * 1000)

    await asyncio.gather(*[task(*run) for run in runs])
    took.sort()
    return Load(len(took) / (time.perf_counter() - begun), took[len(took) // 2], took[int(len(took) * 0.99)])


async def _gathering(url: str, runs: list[list[str]], seconds: float) -> Load:
    async with AsyncHttpStore(url) as store:
        return await _loop(store.append_run_record, runs, seconds)


async def _plain(url: str, runs: list[list[str]], seconds: float) -> Load:
    limits = httpx.Limits(max_connections=64, max_keepalive_connections=64)
    async with httpx.AsyncClient(base_url=url, timeout=60, limits=limits, trust_env=False) as http:

        async def append(record: RunRecord) -> None:
            body = {
                "event_key": record.event_key,
                "run_id": record.run_id,
                "agent_id": record.agent_id,
                "session_id": record.session_id,
                "turn_id": record.turn_id,
                "type": record.type,
                "payload": record.payload,
                "timestamp": "2026-03-01T10:00:00.123Z",
            }
            answer = await http.post(f"/v1/runs/{record.run_id}/records", json=body)
            answer.raise_for_status()

        return await _loop(append, runs, seconds)


def main() -> None:
    """Measure, and print one line of JSON."""
    url, how, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
    runs = json.load(sys.stdin)
    ways = {"gathering": _gathering, "plain": _plain}
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        load = runner.run(ways[how](url, runs, seconds))
    print(json.dumps({"rate": load.rate, "p50_ms": load.p50_ms, "p99_ms": load.p99_ms}))


if __name__ == "__main__":
    main()
