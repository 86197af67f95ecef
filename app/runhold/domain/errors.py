"""Why a command is refused, and why it could not be answered.

    ContractError                      permanent: no repetition can help
    ├── MalformedRequest               400
    ├── NotFound                       404  SessionNotFound RunNotFound RunSuspensionNotFound TranscriptNotFound
    ├── MethodNotAllowed  PayloadTooLarge  UnsupportedMediaType          405 413 415
    ├── Conflict                       409  SessionEnded SessionActive SessionHasActiveRuns RunConflict EventConflict
    │                                       RunNotActive RunTerminalConflict RunCancellationConflict
    │                                       RunSuspensionConflict RunSessionMismatch RunRecordOwnerMismatch
    │                                       ContinuationConflict RunTreeActive TranscriptInvalid
    ├── Purged                         410  SessionPurged RunPurged
    └── Invalid                        422  InvalidCommand InvalidCursor InvalidLimit ParentRunIdRequired
                                            ChildRunIdRequired ChildAgentIdRequired ChildSessionIdRequired
    AccessDenied                       Unauthenticated 401, Forbidden 403: credentials are not part of the command
    Fault                              temporary: RateLimited 429, Overloaded Unavailable 503, Internal 500

Source: the storage contract, *Errors*. ``api/problems.py`` turns each into its problem document.
"""

from __future__ import annotations

from typing import ClassVar

Member = str | int | bool | list[str] | list[dict[str, str]]
"""What an extension member of a problem document may hold."""


class RefusalError(Exception):
    """A command that was not carried out. ``detail`` never quotes payload, label or reason."""

    code: ClassVar[str] = "internal"
    permanent: ClassVar[bool] = False

    def __init__(self, detail: str = "", /, **members: Member) -> None:
        super().__init__(detail)
        self.detail = detail
        self.members = members


class ContractError(RefusalError):
    """The command can never succeed against what is stored; do not send it again."""

    permanent = True


class AccessDenied(RefusalError):
    """The caller's credentials do not carry this operation."""


class Fault(RefusalError):
    """The same command may succeed later; repeating it exactly is safe."""

    def __init__(self, detail: str = "", /, retry_after: int = 1, **members: Member) -> None:
        super().__init__(detail, **members)
        self.retry_after = retry_after
        """Seconds for the ``Retry-After`` header."""


class MalformedRequest(ContractError):
    """The body is not JSON in UTF-8."""

    code = "malformed_request"


class NotFound(ContractError):
    """There is no such route."""

    code = "not_found"


class SessionNotFound(NotFound):
    """There is no such session."""

    code = "session_not_found"


class RunNotFound(NotFound):
    """There is no such run."""

    code = "run_not_found"


class RunSuspensionNotFound(NotFound):
    """The run holds no checkpoint."""

    code = "run_suspension_not_found"


class TranscriptNotFound(NotFound):
    """The run holds no transcript record."""

    code = "transcript_not_found"


class MethodNotAllowed(ContractError):
    """The route exists, with other methods."""

    code = "method_not_allowed"


class PayloadTooLarge(ContractError):
    """The body, a payload or a checkpoint is over its size limit."""

    code = "payload_too_large"


class UnsupportedMediaType(ContractError):
    """The body is not declared as JSON."""

    code = "unsupported_media_type"


class Conflict(ContractError):
    """The command contradicts what is stored."""


class SessionEnded(Conflict):
    """The session has ended and cannot be created again."""

    code = "session_ended"


class SessionActive(Conflict):
    """The session must end before it can be purged."""

    code = "session_active"


class SessionHasActiveRuns(Conflict):
    """A run of the session is still running."""

    code = "session_has_active_runs"


class RunConflict(Conflict):
    """The run exists and was started differently."""

    code = "run_conflict"


class EventConflict(Conflict):
    """The event key holds another record."""

    code = "event_conflict"


class RunNotActive(Conflict):
    """The run has stopped, and this would be new work for it."""

    code = "run_not_active"


class RunTerminalConflict(Conflict):
    """The run has already ended in another way."""

    code = "run_terminal_conflict"


class RunCancellationConflict(Conflict):
    """Another cancellation is recorded for the run."""

    code = "run_cancellation_conflict"


class RunSuspensionConflict(Conflict):
    """Another suspension is recorded for the run."""

    code = "run_suspension_conflict"


class RunSessionMismatch(Conflict):
    """The run belongs to a session, and the command is for one-shot runs."""

    code = "run_session_mismatch"


class RunRecordOwnerMismatch(Conflict):
    """The record names another run, agent or session than the run it is for."""

    code = "run_record_owner_mismatch"


class ContinuationConflict(Conflict):
    """The predecessor is not a suspended run of the same session, agent and parent."""

    code = "continuation_conflict"


class RunTreeActive(Conflict):
    """A run in the one-shot tree is still running."""

    code = "run_tree_active"


class TranscriptInvalid(Conflict):
    """A stored transcript record does not decode."""

    code = "transcript_invalid"


class Purged(ContractError):
    """What the command names was purged, and its id is sealed for ever."""


class SessionPurged(Purged):
    """The session was purged; its id is sealed for ever."""

    code = "session_purged"


class RunPurged(Purged):
    """The one-shot run was purged; its id is sealed for ever."""

    code = "run_purged"


class Invalid(ContractError):
    """The request breaks a rule that needs no stored state, or contradicts the run's."""


class InvalidCommand(Invalid):
    """The command breaks a rule of shape or meaning."""

    code = "invalid_command"


class InvalidCursor(Invalid):
    """The cursor is not well-formed, or belongs to another list."""

    code = "invalid_cursor"


class InvalidLimit(Invalid):
    """The limit is not a positive number."""

    code = "invalid_limit"


class ParentRunIdRequired(Invalid):
    """A child start names no parent run."""

    code = "parent_run_id_required"


class ChildRunIdRequired(Invalid):
    """A child start names no run."""

    code = "child_run_id_required"


class ChildAgentIdRequired(Invalid):
    """A child start names no agent."""

    code = "child_agent_id_required"


class ChildSessionIdRequired(Invalid):
    """A child start names no session."""

    code = "child_session_id_required"


class Unauthenticated(AccessDenied):
    """No credentials, or none that are known."""

    code = "unauthenticated"


class Forbidden(AccessDenied):
    """The credentials do not allow this operation."""

    code = "forbidden"


class RateLimited(Fault):
    """The key has used its share for now."""

    code = "rate_limited"


class Overloaded(Fault):
    """The service has more work queued than it takes on."""

    code = "overloaded"


class Unavailable(Fault):
    """The service or its database cannot answer now."""

    code = "unavailable"


class Internal(Fault):
    """The service failed; the same command may be sent again."""

    code = "internal"


def invalid_field(pointer: str, detail: str, kind: type[Invalid] = InvalidCommand) -> Invalid:
    """Build the refusal of one field: ``pointer`` is an RFC 6901 pointer into the request body."""
    return kind(
        f"{pointer or 'body'}: {detail}", errors=[{"pointer": pointer, "detail": str(detail)}], **size_members(detail)
    )


def size_members(detail: str) -> dict[str, int]:
    """Give ``limit`` and ``actual`` for a fault that is one of size, nothing for any other."""
    limit, actual = getattr(detail, "limit", None), getattr(detail, "actual", None)
    return {"limit": limit, "actual": actual} if isinstance(limit, int) and isinstance(actual, int) else {}
