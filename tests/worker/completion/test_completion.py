"""A workflow has ended, and the host makes sure that its run has, too."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest

from runhold_client import (
    AsyncHttpStore,
    HttpStore,
    RepairOutcome,
    RunNotFound,
    RunRecord,
    RunStatus,
    RunSuspension,
    RunTerminalConflict,
    SessionPurged,
    TerminalStatus,
    iter_run_records,
)
from runhold_client.completion import (
    Completion,
    EngineResult,
    EngineSuspension,
    PublisherRequired,
    aensure_run_completion,
    aensure_run_suspension,
    ensure_run_completion,
    ensure_run_suspension,
)
from runhold_client.recorder import COMPLETED_KEY, Failure, RunRecorder
from tests.support.server import Server

AT = datetime(2026, 3, 1, 12, 0, 0, 5_000, UTC)
SUCCESS = EngineResult(TerminalStatus.COMPLETED, AT)
FAILED = EngineResult(TerminalStatus.FAILED, AT, Failure(message="out of memory", kind="internal"))
CANCELED = EngineResult(TerminalStatus.CANCELED, AT)
SUSPENDED = EngineSuspension(RunSuspension("pause-1", b"\x00data"), AT, version="1", pending_count=1)


@dataclass
class Host:
    """A host with a run that its worker left running."""

    server: Server
    store: HttpStore
    asynchronous: bool
    session_id: str = field(default_factory=lambda: f"session-{uuid.uuid4().hex[:12]}")
    run_id: str = field(default_factory=lambda: f"run-{uuid.uuid4().hex[:12]}")
    published: list[RunRecord] = field(default_factory=list)

    def ensure(self, result: EngineResult | EngineSuspension, *, publisher: bool = True) -> Completion:
        publish = self.published.append if publisher else None
        if not self.asynchronous:
            if isinstance(result, EngineResult):
                return ensure_run_completion(self.store, self.run_id, result, publish)
            return ensure_run_suspension(self.store, self.run_id, result, publish)

        async def publish_later(record: RunRecord) -> None:
            self.published.append(record)

        async def story() -> Completion:
            async with AsyncHttpStore(self.server.url) as store:
                later = publish_later if publisher else None
                if isinstance(result, EngineResult):
                    return await aensure_run_completion(store, self.run_id, result, later)
                return await aensure_run_suspension(store, self.run_id, result, later)

        return asyncio.run(story())

    def open(self, **options: Any) -> Any:
        options = {"agent_id": "svc.agent", "session_id": self.session_id, **options}
        return RunRecorder(self.store).run(self.run_id, **options)

    @property
    def records(self) -> list[RunRecord]:
        return [stored.record for stored in iter_run_records(self.store, self.run_id)]


@pytest.fixture(params=["sync", "async"])
def host(request: pytest.FixtureRequest, server: Server) -> Iterator[Host]:
    with HttpStore(server.url) as store:
        host = Host(server, store, request.param == "async")
        store.create_session(host.session_id)
        yield host


@pytest.mark.parametrize(
    ("result", "status"), [(SUCCESS, RunStatus.COMPLETED), (FAILED, RunStatus.FAILED), (CANCELED, RunStatus.CANCELED)]
)
def test_a_missing_end_is_stored_and_published_and_then_found(
    host: Host, result: EngineResult, status: RunStatus
) -> None:
    with host.open(labels={"tier": "gold"}):
        pass
    first = host.ensure(result)
    assert (first.outcome, first.status, first.session_is_active) == (RepairOutcome.STORED, status, True)
    record = host.records[-1]
    assert (record.event_key, record.timestamp) == (COMPLETED_KEY, AT)
    assert host.published == [record]
    later = EngineResult(result.status, AT.replace(year=2027), result.failure, "another-key", "another turn")
    again = host.ensure(later)
    assert (again.outcome, again.status, again.record and again.record.id) == (
        RepairOutcome.ALREADY_STORED,
        status,
        "2",
    )
    assert host.published == [record, record]


def test_an_end_that_the_worker_stored_is_found_and_published_as_it_is_stored(host: Host) -> None:
    with host.open() as run:
        run.step("model-1", lambda: "x")
        run.finish()
    found = host.ensure(SUCCESS)
    assert (found.outcome, found.status) == (RepairOutcome.ALREADY_STORED, RunStatus.COMPLETED)
    assert host.published == [host.records[-1]]
    assert len(host.records) == 3


@pytest.mark.parametrize("result", [FAILED, CANCELED, SUSPENDED], ids=["failed", "canceled", "suspended"])
def test_an_end_that_differs_from_what_is_stored_changes_and_publishes_nothing(host: Host, result: Any) -> None:
    with host.open() as run:
        run.finish()
    before = host.records
    found = host.ensure(result)
    assert found == Completion(RepairOutcome.DIFFERENT_TERMINAL, RunStatus.COMPLETED, None, session_is_active=True)
    assert (host.records, host.published) == (before, [])


def test_another_failure_is_a_different_end(host: Host) -> None:
    with host.open() as run:
        run.finish(Failure(message="the model said no", kind="provider"))
    assert host.ensure(FAILED).outcome is RepairOutcome.DIFFERENT_TERMINAL


def test_an_active_session_needs_a_publisher_before_anything_is_written(host: Host) -> None:
    with host.open():
        pass
    for result in (SUCCESS, SUSPENDED):
        with pytest.raises(PublisherRequired):
            host.ensure(result, publisher=False)
    assert len(host.records) == 1
    host.store.end_session(host.session_id)
    found = host.ensure(SUCCESS, publisher=False)
    assert (found.outcome, found.session_is_active) == (RepairOutcome.STORED, False)


def test_nothing_is_published_to_an_ended_session_and_of_a_one_shot_run(host: Host) -> None:
    with host.open():
        pass
    host.store.end_session(host.session_id)
    assert host.ensure(SUCCESS).outcome is RepairOutcome.STORED
    host.run_id += " one-shot"
    with host.open(session_id=""):
        pass
    assert host.ensure(SUCCESS, publisher=False).session_is_active is False
    assert host.published == []


def test_a_canceled_end_names_the_recorded_reason(host: Host) -> None:
    with host.open() as run:
        run.cancel("the user left")
    assert host.ensure(CANCELED).outcome is RepairOutcome.STORED
    assert json.loads(host.records[-1].payload)["cancellation"] == {"reason": "the user left"}
    assert host.ensure(CANCELED).outcome is RepairOutcome.ALREADY_STORED


def test_the_repair_of_a_dead_workers_run_stays_when_the_worker_comes_back(host: Host) -> None:
    with host.open() as worker:
        worker.cancel("stuck")
        assert worker.cancellation_reason() == "stuck"
        assert host.store.load_run(host.run_id).status is RunStatus.RUNNING
        assert host.ensure(CANCELED).outcome is RepairOutcome.STORED
        with pytest.raises(RunTerminalConflict):
            worker.finish()
    assert host.ensure(SUCCESS).outcome is RepairOutcome.DIFFERENT_TERMINAL


def test_a_run_that_the_ended_session_stopped_at_its_start_counts_as_canceled(host: Host) -> None:
    host.store.end_session(host.session_id)
    with host.open():
        pass
    assert host.ensure(CANCELED).outcome is RepairOutcome.ALREADY_STORED
    assert host.ensure(SUCCESS).outcome is RepairOutcome.DIFFERENT_TERMINAL


def test_a_missing_suspension_is_stored_with_its_checkpoint_and_then_found(host: Host) -> None:
    with host.open():
        pass
    assert host.ensure(SUSPENDED).outcome is RepairOutcome.STORED
    assert host.store.load_run_suspension(host.run_id) == SUSPENDED.suspension
    again = EngineSuspension(SUSPENDED.suspension, AT.replace(year=2027), "1", 1, (), "another-key")
    assert host.ensure(again).outcome is RepairOutcome.ALREADY_STORED
    other_bytes = EngineSuspension(RunSuspension("pause-1", b"other"), AT, "1", 1)
    assert host.ensure(other_bytes).outcome is RepairOutcome.DIFFERENT_TERMINAL
    assert host.published == [host.records[-1]] * 2


class LateWorker(HttpStore):
    """A store before whose first repair something else happens."""

    meanwhile: Any = None

    def repair_run_terminal(self, *args: Any, **options: Any) -> Any:
        if self.meanwhile is not None:
            meanwhile, self.meanwhile = self.meanwhile, None
            meanwhile()
        return super().repair_run_terminal(*args, **options)


def test_a_worker_that_ends_the_run_in_between_is_found(host: Host) -> None:
    with host.open() as run, LateWorker(host.server.url) as store:
        store.meanwhile = run.finish
        found = ensure_run_completion(store, host.run_id, SUCCESS, host.published.append)
        assert found.outcome is RepairOutcome.ALREADY_STORED
    assert host.published == [host.records[-1]]


def test_a_cancellation_that_comes_in_between_is_named(host: Host) -> None:
    with host.open() as run, LateWorker(host.server.url) as store:
        store.meanwhile = lambda: run.cancel("late")
        found = ensure_run_completion(store, host.run_id, CANCELED, host.published.append)
        assert found.outcome is RepairOutcome.STORED
    assert json.loads(host.records[-1].payload)["cancellation"] == {"reason": "late"}


def test_a_run_that_is_not_there_is_not_completed(host: Host) -> None:
    with pytest.raises(RunNotFound):
        host.ensure(SUCCESS)
    with host.open() as run:
        run.finish()
    host.store.end_session(host.session_id)
    host.store.purge_session(host.session_id)
    with pytest.raises((RunNotFound, SessionPurged)):
        host.ensure(SUCCESS)


def test_a_result_says_why_exactly_when_it_failed() -> None:
    with pytest.raises(ValueError, match="exactly when"):
        EngineResult(TerminalStatus.FAILED, AT)
    with pytest.raises(ValueError, match="exactly when"):
        EngineResult(TerminalStatus.COMPLETED, AT, Failure(message="m", kind="k"))
