"""``POST /v1/commands`` with 64 appends a request, and one worker process with the gathering store."""

from __future__ import annotations

import secrets

from benchmarks.figures import Load, figure, interleaved, rates, ratios
from benchmarks.report import Table
from benchmarks.stage import AGENT, Run, Stage, start_runs
from benchmarks.worker import work
from benchmarks.wrk import wrk

ITEMS = 64
TASKS = 256

_REQUEST = """
local runs = {%(runs)s}
local headers = {["Content-Type"] = "application/json"}
function request()
  local items = {}
  for i = 1, %(items)d do
    counter = counter + 1
    local run = runs[counter %% #runs + 1]
    items[i] = '{"operation":"append_run_record","run_id":"' .. run.id .. '","body":{"event_key":"' ..
      string.format("%%s-%%d-%%048d", "%(prefix)s", id, counter) .. '","run_id":"' .. run.id ..
      '","agent_id":"%(agent)s","session_id":"' .. run.session ..
      '","turn_id":"turn-1","type":"tool_result_received","payload":"\\\\"' .. payloads[counter %% #payloads + 1] ..
      '\\\\"","timestamp":"2026-03-01T10:00:00.123Z"}}'
  end
  return wrk.format("POST", "/v1/commands", headers, '{"commands":[' .. table.concat(items, ",") .. ']}')
end
"""


def batches(stage: Stage, url: str, runs: list[Run], connections: int = 4) -> Load:
    """Append in requests of 64 commands; the rate is in commands."""
    values = {
        "runs": ", ".join(f'{{id="{run.run_id}", session="{run.session_id}"}}' for run in runs),
        "items": ITEMS,
        "prefix": secrets.token_hex(4),
        "agent": AGENT,
    }
    load = wrk(url, _REQUEST % values, connections=connections, seconds=stage.seconds)
    return Load(load.rate * ITEMS, load.p50_ms, load.p99_ms)


def run(stage: Stage) -> Table:
    """Measure on PostgreSQL, beside raw inserts and plain httpx."""
    with stage.service("postgresql") as server:
        runs = start_runs(server.url, 16)
        own = start_runs(server.url, TASKS)
        found = interleaved(
            {
                "L1x16: raw psycopg": lambda: stage.raw(16),
                "POST /v1/commands, 64 a request, 4 clients": lambda: batches(stage, server.url, runs),
                "AsyncHttpStore, one process, 256 tasks": lambda: work(server.url, own, "gathering", stage.seconds),
                "plain httpx, one process, 256 tasks": lambda: work(server.url, own, "plain", stage.seconds),
            },
            stage.pairs,
        )
    table = Table("commands: many in a request, 1 KiB each", "what", "commands/s", "p99 ms", "× L1x16", "× plain httpx")
    raw, plain = rates(found["L1x16: raw psycopg"]), rates(found["plain httpx, one process, 256 tasks"])
    for name, loads in found.items():
        table.row(
            name,
            f"{figure(rates(loads)):,.0f}",
            f"{figure([load.p99_ms for load in loads]):.1f}",
            f"{ratios(rates(loads), raw):.2f}",
            f"{ratios(rates(loads), plain):.1f}",
        )
    return table
