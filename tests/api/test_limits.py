"""Sizes: what is at a limit is taken, what is over it is refused with both numbers and changes nothing."""

from __future__ import annotations

import base64
from typing import Any

import httpx
import pytest

from runhold.domain import limits
from tests.api.story import a_one_shot_start, a_record

HUGE_REASON = "é" * (limits.REASON_BYTES // 2)


@pytest.fixture
def run_id(http: httpx.Client, unique: str) -> str:
    """A running one-shot run."""
    assert http.post("/v1/runs/one-shot", json=a_one_shot_start(unique)).status_code == 200
    return unique


def refused(answer: httpx.Response, status: int, limit: int, actual: int) -> None:
    problem = answer.json()
    assert (answer.status_code, problem["limit"], problem["actual"]) == (status, limit, actual), problem
    assert problem["permanent"] is True


@pytest.mark.parametrize("field", ["event_key", "turn_id", "type"])
def test_an_id_may_have_1024_bytes(http: httpx.Client, run_id: str, field: str) -> None:
    whole = "é" * 512
    refused(http.post(f"/v1/runs/{run_id}/records", json=a_record(run_id, **{field: whole + "x"})), 422, 1024, 1025)
    assert len(http.get(f"/v1/runs/{run_id}/records").json()["records"]) == 1
    assert http.post(f"/v1/runs/{run_id}/records", json=a_record(run_id, **{field: whole})).status_code == 200


def test_an_id_in_path_and_query_too(http: httpx.Client) -> None:
    assert http.get(f"/v1/runs/{'x' * 1024}").status_code == 404
    refused(http.get(f"/v1/runs/{'x' * 1025}"), 422, 1024, 1025)
    refused(http.get("/v1/runs", params={"agent_id": "x" * 1025}), 422, 1024, 1025)
    item = {"operation": "append_run_record", "run_id": "x" * 1025, "body": a_record("x")}
    (result,) = http.post("/v1/commands", json={"commands": [item]}).json()["results"]
    assert (result["status"], result["problem"]["limit"], result["problem"]["actual"]) == (422, 1024, 1025)


def test_labels_are_counted_and_weighed(http: httpx.Client, unique: str) -> None:
    def start(labels: dict[str, str], name: str) -> httpx.Response:
        return http.post("/v1/runs/one-shot", json=a_one_shot_start(f"{unique}-{name}", labels=labels))

    refused(start({f"{number}": "" for number in range(257)}, "many"), 422, 256, 257)
    refused(start({"a": "x" * 65_536}, "heavy"), 422, 65_536, 65_537)
    assert http.get(f"/v1/runs/{unique}-heavy").status_code == 404
    assert start({f"{number}": "" for number in range(256)}, "full").status_code == 200
    assert start({"a": "x" * 65_535}, "whole").status_code == 200


def test_a_reason_may_have_16_kib(http: httpx.Client, run_id: str) -> None:
    def cancel(reason: str) -> httpx.Response:
        payload = f'{{"reason":"{reason}"}}'
        record = a_record(run_id, "cancel", type="runtime.cancellation_intent", payload=payload)
        return http.post(f"/v1/runs/{run_id}/cancellation", json={"reason": reason, "record": record})

    refused(cancel(HUGE_REASON + "x"), 422, 16_384, 16_385)
    assert http.get(f"/v1/runs/{run_id}").json()["cancellation_reason"] == ""
    assert cancel(HUGE_REASON).status_code == 200


def test_a_payload_may_have_8_mib(http: httpx.Client, run_id: str) -> None:
    whole = '"' + "x" * (limits.PAYLOAD_BYTES - 2) + '"'
    answer = http.post(f"/v1/runs/{run_id}/records", json=a_record(run_id, payload=" " + whole))
    refused(answer, 413, limits.PAYLOAD_BYTES, limits.PAYLOAD_BYTES + 1)
    assert http.post(f"/v1/runs/{run_id}/records", json=a_record(run_id, payload=whole)).status_code == 200


def test_a_checkpoint_may_have_8_mib(http: httpx.Client, run_id: str) -> None:
    def suspend(size: int) -> httpx.Response:
        record = a_record(run_id, "suspend", type="run_suspended", payload='{"SuspensionID":"p"}')
        data = base64.b64encode(bytes(size)).decode()
        return http.post(
            f"/v1/runs/{run_id}/suspension", json={"suspension": {"id": "p", "data": data}, "record": record}
        )

    refused(suspend(limits.CHECKPOINT_BYTES + 1), 413, limits.CHECKPOINT_BYTES, limits.CHECKPOINT_BYTES + 1)
    assert suspend(limits.CHECKPOINT_BYTES).status_code == 200


def test_a_body_may_have_16_mib_as_sent(http: httpx.Client, run_id: str) -> None:
    def send(content: Any) -> httpx.Response:
        return http.post(f"/v1/runs/{run_id}/records", content=content, headers={"content-type": "application/json"})

    refused(send(b" " * (limits.BODY_BYTES + 1)), 413, limits.BODY_BYTES, limits.BODY_BYTES + 1)
    unnamed = send(b" " * 1_000_000 for _ in range(18)).json()
    assert unnamed["limit"] == limits.BODY_BYTES
    assert unnamed["actual"] > limits.BODY_BYTES
    assert send(b" " * limits.BODY_BYTES).json()["code"] == "malformed_request"
