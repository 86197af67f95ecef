"""What is sent again, what is not, how often, and after how long."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx
import pytest

from runhold_client import (
    AccessError,
    ContractError,
    HttpStore,
    InternalError,
    MethodNotAllowed,
    NotFound,
    Overloaded,
    PayloadTooLarge,
    RateLimited,
    RetryPolicy,
    RunNotActive,
    RunRecord,
    StoreError,
    TemporaryError,
    Unavailable,
    UnexpectedAnswer,
)
from runhold_client.refusals import retry_after
from runhold_client.retries import Retries
from tests.client.faulty_server import CLOSE, answer, cut, faulty_server, page, problem, stall

QUICK = RetryPolicy(attempts=4, total_seconds=5, first_wait_seconds=0.01, longest_wait_seconds=0.02)
DONE = answer(200, {"id": "7", "inserted": True, "session_status": "active"})
RECORD = RunRecord("k", "r/1", "agent", "planner_note", '{"é": 1}', datetime(2026, 3, 1, tzinfo=UTC), "s", "t")


@pytest.mark.parametrize(
    "failure",
    [
        pytest.param(problem(429, "rate_limited", permanent=False), id="429"),
        pytest.param(problem(500, "internal", permanent=False), id="500"),
        pytest.param(problem(503, "overloaded", permanent=False), id="503"),
        pytest.param(page(502, "<html>bad gateway</html>"), id="a proxy's 502"),
        pytest.param(page(504, "<html>timeout</html>"), id="a proxy's 504"),
        pytest.param(CLOSE, id="closed before the answer"),
        pytest.param(cut(DONE), id="closed in the answer"),
        pytest.param(stall(1.0), id="no answer in time"),
    ],
)
def test_after_a_temporary_failure_the_same_bytes_are_sent_again(failure: bytes) -> None:
    with faulty_server([failure, failure, DONE]) as server, HttpStore(server.url, timeout=0.2, retries=QUICK) as store:
        assert store.append_run_record(RECORD).id == "7"
    assert len(server.requests) == 3
    assert len(set(server.requests)) == 1, "a repetition differed from the first request"
    assert '"payload":"{\\"é\\": 1}"'.encode() in server.requests[0]


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        (problem(409, "run_not_active", permanent=True), RunNotActive),
        (problem(401, "unauthenticated", permanent=False), AccessError),
        (problem(403, "forbidden", permanent=False), AccessError),
        (page(403, "<html>blocked</html>"), AccessError),
        (page(404, "<html>no such site</html>"), NotFound),
        (page(405, ""), MethodNotAllowed),
        (page(413, "<html>too large</html>"), PayloadTooLarge),
        (page(301, ""), UnexpectedAnswer),
        (page(200, "<html>welcome</html>"), UnexpectedAnswer),
        (answer(200, {"id": 7, "inserted": True, "session_status": ""}), UnexpectedAnswer),
    ],
)
def test_a_final_answer_is_raised_at_once(failure: bytes, kind: type[StoreError]) -> None:
    with faulty_server([failure, DONE]) as server, HttpStore(server.url, retries=QUICK) as store:
        with pytest.raises(kind):
            store.append_run_record(RECORD)
        assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        (problem(503, "overloaded", permanent=False), Overloaded),
        (problem(429, "rate_limited", permanent=False), RateLimited),
        (problem(500, "internal", permanent=False), InternalError),
        (page(502, ""), Unavailable),
        (page(429, ""), RateLimited),
        (CLOSE, Unavailable),
    ],
)
def test_after_the_last_attempt_the_temporary_error_is_raised(failure: bytes, kind: type[TemporaryError]) -> None:
    with faulty_server([failure]) as server, HttpStore(server.url, retries=QUICK) as store:
        with pytest.raises(kind) as raised:
            store.load_run("r")
        assert len(server.requests) == QUICK.attempts
        assert not isinstance(raised.value, ContractError)


def test_a_service_that_is_not_there_is_unavailable() -> None:
    with faulty_server([DONE]) as server:
        url = server.url
    with HttpStore(url, retries=QUICK) as store, pytest.raises(Unavailable) as raised:
        store.load_run("r")
    assert isinstance(raised.value.__cause__, httpx.ConnectError)


def test_retry_after_is_waited_for() -> None:
    busy = problem(503, "overloaded", permanent=False, headers={"Retry-After": "1"})
    with faulty_server([busy, DONE]) as server, HttpStore(server.url, retries=QUICK) as store:
        store.append_run_record(RECORD)
    assert server.times[1] - server.times[0] >= 1.0


def test_retry_after_beyond_the_total_time_ends_the_attempts_and_is_told() -> None:
    busy = problem(503, "unavailable", permanent=False, headers={"Retry-After": "60"})
    with faulty_server([busy, DONE]) as server, HttpStore(server.url, retries=QUICK) as store:
        with pytest.raises(Unavailable) as raised:
            store.append_run_record(RECORD)
        assert raised.value.retry_after == 60
        assert len(server.requests) == 1


def test_the_total_time_bounds_the_attempts() -> None:
    policy = RetryPolicy(attempts=1000, total_seconds=0.3, first_wait_seconds=0.05, longest_wait_seconds=0.05)
    began = time.monotonic()
    with faulty_server([page(502, "")]) as server, HttpStore(server.url, retries=policy) as store:
        with pytest.raises(Unavailable):
            store.load_run("r")
        assert 1 < len(server.requests) < 1000
    assert time.monotonic() - began < 2


def test_an_idle_connection_that_the_server_closes_costs_no_wait() -> None:
    slow = RetryPolicy(attempts=3, first_wait_seconds=30, longest_wait_seconds=30)
    active, ended = answer(200, {"status": "active"}), answer(200, {"status": "ended"})
    with faulty_server([active, CLOSE, ended]) as server, HttpStore(server.url, retries=slow) as store:
        assert store.load_session_status("s") == "active"
        assert store.load_session_status("s") == "ended"
    assert server.times[-1] - server.times[0] < 5


def test_the_waits_double_up_to_the_longest_and_are_spread_by_jitter() -> None:
    policy = RetryPolicy(attempts=100, total_seconds=1e9, first_wait_seconds=0.1, longest_wait_seconds=2.0)
    longest = Retries(policy, jitter=lambda: 1.0)
    waits = [longest.after(Unavailable()) for _ in range(7)]
    assert waits == pytest.approx([0.1, 0.2, 0.4, 0.8, 1.6, 2.0, 2.0])
    shortest = Retries(policy, jitter=lambda: 0.0)
    assert [shortest.after(Unavailable()) for _ in range(3)] == [0.0, 0.0, 0.0]
    assert shortest.after(Overloaded(retry_after=3)) == 3


@pytest.mark.parametrize(
    ("text", "seconds"), [("2", 2.0), (" 5 ", 5.0), ("", None), ("soon", None), ("-1", None), ("²", None)]
)
def test_retry_after_is_read_as_seconds(text: str, seconds: float | None) -> None:
    assert retry_after(httpx.Headers([(b"Retry-After", text.encode())])) == seconds


def test_retry_after_is_read_as_a_date() -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    past = format_datetime(datetime.now(UTC) - timedelta(days=1), usegmt=True)
    assert 80 < (retry_after(httpx.Headers({"Retry-After": soon})) or 0) <= 90
    assert retry_after(httpx.Headers({"Retry-After": past})) == 0


@pytest.mark.parametrize("bad", [{"attempts": 0}, {"total_seconds": -1}, {"first_wait_seconds": -0.1}])
def test_a_policy_that_makes_no_sense_is_refused(bad: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must"):
        RetryPolicy(**bad)  # type: ignore[arg-type]
