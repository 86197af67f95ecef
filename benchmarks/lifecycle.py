"""Starts, ends, cancellations, suspensions, and whole runs (start, 20 appends, finish), 16 clients on 16 sessions."""

from __future__ import annotations

import secrets
from functools import partial

from benchmarks.figures import Load, figure, interleaved, rates, ratios
from benchmarks.fill import fill, start_items
from benchmarks.report import Table
from benchmarks.stage import AGENT, Stage, start_runs
from benchmarks.wrk import wrk

APPENDS = 20
# More than a measurement can use up: a run that is ended twice would be a retry, which writes nothing.
RUNS_A_SECOND = 6_000

_COMMON = """
local sessions = {%(sessions)s}
local headers = {["Content-Type"] = "application/json"}
local at = '"timestamp":"2026-03-01T10:00:00.123Z"'
local function record(session, run, key, kind, payload)
  return '{"event_key":"' .. key .. '","run_id":"' .. run .. '","agent_id":"%(agent)s","session_id":"' .. session ..
    '","type":"' .. kind .. '","payload":"' .. payload .. '",' .. at .. '}'
end
local stopped = '{\\\\"status\\\\":\\\\"canceled\\\\",\\\\"phase\\\\":\\\\"canceled\\\\",' ..
  '\\\\"cancellation\\\\":{\\\\"reason\\\\":\\\\"session_ended\\\\"}}'
local success = '{\\\\"status\\\\":\\\\"success\\\\",\\\\"phase\\\\":\\\\"completed\\\\"}'
local function start(session, run)
  return wrk.format("POST", "/v1/runs/root", headers, '{"run":{"agent_id":"%(agent)s","run_id":"' .. run ..
    '","session_id":"' .. session .. '","started_at":"2026-03-01T10:00:00.123Z"},"started":' ..
    record(session, run, "started", "run_started", "{}") .. ',"canceled":' ..
    record(session, run, "stopped", "run_completed", stopped) .. '}')
end
local function append(session, run, number)
  return wrk.format("POST", "/v1/runs/" .. run .. "/records", headers,
    record(session, run, string.format("key-%%056d", number), "planner_note",
      '\\\\"' .. payloads[number %% #payloads + 1] .. '\\\\"'))
end
local function on_run(run, what, body)
  return wrk.format("POST", "/v1/runs/" .. run .. "/" .. what, headers, body)
end
local function terminal(session, run)
  return on_run(run, "terminal", '{"status":"completed","record":' ..
    record(session, run, "done", "run_completed", success) .. '}')
end
local function run_name(number) return string.format("run-%(prefix)s-%%047d", number) end
"""
_REQUESTS = {
    "start_root_run": """
function request()
  counter = counter + 1
  return start(sessions[counter %% #sessions + 1], run_name(counter))
end
""",
    "record_run_terminal": """
function request()
  counter = counter + 1
  return terminal(sessions[counter %% #sessions + 1], run_name(counter))
end
""",
    "record_run_cancellation": """
function request()
  counter = counter + 1
  local session, run = sessions[counter %% #sessions + 1], run_name(counter)
  return on_run(run, "cancellation", '{"reason":"asked","record":' ..
    record(session, run, "cancel", "runtime.cancellation_intent", '{\\\\"reason\\\\":\\\\"asked\\\\"}') .. '}')
end
""",
    "record_run_suspension": """
function request()
  counter = counter + 1
  local session, run = sessions[counter %% #sessions + 1], run_name(counter)
  return on_run(run, "suspension", '{"suspension":{"id":"s-1","data":"AAECAw=="},"record":' ..
    record(session, run, "suspend", "run_suspended", '{\\\\"SuspensionID\\\\":\\\\"s-1\\\\"}') .. '}')
end
""",
}
# A connection of wrk does not know its own earlier requests, so the runs under way are kept in a ring, wider than
# the number of connections: a run's next command is sent when all others of the ring have had theirs. The very first
# request is only looked at by wrk, never sent.
_WHOLE = """
local ring, at_ring, next_run = {}, 0, 0
function request()
  if next_run == 0 then
    next_run = 1
    return start(sessions[1], run_name(0))
  end
  at_ring = at_ring %% 64 + 1
  local life = ring[at_ring]
  if life == nil or life.step > %(appends)d then
    next_run = next_run + 1
    life = {session = sessions[next_run %% #sessions + 1], run = run_name(next_run), step = 0}
    ring[at_ring] = life
    return start(life.session, life.run)
  end
  life.step = life.step + 1
  if life.step > %(appends)d then return terminal(life.session, life.run) end
  return append(life.session, life.run, life.step)
end
"""


def run(stage: Stage) -> Table:
    """Measure on PostgreSQL, beside appends."""
    with stage.service("postgresql") as server:
        runs = start_runs(server.url, 16)
        sessions = [run.session_id for run in runs]

        def load(script: str, prefix: str) -> Load:
            values = {
                "sessions": ", ".join(f'"{s}"' for s in sessions),
                "agent": AGENT,
                "prefix": prefix,
                "appends": APPENDS,
            }
            return wrk(server.url, (_COMMON + script) % values, connections=16, seconds=stage.seconds)

        def once(name: str) -> Load:
            prefix = secrets.token_hex(4)
            if name != "start_root_run":
                count = round(stage.seconds * RUNS_A_SECOND)
                for place, session_id in enumerate(sessions):
                    # As the script does: a run's session follows from its number.
                    numbers = range(place or 16, count + 1, 16)
                    names = [f"run-{prefix}-{number:047d}" for number in numbers]
                    fill(server.url, start_items(session_id, names), len(names), f"runs for {name}")
            return load(_REQUESTS[name], prefix)

        found = interleaved(
            {
                "append_run_record": lambda: stage.appends(server.url, runs),
                **{name: partial(once, name) for name in _REQUESTS},
                "whole runs, commands": lambda: load(_WHOLE, secrets.token_hex(4)),
                "L1x16: raw psycopg": lambda: stage.raw(16),
            },
            stage.pairs,
        )
    table = Table("lifecycle: 16 clients on 16 sessions", "what", "commands/s", "p99 ms", "× append", "× L1x16")
    appends, raw = rates(found["append_run_record"]), rates(found["L1x16: raw psycopg"])
    for name, loads in found.items():
        table.row(
            name,
            f"{figure(rates(loads)):,.0f}",
            f"{figure([load.p99_ms for load in loads]):.1f}",
            f"{ratios(rates(loads), appends):.2f}",
            f"{ratios(rates(loads), raw):.2f}",
        )
    whole = figure([load.rate / (APPENDS + 2) for load in found["whole runs, commands"]])
    table.note(f"Whole runs a second (start, {APPENDS} appends, finish): {whole:.0f}.")
    return table
