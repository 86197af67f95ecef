"""The table of operations: each with its route, who may call it, what answers it, and how it is documented.

The dispatcher, the framework's routes, the OpenAPI document and the tests all read this table. Its order is that of the
document, whose examples tell one story from a first session to its purge. Source: the storage contract, *HTTP*.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from pydantic import BaseModel

from runhold.api import handlers, schemas
from runhold.api.batches import run_commands
from runhold.api.handlers import Handler
from runhold.api.identity import Role

SESSIONS, RUNS, RECORDS, COMMANDS, CLOSING = "sessions", "runs", "records", "commands", "closing"

_WORKER = frozenset({Role.WORKER, Role.ADMIN})
_READER = frozenset({Role.READER, Role.ADMIN})
_WORKER_READER = frozenset({Role.WORKER, Role.READER, Role.ADMIN})
_ADMIN = frozenset({Role.ADMIN})

_PAGING = ("cursor", "limit", "order")
_RECORD_LIST = (*_PAGING, "type", "turn_id", "view", "wait_ms")
_RUN_LIST = (
    "status",
    "agent_id",
    "session_id",
    "parent_run_id",
    "label",
    "started_after",
    "started_before",
    *_PAGING,
)

_LIST_CODES = ("invalid_command", "invalid_limit", "invalid_cursor")
_START_CODES = ("session_purged", "run_purged", "run_not_found", "continuation_conflict", "run_conflict")
_START_RECORD_CODES = ("run_record_owner_mismatch", "event_conflict", "invalid_command")


@dataclass(frozen=True)
class Operation:
    """One operation of the contract."""

    id: str
    method: str
    template: str
    roles: frozenset[Role]
    handler: Handler
    tag: str
    summary: str
    description: str
    codes: tuple[str, ...]
    """Of the problems that are this operation's own."""
    answer: type[BaseModel] | None
    """None: it answers 204, without a body."""
    body: type[BaseModel] | None = None
    body_optional: bool = False
    query: tuple[str, ...] = ()

    @cached_property
    def takes_body(self) -> bool:
        """Whether a body is read."""
        return self.body is not None

    @cached_property
    def status(self) -> int:
        """The status of a success."""
        return 200 if self.answer is not None else 204

    @cached_property
    def path_id(self) -> str:
        """What the id in the path is called, ``""`` when there is none."""
        return self.template.partition("{")[2].partition("}")[0]


OPERATIONS: tuple[Operation, ...] = (
    Operation(
        "create_session",
        "POST",
        "/v1/sessions",
        _ADMIN,
        handlers.command("create_session"),
        SESSIONS,
        "Create a session",
        "An active session of that id is answered unchanged, so a repetition is safe. A used-up id is refused.",
        ("session_ended", "session_purged", "invalid_command"),
        schemas.Session,
        schemas.NewSession,
    ),
    Operation(
        "list_sessions",
        "GET",
        "/v1/sessions",
        _READER,
        handlers.list_sessions,
        SESSIONS,
        "List sessions",
        "By (created_at, session_id). Several statuses are alternatives.",
        _LIST_CODES,
        schemas.SessionPage,
        query=("status", *_PAGING),
    ),
    Operation(
        "load_session_status",
        "GET",
        "/v1/sessions/{session_id}/status",
        _WORKER_READER,
        handlers.load_session_status,
        SESSIONS,
        "Tell whether a session is active",
        "What a worker asks before it begins something long.",
        ("session_not_found", "session_purged", "invalid_command"),
        schemas.SessionState,
    ),
    Operation(
        "list_runs_by_session",
        "GET",
        "/v1/sessions/{session_id}/runs",
        _READER,
        handlers.list_runs_by_session,
        SESSIONS,
        "List a session's runs",
        "In the order in which their starts committed. Several statuses are alternatives.",
        ("session_not_found", "session_purged", *_LIST_CODES),
        schemas.RunPage,
        query=("status", *_PAGING),
    ),
    Operation(
        "start_root_run",
        "POST",
        "/v1/runs/root",
        _WORKER,
        handlers.command("start_root_run"),
        RUNS,
        "Start a run of a session",
        "In an active session the run starts: outcome proceed. In an ended one it is stored as canceled: outcome stop. "
        "With a predecessor it continues a suspended run. An exact retry answers the original outcome and ids.",
        (*_START_CODES, *_START_RECORD_CODES, "session_not_found"),
        schemas.RootStartResult,
        schemas.RootStart,
    ),
    Operation(
        "start_child_run",
        "POST",
        "/v1/runs/child",
        _WORKER,
        handlers.command("start_child_run"),
        RUNS,
        "Start a run under a running parent",
        "Stores the link on the parent's log and the child's start together. Both belong to one session.",
        (
            *_START_CODES,
            *_START_RECORD_CODES,
            "session_not_found",
            "run_not_active",
            "child_run_id_required",
            "child_agent_id_required",
            "child_session_id_required",
            "parent_run_id_required",
        ),
        schemas.ChildStartResult,
        schemas.ChildStart,
    ),
    Operation(
        "start_one_shot_run",
        "POST",
        "/v1/runs/one-shot",
        _WORKER,
        handlers.command("start_one_shot_run"),
        RUNS,
        "Start a run without a session",
        "A one-shot run belongs to no session and is purged by itself.",
        ("run_purged", "run_conflict", *_START_RECORD_CODES),
        schemas.OneShotStartResult,
        schemas.OneShotStart,
    ),
    Operation(
        "start_one_shot_child_run",
        "POST",
        "/v1/runs/one-shot-child",
        _WORKER,
        handlers.command("start_one_shot_child_run"),
        RUNS,
        "Start a run under a running one-shot run",
        "Stores the link on the parent's log and the child's start together.",
        (
            "run_purged",
            "run_conflict",
            "run_not_found",
            "run_session_mismatch",
            "run_not_active",
            *_START_RECORD_CODES,
            "parent_run_id_required",
        ),
        schemas.OneShotChildStartResult,
        schemas.OneShotChildStart,
    ),
    Operation(
        "record_run_cancellation",
        "POST",
        "/v1/runs/{run_id}/cancellation",
        _WORKER,
        handlers.command("record_run_cancellation"),
        RUNS,
        "Record why a run should stop",
        "The reason is written once. The run keeps running, and may still end in any way.",
        (
            "run_not_found",
            "run_record_owner_mismatch",
            "run_cancellation_conflict",
            "event_conflict",
            "run_not_active",
            "invalid_command",
        ),
        schemas.AppendResult,
        schemas.Cancellation,
    ),
    Operation(
        "record_run_suspension",
        "POST",
        "/v1/runs/{run_id}/suspension",
        _WORKER,
        handlers.command("record_run_suspension"),
        RUNS,
        "Suspend a run",
        "Stores the checkpoint and its record together. A new run that names this one as predecessor continues it.",
        (
            "run_not_found",
            "run_record_owner_mismatch",
            "run_terminal_conflict",
            "run_suspension_conflict",
            "event_conflict",
            "invalid_command",
        ),
        schemas.AppendResult,
        schemas.Suspension,
    ),
    Operation(
        "load_run_suspension",
        "GET",
        "/v1/runs/{run_id}/suspension",
        _WORKER,
        handlers.load_run_suspension,
        RUNS,
        "Read a suspended run's checkpoint",
        "The bytes as they were stored. Workers only: they are private.",
        ("run_not_found", "run_suspension_not_found", "invalid_command"),
        schemas.Checkpoint,
    ),
    Operation(
        "repair_run_suspension",
        "POST",
        "/v1/runs/{run_id}/suspension/repair",
        _WORKER,
        handlers.command("repair_run_suspension"),
        RUNS,
        "Suspend a run, or learn how it ended",
        "For a worker that does not know whether its run was suspended: another end is an answer, not a refusal.",
        ("run_not_found", "run_record_owner_mismatch", "event_conflict", "invalid_command"),
        schemas.RepairResult,
        schemas.Suspension,
    ),
    Operation(
        "record_run_terminal",
        "POST",
        "/v1/runs/{run_id}/terminal",
        _WORKER,
        handlers.command("record_run_terminal"),
        RUNS,
        "End a run",
        "Completed, failed or canceled, for good: the status and its record together.",
        (
            "run_not_found",
            "run_record_owner_mismatch",
            "run_terminal_conflict",
            "event_conflict",
            "invalid_command",
        ),
        schemas.AppendResult,
        schemas.Terminal,
    ),
    Operation(
        "repair_run_terminal",
        "POST",
        "/v1/runs/{run_id}/terminal/repair",
        _WORKER,
        handlers.command("repair_run_terminal"),
        RUNS,
        "End a run, or learn how it ended",
        "For a worker that does not know whether its run has ended: another end is an answer, not a refusal.",
        ("run_not_found", "run_record_owner_mismatch", "event_conflict", "invalid_command"),
        schemas.RepairResult,
        schemas.Terminal,
    ),
    Operation(
        "list_runs",
        "GET",
        "/v1/runs",
        _READER,
        handlers.list_runs,
        RUNS,
        "List runs",
        "By (started_at, run_id), one-shot runs too. All filters hold together; several statuses are alternatives.",
        _LIST_CODES,
        schemas.RunPage,
        query=_RUN_LIST,
    ),
    Operation(
        "append_run_record",
        "POST",
        "/v1/runs/{run_id}/records",
        _WORKER,
        handlers.command("append_run_record"),
        RECORDS,
        "Append a record to a running run",
        "An exact retry, equal in every field, answers the first call's id, also after the run has stopped.",
        (
            "run_not_found",
            "run_record_owner_mismatch",
            "event_conflict",
            "run_not_active",
            "invalid_command",
        ),
        schemas.AppendResult,
        schemas.RunRecord,
    ),
    Operation(
        "list_run_records",
        "GET",
        "/v1/runs/{run_id}/records",
        _WORKER_READER,
        handlers.list_run_records,
        RECORDS,
        "List a run's records",
        "By position. The cursor is the id of the last record read. Several types or turns are alternatives.",
        ("run_not_found", *_LIST_CODES),
        schemas.RecordPage,
        query=_RECORD_LIST,
    ),
    Operation(
        "list_session_run_records",
        "GET",
        "/v1/sessions/{session_id}/records",
        _WORKER_READER,
        handlers.list_session_run_records,
        RECORDS,
        "List a session's records",
        "In commit order across its runs: who reads on by cursor misses nothing and sees nothing twice.",
        ("session_not_found", "session_purged", *_LIST_CODES),
        schemas.RecordPage,
        query=_RECORD_LIST,
    ),
    Operation(
        "run_commands",
        "POST",
        "/v1/commands",
        _WORKER,
        run_commands,
        COMMANDS,
        "Carry out many commands",
        "1 to 256 of the writing worker commands, applied in order and answered each as its single call would be. They "
        "are not atomic together. After one that got a temporary answer, all later ones are answered 503, untried.",
        ("invalid_command",),
        schemas.CommandResults,
        schemas.Commands,
    ),
    Operation(
        "end_session",
        "POST",
        "/v1/sessions/{session_id}/end",
        _ADMIN,
        handlers.command("end_session"),
        CLOSING,
        "End a session",
        "It takes no new work; running runs go on and finish. A repetition keeps the first end. The body is optional.",
        ("session_not_found", "session_purged", "invalid_command"),
        schemas.Session,
        schemas.SessionEnd,
        body_optional=True,
    ),
    Operation(
        "load_session",
        "GET",
        "/v1/sessions/{session_id}",
        _READER,
        handlers.load_session,
        SESSIONS,
        "Read a session",
        "Its status and times.",
        ("session_not_found", "session_purged", "invalid_command"),
        schemas.Session,
    ),
    Operation(
        "purge_session",
        "DELETE",
        "/v1/sessions/{session_id}",
        _ADMIN,
        handlers.purge_session,
        CLOSING,
        "Purge an ended session",
        "Deletes its runs, checkpoints and records in one transaction and seals its id for ever. A repetition is safe.",
        ("session_not_found", "session_active", "session_has_active_runs", "invalid_command"),
        None,
    ),
    Operation(
        "load_run",
        "GET",
        "/v1/runs/{run_id}",
        _WORKER_READER,
        handlers.load_run,
        RUNS,
        "Read a run's state",
        "With the count of its records and the digest over all of them.",
        ("run_not_found", "invalid_command"),
        schemas.RunMeta,
    ),
    Operation(
        "purge_one_shot_run",
        "DELETE",
        "/v1/runs/{run_id}",
        _ADMIN,
        handlers.purge_one_shot_run,
        CLOSING,
        "Purge a one-shot run",
        "Deletes it with the runs started under it and seals their ids for ever. A repetition is safe.",
        ("run_not_found", "run_session_mismatch", "run_tree_active", "invalid_command"),
        None,
    ),
)
"""All operations, in the document's order."""
