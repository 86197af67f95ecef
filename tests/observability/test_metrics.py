"""``/metrics`` counts what happened, in Prometheus' own format, for whoever has a key."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import httpx
from prometheus_client.parser import text_string_to_metric_families

from runhold.api.identity import Role
from runhold.identity.key_file import change_keys
from runhold.identity.keys import new_key
from runhold.metrics import GAUGES
from tests.api.story import a_completion, a_one_shot_start, a_record
from tests.support.checkout import ROOT
from tests.support.server import Server

Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def scrape(http: httpx.Client) -> Samples:
    answer = http.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    families = text_string_to_metric_families(answer.text)
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in families
        for sample in family.samples
    }


def value(samples: Samples, name: str, **labels: str) -> float:
    return samples.get((name, tuple(sorted(labels.items()))), 0.0)


def test_requests_commands_refusals_and_bytes_are_counted(own_server: Server) -> None:
    with httpx.Client(base_url=own_server.url, trust_env=False) as http:
        assert http.post("/v1/runs/one-shot", json=a_one_shot_start("r")).status_code == 200
        for _ in range(2):
            assert http.post("/v1/runs/r/records", json=a_record("r")).status_code == 200
        assert http.post("/v1/runs/r/records", json=a_record("r", payload="{}")).status_code == 409
        items = [
            {"operation": "append_run_record", "run_id": "r", "body": a_record("r", f"b{number}")}
            for number in range(3)
        ]
        items.append({"operation": "append_run_record", "run_id": "none", "body": a_record("none")})
        assert http.post("/v1/commands", json={"commands": items}).status_code == 200
        assert http.get("/v1/runs/none").status_code == 404
        assert http.get("/v1/nowhere").status_code == 404
        found = scrape(http)
    appended = {"operation": "append_run_record"}
    assert value(found, "runhold_requests_total", **appended, status="200", code="") == 2
    assert value(found, "runhold_requests_total", **appended, status="409", code="event_conflict") == 1
    assert value(found, "runhold_requests_total", operation="", status="404", code="not_found") == 1
    assert value(found, "runhold_commands_total", **appended, outcome="ok") == 5
    assert value(found, "runhold_commands_total", **appended, outcome="event_conflict") == 1
    assert value(found, "runhold_commands_total", **appended, outcome="run_not_found") == 1
    assert value(found, "runhold_refusals_total", code="event_conflict") == 1
    assert value(found, "runhold_request_seconds_count", **appended) == 3
    assert value(found, "runhold_request_seconds_bucket", **appended, le="+Inf") == 3
    assert value(found, "runhold_batch_commands_sum") == 8
    assert value(found, "runhold_batch_commands_bucket", le="+Inf") >= 4
    assert value(found, "runhold_batch_seconds_sum") > 0
    assert value(found, "runhold_bytes_total", direction="received") > 1_000
    assert value(found, "runhold_bytes_total", direction="sent") > 500
    assert value(found, "runhold_queue_commands") == 0
    assert value(found, "runhold_pool_size") == 5
    assert value(found, "process_resident_memory_bytes") > 10_000_000


def test_how_large_requests_are_is_shown_before_a_limit_is_met(own_server: Server) -> None:
    with httpx.Client(base_url=own_server.url, trust_env=False) as http:
        http.post("/v1/runs/one-shot", json=a_one_shot_start("r"))
        large = '"' + "x" * 2_000_000 + '"'
        assert http.post("/v1/runs/r/records", json=a_record("r", payload=large)).status_code == 200
        found = scrape(http)
    assert value(found, "runhold_request_bytes_bucket", le="1048576") == 1
    assert value(found, "runhold_request_bytes_bucket", le="4194304") == 2
    assert value(found, "runhold_request_bytes_sum") > 2_000_000


def test_running_runs_are_looked_up_now_and_then(own_server: Server) -> None:
    with httpx.Client(base_url=own_server.url, trust_env=False) as http:
        http.post("/v1/runs/one-shot", json=a_one_shot_start("r"))
        http.post("/v1/runs/one-shot", json=a_one_shot_start("done"))
        http.post("/v1/runs/done/terminal", json=a_completion("done"))
        found = scrape(http)
        assert value(found, "runhold_running_runs") == 1
        since = time.time() - 1_772_359_200.123
        assert abs(value(found, "runhold_oldest_run_seconds") - since) < 60
        http.post("/v1/runs/one-shot", json=a_one_shot_start("second"))
        assert value(scrape(http), "runhold_running_runs") == 1


def test_any_key_may_look_and_nobody_without_one(start_server: Any, tmp_path: Path) -> None:
    made = [new_key(role, "n") for role in Role]
    change_keys(tmp_path / "keys", lambda _: ([kept for _, kept in made], None))
    server: Server = start_server({"RUNHOLD_API_KEYS_FILE": str(tmp_path / "keys")})
    for key, _ in made:
        headers = {"authorization": f"Bearer {key}"}
        assert httpx.get(f"{server.url}/metrics", headers=headers, trust_env=False).status_code == 200
    refused = httpx.get(f"{server.url}/metrics", trust_env=False)
    assert (refused.status_code, refused.json()["code"]) == (401, "unauthenticated")


def test_the_page_on_operating_names_every_metric(own_server: Server) -> None:
    page = (ROOT / "docs" / "operating.md").read_text().split("## Metrics and logs")[1]
    with httpx.Client(base_url=own_server.url, trust_env=False) as http:
        text = http.get("/metrics").text
    told = set(re.findall(r"^# TYPE (runhold_\w+)", text, re.MULTILINE))
    assert told >= set(GAUGES)
    assert {name for name in told if f"`{name}`" not in page} == set()
    assert set(re.findall(r"`(runhold_[a-z_]+)`", page)) == told
