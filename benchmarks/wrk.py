"""A generator of load that is not the bottleneck: wrk, with requests made by a small script in Lua."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path

from benchmarks.figures import Load

# Random payloads are made beforehand: a request costs the generator next to nothing.
_SCRIPT = """
local next_thread = 0
function setup(thread) thread:set("id", next_thread); next_thread = next_thread + 1 end
function init(args)
  math.randomseed(id * 7919 + %(seed)d)
  counter = 0
  payloads = {}
  for i = 1, %(payloads)d do
    local hex = {}
    for j = 1, %(payload_bytes)d / 8 do hex[j] = string.format("%%08x", math.random(0, 2147483647)) end
    payloads[i] = table.concat(hex)
  end
end
%(request)s
done = function(summary, latency, requests)
  io.write(string.format('\\n{"requests": %%d, "us": %%d, "status": %%d, "socket": %%d, "p50": %%d, "p99": %%d}\\n',
    summary.requests, summary.duration, summary.errors.status,
    summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout,
    latency:percentile(50), latency:percentile(99)))
end
"""

APPEND = """
local runs = {%(runs)s}
local headers = {["Content-Type"] = "application/json"%(authorization)s}
function request()
  counter = counter + 1
  local run = runs[counter %% #runs + 1]
  local key = string.format("%%s-%%d-%%048d", "%(prefix)s", id, counter)
  local body = '{"event_key":"' .. key .. '","run_id":"' .. run.id .. '","agent_id":"%(agent)s","session_id":"' ..
    run.session .. '","turn_id":"turn-1","type":"tool_result_received","payload":"\\\\"' ..
    payloads[counter %% #payloads + 1] .. '\\\\"","timestamp":"2026-03-01T10:00:00.123Z"}'
  return wrk.format("POST", "/v1/runs/" .. run.id .. "/records", headers, body)
end
"""


def wrk(
    url: str,
    request: str,
    *,
    connections: int,
    seconds: float,
    threads: int = 1,
    seed: int = 1,
    payload_bytes: int = 1024,
) -> Load:
    """Load a service for some seconds.

    Args:
        url: its base URL.
        request: Lua that defines ``request()``; it may use ``counter``, ``payloads`` (random hexadecimal) and ``id``.
        connections: clients, each with one request under way.
        seconds: how long.
        threads: of wrk.
        seed: of the random payloads.
        payload_bytes: length of each.

    Raises:
        RuntimeError: an answer was not 2xx or 3xx, or there was none.
    """
    values = {
        "seed": seed,
        "request": request,
        "payloads": 64 if payload_bytes < 10_000 else 4,
        "payload_bytes": payload_bytes,
    }
    with tempfile.TemporaryDirectory(prefix="runhold-wrk-") as folder:
        script = Path(folder) / "load.lua"
        script.write_text(_SCRIPT % values)
        command = ["wrk", f"-t{threads}", f"-c{connections}", f"-d{max(1, round(seconds))}s", "--timeout", "30s"]
        try:
            done = subprocess.run([*command, "-s", str(script), url], capture_output=True, text=True, check=False)
        except FileNotFoundError:
            raise RuntimeError("wrk is not installed; as root: ./dev setup --system") from None
    if done.returncode:
        raise RuntimeError(f"wrk failed: {done.stdout}{done.stderr}")
    found = json.loads(done.stdout.strip().splitlines()[-1])
    if found["status"] or found["socket"]:
        raise RuntimeError(f"{found['status']} answers were errors, {found['socket']} connections failed")
    return Load(found["requests"] / found["us"] * 1e6, found["p50"] / 1000, found["p99"] / 1000)
