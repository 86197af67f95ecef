"""The service as a process: liveness, readiness, logs, stopping, and starts that fail with one line."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import httpx

from tests.api.story import a_one_shot_start, a_record
from tests.api.test_requests import problem
from tests.conftest import StartServer
from tests.support.server import Server


def client(server: Server) -> httpx.Client:
    return httpx.Client(base_url=server.url, trust_env=False, timeout=30)


def runhold(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command line to its end."""
    outside = {name: value for name, value in os.environ.items() if not name.startswith("RUNHOLD_")}
    return subprocess.run(
        [sys.executable, "-m", "runhold", *arguments],
        cwd=cwd,
        env={**outside, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_running_service_is_alive_and_ready(http: httpx.Client) -> None:
    assert http.get("/livez").json() == {"status": "alive"}
    assert http.get("/readyz").json() == {"status": "ready"}


def test_a_start_is_ready_in_a_moment(start_server: StartServer) -> None:
    server = start_server()
    server.stop()
    begun = time.monotonic()
    server.start()
    assert time.monotonic() - begun < 5


def test_sigterm_answers_what_was_accepted_and_ends_with_status_0(start_server: StartServer, unique: str) -> None:
    server = start_server({"RUNHOLD_DRAIN_GRACE_MS": "300"})
    answers: list[int] = []
    refusals: list[str] = []

    def work(number: int) -> None:
        with client(server) as http:
            run_id = f"{unique}-{number}"
            http.post("/v1/runs/one-shot", json=a_one_shot_start(run_id)).raise_for_status()
            for turn in range(100_000):
                try:
                    answer = http.post(f"/v1/runs/{run_id}/records", json=a_record(run_id, f"k-{turn}"))
                except httpx.TransportError as error:
                    refusals.append(type(error).__name__)
                    return
                answers.append(answer.status_code)
                if answer.status_code != 200:
                    return

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    time.sleep(0.5)
    os.kill(server.pid, signal.SIGTERM)
    time.sleep(0.1)
    with client(server) as http:
        problem(http.get("/readyz"), 503, "unavailable")
        assert http.get("/livez").status_code == 200
    assert server.stop() == 0
    for thread in threads:
        thread.join()
    acknowledged = answers.count(200)
    assert acknowledged > 0
    assert set(answers) <= {200, 503}
    server.start()
    with client(server) as http:
        stored = sum(http.get(f"/v1/runs/{unique}-{number}").json()["record_count"] - 1 for number in range(4))
    # A request whose connection closed before its answer may or may not be there: at most one for each writer.
    assert acknowledged <= stored <= acknowledged + len(refusals)


def test_a_reader_that_waits_does_not_hold_up_the_end(start_server: StartServer, unique: str) -> None:
    server = start_server({"RUNHOLD_DRAIN_GRACE_MS": "0"})
    with client(server) as http:
        http.post("/v1/runs/one-shot", json=a_one_shot_start(unique)).raise_for_status()

        def wait() -> None:
            with client(server) as other:
                other.get(f"/v1/runs/{unique}/records", params={"cursor": "1", "wait_ms": "30000"})

        thread = threading.Thread(target=wait)
        thread.start()
        time.sleep(0.5)
    begun = time.monotonic()
    assert server.stop() == 0
    assert time.monotonic() - begun < 10
    thread.join()


def test_logs_are_json_lines_that_hold_no_content(start_server: StartServer, unique: str) -> None:
    server = start_server({"RUNHOLD_DRAIN_GRACE_MS": "0"})
    secret = f"secret-{unique}"
    labels = {secret: secret}
    with client(server) as http:
        start = a_one_shot_start(unique, labels=labels)
        answer = http.post(
            "/v1/runs/one-shot",
            json=start,
            headers={
                "x-request-id": "request-7",
                "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            },
        )
        assert answer.status_code == 200, answer.text
        http.post(f"/v1/runs/{unique}/records", json=a_record(unique, payload=json.dumps(secret)))
        http.post(f"/v1/runs/{unique}/records", json=a_record(unique, payload=json.dumps(secret + "2")))
        http.post(f"/v1/runs/{unique}/cancellation", json={"reason": secret, "record": a_record(unique)})
        http.get("/v1/runs", params={"label": f"{secret}={secret}"})
        http.get(f"/v1/runs/{secret}", headers={"authorization": f"Bearer {secret}"})
        http.get(f"/{secret}")
    server.stop()
    lines: list[dict[str, Any]] = [json.loads(line) for line in server.output().splitlines() if line.startswith("{")]
    requests = [line for line in lines if line["event"] == "request"]
    assert [(line["operation"], line["status"], line["code"]) for line in requests] == [
        ("start_one_shot_run", 200, ""),
        ("append_run_record", 200, ""),
        ("append_run_record", 409, "event_conflict"),
        ("record_run_cancellation", 422, "invalid_command"),
        ("list_runs", 200, ""),
        ("load_run", 404, "run_not_found"),
    ]
    assert requests[0]["request_id"] == "request-7"
    assert requests[0]["traceparent"].startswith("00-4bf92f3577b34da6a3ce929d0e0e4736")
    assert requests[0]["duration_ms"] > 0
    assert secret not in server.output()


def test_a_port_that_is_taken_is_told_in_one_line(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        ended = runhold("serve", "--port", port, cwd=tmp_path)
    assert ended.returncode == 1
    (line,) = ended.stderr.strip().splitlines()
    assert "in use" in line
    assert f"port {port}" in line


def test_a_wrong_setting_is_told_in_one_line(tmp_path: Path) -> None:
    for arguments in (["serve"], ["migrate"], ["check"], ["settings"]):
        ended = runhold(*arguments, cwd=tmp_path, RUNHOLD_PORT="eighty")
        assert ended.returncode == 1
        assert ended.stderr.strip() == "runhold: RUNHOLD_PORT: must be a whole number from 0 to 65535"
        assert ended.stdout == ""


def test_a_database_that_cannot_be_reached_is_told_in_one_line(tmp_path: Path) -> None:
    url = "postgresql://runhold:s3cret@127.0.0.1:1/runhold"
    for arguments in (["serve", "--port", "0"], ["migrate"], ["check"]):
        ended = runhold(*arguments, cwd=tmp_path, RUNHOLD_DATABASE_URL=url, RUNHOLD_CONNECT_TIMEOUT_MS="2000")
        assert ended.returncode == 1, arguments
        lines = [line for line in ended.stderr.strip().splitlines() if not line.startswith("{")]
        assert len(lines) == 1, ended.stderr
        assert "s3cret" not in ended.stderr


def test_migrate_check_and_settings_end_well(tmp_path: Path, database_url: str) -> None:
    environment = {"RUNHOLD_DATABASE_URL": database_url}
    assert runhold("check", cwd=tmp_path, **environment).returncode == 1
    for _ in range(2):
        assert runhold("migrate", cwd=tmp_path, **environment).returncode == 0
    checked = runhold("check", cwd=tmp_path, **environment)
    assert (checked.returncode, checked.stderr) == (0, "")
    listed = runhold("settings", "--json", cwd=tmp_path, **environment)
    assert {"RUNHOLD_PORT", "RUNHOLD_DATABASE_URL"} <= {row["name"] for row in json.loads(listed.stdout)}
    table = runhold("settings", cwd=tmp_path, **environment).stdout
    assert "RUNHOLD_IDLE_IN_TRANSACTION_TIMEOUT_MS" in table


def test_the_default_database_is_made_where_the_service_starts(tmp_path: Path) -> None:
    assert runhold("migrate", cwd=tmp_path).returncode == 0
    assert (tmp_path / "var" / "runhold.db").is_file()


def test_help_names_every_command(tmp_path: Path) -> None:
    ended = runhold("--help", cwd=tmp_path)
    assert ended.returncode == 0
    for name in ("serve", "migrate", "check", "settings"):
        assert name in ended.stdout
        assert runhold(name, "--help", cwd=tmp_path).returncode == 0
