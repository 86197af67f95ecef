"""A cancelled run whose worker is dead: case 62 of what happened to other stores."""

from __future__ import annotations

from tests.hostile.asking import done, listed, refused
from tests.model import commands as make
from tests.model.wire import Wire


def test_a_cancelled_run_whose_worker_is_dead_is_repaired_and_the_late_worker_is_refused(
    wire: Wire, unique: str
) -> None:
    session = f"{unique}-s"
    done(wire, make.create(session), make.start(unique, session=session))
    done(wire, make.cancellation(unique, session=session, reason="user"))
    run = done(wire, make.load(unique))
    assert (run["status"], run["cancellation_reason"]) == ("running", "user")
    assert [found["run_id"] for found in listed(wire, "list_runs", session_id=session, status="running")] == [unique]
    refused(wire, make.cancellation(unique, session=session, reason="timeout", key="k"), "run_cancellation_conflict")

    end = make.terminal(unique, session=session, status="canceled", reason="user", repair=True)
    assert done(wire, end)["outcome"] == "stored"
    assert done(wire, end)["outcome"] == "already_stored"
    refused(wire, make.terminal(unique, session=session, key="late"), "run_terminal_conflict")
    repaired = done(wire, make.terminal(unique, session=session, key="late", repair=True))
    assert repaired == {"outcome": "different_terminal", "status": "canceled", "record": None}
    assert [record["type"] for record in listed(wire, "list_run_records", unique)] == [
        "run_started",
        "runtime.cancellation_intent",
        "run_completed",
    ]
    assert not listed(wire, "list_runs", session_id=session, status="running")
