"""What requests and answers look like, for the OpenAPI document only: the API itself reads and writes without these.

A test holds them to the values of ``domain/``. Source: the storage contract, *Types* and *HTTP*.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from runhold.domain.limits import CHECKPOINT_BYTES, COMMANDS, ID_BYTES, LABELS, PAYLOAD_BYTES, REASON_BYTES

Id = Annotated[str, Field(max_length=ID_BYTES)]
NewId = Annotated[str, Field(min_length=1, max_length=ID_BYTES)]
Labels = Annotated[dict[str, str], Field(max_length=LABELS)]
Time = Annotated[str, Field(json_schema_extra={"format": "date-time"})]
Payload = Annotated[str, Field(max_length=PAYLOAD_BYTES)]
Base64 = Annotated[str, Field(max_length=(CHECKPOINT_BYTES + 2) // 3 * 4, json_schema_extra={"format": "byte"})]


class Body(BaseModel):
    """A request: unknown and repeated names are refused."""

    model_config = ConfigDict(use_attribute_docstrings=True, extra="forbid")


class Answer(BaseModel):
    """An answer."""

    model_config = ConfigDict(use_attribute_docstrings=True)


class NewSession(Body):
    """A session to create."""

    session_id: NewId
    """Names the session in its namespace: any text, compared code point by code point."""
    created_at: Time | None = None
    """RFC 3339; digits finer than a microsecond are cut. Missing: the service's clock."""


class SessionEnd(Body):
    """When a session ended."""

    ended_at: Time | None = None
    """RFC 3339; digits finer than a microsecond are cut. Missing: the service's clock. The first end stays."""


class RunStart(Body):
    """What a worker knows of a run when it starts it."""

    agent_id: NewId
    """The agent that the run executes."""
    run_id: NewId
    """Names the run in its namespace."""
    session_id: Id | None = ""
    """The session it belongs to; empty for a one-shot run."""
    parent_run_id: Id | None = ""
    """The run that started it as a child."""
    predecessor_run_id: Id | None = ""
    """The suspended run that it continues."""
    started_at: Time
    """RFC 3339, whole milliseconds."""
    labels: Labels | None = Field(default_factory=dict)
    """Free names and values to find the run by; up to 64 KiB together. They never change."""


class RunRecord(Body):
    """One fact in a run's history, never changed after it is stored."""

    event_key: NewId
    """Names the record within its run; an exact retry sends the same key."""
    run_id: NewId
    """The run whose log it is for."""
    agent_id: NewId
    """The agent of that run."""
    session_id: Id | None = ""
    """The session of that run; empty for a one-shot run."""
    turn_id: Id | None = ""
    """Groups the records of one turn, if the worker likes."""
    type: NewId
    """What kind of fact it is. The five lifecycle types are stored by their own operations only."""
    payload: Payload
    """One JSON value as text, at most 500 levels deep, kept byte for byte."""
    timestamp: Time
    """RFC 3339, whole milliseconds."""


class RunSuspension(Body):
    """The private bytes needed to continue a suspended run."""

    id: NewId
    """Names the checkpoint; its record carries the same name."""
    data: Base64
    """The bytes in standard base64, padded and canonical."""


class RootStart(Body):
    """A root run to start."""

    run: RunStart
    """The run: with a session, without a parent."""
    started: RunRecord
    """Its `run_started` record."""
    canceled: RunRecord
    """The `run_completed` record to store after it when the session has ended."""


class ChildStart(Body):
    """A child run to start."""

    run: RunStart
    """The run: with a session and a parent."""
    parent_linked: RunRecord
    """The `child_run_linked` record for the parent's log."""
    started: RunRecord
    """Its `run_started` record."""
    canceled: RunRecord
    """The `run_completed` record to store after it when the session has ended."""


class OneShotStart(Body):
    """A one-shot run to start."""

    run: RunStart
    """The run: without a session or parent."""
    started: RunRecord
    """Its `run_started` record."""


class OneShotChildStart(Body):
    """A child of a one-shot run to start."""

    run: RunStart
    """The run: without a session, with a parent."""
    parent_linked: RunRecord
    """The `child_run_linked` record for the parent's log."""
    started: RunRecord
    """Its `run_started` record."""


class Cancellation(Body):
    """Why a run should stop."""

    reason: Annotated[str, Field(min_length=1, max_length=REASON_BYTES)]
    """Written once; the record's payload says the same."""
    record: RunRecord
    """The `runtime.cancellation_intent` record."""


class Suspension(Body):
    """A checkpoint to store."""

    suspension: RunSuspension
    """The checkpoint."""
    record: RunRecord
    """The `run_suspended` record that names it."""


class Terminal(Body):
    """The end of a run."""

    status: Literal["completed", "failed", "canceled"]
    """How it ended."""
    record: RunRecord
    """The `run_completed` record that says the same."""


class CommandItem(Body):
    """One command of a request with many."""

    operation: Literal[
        "start_root_run",
        "start_child_run",
        "start_one_shot_run",
        "start_one_shot_child_run",
        "append_run_record",
        "record_run_cancellation",
        "record_run_suspension",
        "record_run_terminal",
        "repair_run_suspension",
        "repair_run_terminal",
    ]
    """The operation's id."""
    run_id: Id | None = None
    """The run, exactly where the single call has it in its path."""
    body: dict[str, Any]
    """The single call's body."""


class Commands(Body):
    """Commands to carry out in their order, each for itself."""

    commands: Annotated[list[CommandItem], Field(min_length=1, max_length=COMMANDS)]
    """They are applied in order; a later one sees what earlier ones wrote. They are not atomic together."""


class Session(Answer):
    """A conversation or a long piece of work; groups runs."""

    session_id: str
    """Names the session in its namespace."""
    status: Literal["active", "ended"]
    """Whether new runs may do work in it."""
    created_at: Time
    """UTC, microseconds."""
    ended_at: Time | None
    """UTC, microseconds; null while active. It may precede `created_at`."""


class SessionState(Answer):
    """Whether a session is active."""

    status: Literal["active", "ended"]
    """Its status now."""


class SessionPage(Answer):
    """A page of sessions by (created_at, id)."""

    sessions: list[Session]
    """In the order asked for; an empty page is an empty list."""
    next_cursor: str
    """Give it as `cursor` to read on; empty on the last page."""


class RunMeta(Answer):
    """A run's state."""

    agent_id: str
    """The agent that the run executes."""
    run_id: str
    """Names the run in its namespace."""
    session_id: str
    """The session it belongs to; empty for a one-shot run."""
    parent_run_id: str
    """The run that started it as a child; empty without."""
    status: Literal["running", "suspended", "completed", "failed", "canceled"]
    """Where it stands; every status but running is terminal."""
    start_outcome: Literal["proceed", "stop"]
    """What its start told the worker."""
    started_at: Time
    """UTC, milliseconds."""
    updated_at: Time
    """UTC, milliseconds, by the service's clock: start, first cancellation, suspension, end."""
    labels: dict[str, str]
    """As given at the start."""
    cancellation_reason: str
    """The reason recorded for it; empty without."""
    record_count: int
    """How many records it holds: the id of the newest."""
    head_digest: str
    """Digest of its newest record, 64 hexadecimal digits in lower case: it covers all records before it."""


class RunPage(Answer):
    """A page of runs."""

    runs: list[RunMeta]
    """In the order asked for; an empty page is an empty list."""
    next_cursor: str
    """Give it as `cursor` to read on; empty on the last page."""


class StoredRecord(Answer):
    """A record with its place in its run's log."""

    id: str
    """The position in its run as decimal text: 1, 2, … without gaps."""
    event_key: str
    """Names the record within its run."""
    run_id: str
    """The run whose log it is in."""
    agent_id: str
    """The agent of that run."""
    session_id: str
    """The session of that run; empty for a one-shot run."""
    turn_id: str
    """As sent; empty without."""
    type: str
    """What kind of fact it is."""
    payload: str
    """One JSON value as text, byte for byte as sent; empty in summaries."""
    timestamp: Time
    """UTC, milliseconds, as sent."""
    stored_at: Time
    """UTC, milliseconds, by the service's clock."""
    payload_bytes: int | None = None
    """In summaries only: the size of the payload."""


class RecordPage(Answer):
    """A page of records: by position in a run, by commit order in a session. It stops at 8 MiB of payload."""

    records: list[StoredRecord]
    """In the order asked for; an empty page is an empty list."""
    next_cursor: str
    """Give it as `cursor` to read on; empty on the last page."""
    end_cursor: str
    """Where the page ended: a poller goes on from here later. On an empty page, the given cursor."""


class Checkpoint(Answer):
    """The private bytes needed to continue a suspended run."""

    id: str
    """Names the checkpoint."""
    data: Base64
    """The bytes in standard base64, as stored."""


class AppendResult(Answer):
    """What became of one record."""

    id: str
    """The record's position in its run, the same in every exact retry."""
    inserted: bool
    """False when an earlier call stored it."""
    session_status: Literal["active", "ended", ""]
    """The session's status now, seen by the same transaction; empty for a one-shot run."""


class RootStartResult(Answer):
    """What a root start did."""

    outcome: Literal["proceed", "stop"]
    """Whether the worker goes on, or stops because the session has ended."""
    started: AppendResult
    """Of the `run_started` record."""
    canceled: AppendResult | None
    """Of the `run_completed` record, when the outcome is stop; else null."""


class ChildStartResult(Answer):
    """What a child start did."""

    outcome: Literal["proceed", "stop"]
    """Whether the worker goes on, or stops because the session has ended."""
    parent_record: AppendResult
    """Of the link on the parent's log."""
    started: AppendResult
    """Of the `run_started` record."""
    canceled: AppendResult | None
    """Of the `run_completed` record, when the outcome is stop; else null."""


class OneShotStartResult(Answer):
    """What a one-shot start did."""

    record: AppendResult
    """Of the `run_started` record."""


class OneShotChildStartResult(Answer):
    """What a one-shot child start did."""

    parent_record: AppendResult
    """Of the link on the parent's log."""
    started: AppendResult
    """Of the `run_started` record."""


class RepairResult(Answer):
    """What a repair found or did."""

    outcome: Literal["stored", "already_stored", "different_terminal"]
    """Whether it stored the end, found it stored, or found another one."""
    status: Literal["running", "suspended", "completed", "failed", "canceled"]
    """The run's stored status after the call."""
    record: AppendResult | None
    """Null when the run had ended differently."""


class FieldFault(Answer):
    """What is wrong with one field."""

    pointer: str
    """RFC 6901 pointer into the body."""
    detail: str
    """What is wrong."""


class Problem(Answer):
    """Why a request was not carried out (RFC 9457)."""

    type: str
    """Names the kind of problem; ends in its code."""
    title: str
    """What the kind means."""
    status: int
    """The HTTP status."""
    detail: str
    """What was wrong in this case. It never quotes payloads, labels or reasons."""
    code: str
    """Names the kind of problem; decide by this."""
    permanent: bool
    """Whether repeating the request cannot help, unless another command changes the stored state first."""
    request_id: str
    """Names the request in the service's logs."""
    errors: list[FieldFault] | None = None
    """The fields that are wrong, if the body's shape is."""
    limit: int | None = None
    """The size that was exceeded: bytes, or a number of labels."""
    actual: int | None = None
    """The size that was sent; of a body without a declared length, what was read of it."""
    run_id: str | None = None
    """The run that the command contradicts."""
    event_key: str | None = None
    """The event key that is taken."""
    differs: list[str] | None = None
    """The fields in which the stored record differs."""


class CommandResult(Answer):
    """What became of one command: its answer, or its problem."""

    status: int
    """The status that the single call would answer with."""
    body: dict[str, Any] | None = None
    """The single call's answer, on success."""
    problem: Problem | None = None
    """Why not, otherwise."""


class CommandResults(Answer):
    """What became of each command, in their order."""

    results: list[CommandResult]
    """One for each command."""
