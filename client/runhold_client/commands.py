"""The ten writing commands of a worker, each encoded once.

The same bytes go alone by the command's own route or inside ``run_commands``, and again in every exact retry.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Generic, TypeVar

from runhold_client import answers, wire
from runhold_client._generated.api.commands import run_commands as run_commands_operation
from runhold_client._generated.api.records import append_run_record as append_run_record_operation
from runhold_client._generated.api.runs import record_run_cancellation as record_run_cancellation_operation
from runhold_client._generated.api.runs import record_run_suspension as record_run_suspension_operation
from runhold_client._generated.api.runs import record_run_terminal as record_run_terminal_operation
from runhold_client._generated.api.runs import repair_run_suspension as repair_run_suspension_operation
from runhold_client._generated.api.runs import repair_run_terminal as repair_run_terminal_operation
from runhold_client._generated.api.runs import start_child_run as start_child_run_operation
from runhold_client._generated.api.runs import start_one_shot_child_run as start_one_shot_child_run_operation
from runhold_client._generated.api.runs import start_one_shot_run as start_one_shot_run_operation
from runhold_client._generated.api.runs import start_root_run as start_root_run_operation
from runhold_client.path_ids import path_segment
from runhold_client.types import (
    AppendResult,
    ChildStartResult,
    OneShotChildStartResult,
    OneShotStartResult,
    RepairResult,
    RootStartResult,
    RunRecord,
    RunStart,
    RunSuspension,
    TerminalStatus,
)

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Command(Generic[Answer]):
    """One writing command, encoded."""

    operation: ModuleType
    """The generated operation of its own route."""
    run_id: str | None
    """The run in its path; starts have none."""
    runs: tuple[str, ...]
    """The runs it reads or changes: commands that share one must not overtake each other."""
    body: bytes
    decode: Callable[[Any], Answer]

    @property
    def name(self) -> str:
        """The operation's name in the contract."""
        return self.operation.__name__.rpartition(".")[2]

    def request(self) -> Mapping[str, Any]:
        """The request of its own route, as ``httpx.Client.request`` takes it."""
        request: Mapping[str, Any]
        if self.run_id is None:
            request = self.operation.request(content=self.body)
        else:
            request = self.operation.request(path_segment(self.run_id), content=self.body)
        return request

    def item(self) -> bytes:
        """The command as an item of ``run_commands``."""
        if self.run_id is None:
            return b'{"operation":"%s","body":%s}' % (self.name.encode(), self.body)
        return b'{"operation":"%s","run_id":%s,"body":%s}' % (
            self.name.encode(),
            wire.encode_json(self.run_id),
            self.body,
        )


def run_commands_request(items: list[bytes]) -> Mapping[str, Any]:
    """The request that carries many commands."""
    return run_commands_operation.request(content=b'{"commands":[' + b",".join(items) + b"]}")


def start_root_run(run: RunStart, started: RunRecord, canceled: RunRecord) -> Command[RootStartResult]:
    """Start a run of a session."""
    body = {
        "run": wire.encode_run_start(run),
        "started": wire.encode_run_record(started),
        "canceled": wire.encode_run_record(canceled),
    }
    return _start(start_root_run_operation, run, body, answers.decode_root_start)


def start_child_run(
    run: RunStart, parent_linked: RunRecord, started: RunRecord, canceled: RunRecord
) -> Command[ChildStartResult]:
    """Start a run under a parent of the same session."""
    body = {
        "run": wire.encode_run_start(run),
        "parent_linked": wire.encode_run_record(parent_linked),
        "started": wire.encode_run_record(started),
        "canceled": wire.encode_run_record(canceled),
    }
    return _start(start_child_run_operation, run, body, answers.decode_child_start)


def start_one_shot_run(run: RunStart, started: RunRecord) -> Command[OneShotStartResult]:
    """Start a run that belongs to no session."""
    body = {"run": wire.encode_run_start(run), "started": wire.encode_run_record(started)}
    return _start(start_one_shot_run_operation, run, body, answers.decode_one_shot_start)


def start_one_shot_child_run(
    run: RunStart, parent_linked: RunRecord, started: RunRecord
) -> Command[OneShotChildStartResult]:
    """Start a run under a one-shot run."""
    body = {
        "run": wire.encode_run_start(run),
        "parent_linked": wire.encode_run_record(parent_linked),
        "started": wire.encode_run_record(started),
    }
    return _start(start_one_shot_child_run_operation, run, body, answers.decode_one_shot_child_start)


def append_run_record(record: RunRecord) -> Command[AppendResult]:
    """Store one ordinary record."""
    body = wire.encode_run_record(record)
    return _on_run(append_run_record_operation, record.run_id, body, answers.decode_append_result)


def record_run_cancellation(run_id: str, reason: str, record: RunRecord) -> Command[AppendResult]:
    """Store why the run should stop."""
    body = {"reason": reason, "record": wire.encode_run_record(record)}
    return _on_run(record_run_cancellation_operation, run_id, body, answers.decode_append_result)


def record_run_suspension(run_id: str, suspension: RunSuspension, record: RunRecord) -> Command[AppendResult]:
    """Suspend the run with its checkpoint."""
    body = {"suspension": wire.encode_run_suspension(suspension), "record": wire.encode_run_record(record)}
    return _on_run(record_run_suspension_operation, run_id, body, answers.decode_append_result)


def record_run_terminal(run_id: str, status: TerminalStatus, record: RunRecord) -> Command[AppendResult]:
    """End the run."""
    body = {"status": TerminalStatus(status).value, "record": wire.encode_run_record(record)}
    return _on_run(record_run_terminal_operation, run_id, body, answers.decode_append_result)


def repair_run_suspension(run_id: str, suspension: RunSuspension, record: RunRecord) -> Command[RepairResult]:
    """Suspend the run if it is still running."""
    body = {"suspension": wire.encode_run_suspension(suspension), "record": wire.encode_run_record(record)}
    return _on_run(repair_run_suspension_operation, run_id, body, answers.decode_repair)


def repair_run_terminal(run_id: str, status: TerminalStatus, record: RunRecord) -> Command[RepairResult]:
    """End the run if it is still running."""
    body = {"status": TerminalStatus(status).value, "record": wire.encode_run_record(record)}
    return _on_run(repair_run_terminal_operation, run_id, body, answers.decode_repair)


def _start(operation: ModuleType, run: RunStart, body: wire.Json, decode: Callable[[Any], Answer]) -> Command[Answer]:
    runs = tuple(run_id for run_id in (run.run_id, run.parent_run_id, run.predecessor_run_id) if run_id)
    return Command(operation, None, runs, wire.encode_json(body), decode)


def _on_run(operation: ModuleType, run_id: str, body: wire.Json, decode: Callable[[Any], Answer]) -> Command[Answer]:
    return Command(operation, run_id, (run_id,), wire.encode_json(body), decode)
