"""Why a store refused, or could not answer.

    StoreError
    ├── ContractError            permanent: repeating the command cannot help
    │   ├── MalformedRequest  InvalidCommand  InvalidCursor  InvalidLimit  PayloadTooLarge
    │   ├── ParentRunIdRequired  ChildRunIdRequired  ChildAgentIdRequired  ChildSessionIdRequired
    │   ├── NotFound  SessionNotFound  RunNotFound  RunSuspensionNotFound  TranscriptNotFound
    │   ├── MethodNotAllowed  UnsupportedMediaType
    │   ├── SessionEnded  SessionActive  SessionHasActiveRuns  SessionPurged  RunPurged
    │   ├── RunConflict  EventConflict  RunNotActive  RunTerminalConflict  RunCancellationConflict
    │   └── RunSuspensionConflict  RunSessionMismatch  RunRecordOwnerMismatch  ContinuationConflict
    │       RunTreeActive  TranscriptInvalid
    ├── AccessError              Unauthenticated  Forbidden: mend the credentials, then repeat the command
    ├── TemporaryError           RateLimited  Overloaded  Unavailable  InternalError: the same command may be sent again
    └── UnexpectedAnswer         what came back is not in the contract: is this the service?

The client picks an exception by the problem's ``code``; an unknown code that is permanent is a plain ``ContractError``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar


class StoreError(Exception):
    """A command that did not succeed."""

    code: ClassVar[str] = ""

    def __init__(self, detail: str = "", *, code: str = "", problem: Mapping[str, Any] | None = None) -> None:
        super().__init__(detail or code or self.code)
        self.detail = detail
        self.problem: Mapping[str, Any] = problem or {}
        """The whole problem document as it came, or empty when there was none."""
        self.problem_code = code or self.code
        """The problem's code, also when this version of the client does not know it."""


class ContractError(StoreError):
    """The command can never succeed against what is stored; do not send it again."""


class AccessError(StoreError):
    """The credentials are missing, wrong or not allowed to do this."""


class TemporaryError(StoreError):
    """The command may succeed later; repeating it exactly is safe."""

    def __init__(
        self,
        detail: str = "",
        *,
        code: str = "",
        problem: Mapping[str, Any] | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(detail, code=code, problem=problem)
        self.retry_after = retry_after
        """Seconds after which the service asked to try again, if it said so."""


class UnexpectedAnswer(StoreError):
    """What came back is not in the contract; whether the command was done is not known."""


class MalformedRequest(ContractError):
    """The body is not JSON in UTF-8."""

    code = "malformed_request"


class InvalidCommand(ContractError):
    """The command breaks a rule that needs no stored state, or contradicts the run's."""

    code = "invalid_command"


class InvalidCursor(ContractError):
    """The cursor is not well-formed, or belongs to another list."""

    code = "invalid_cursor"


class InvalidLimit(ContractError):
    """The limit is not a positive number."""

    code = "invalid_limit"


class ParentRunIdRequired(ContractError):
    """A child start names no parent run."""

    code = "parent_run_id_required"


class ChildRunIdRequired(ContractError):
    """A child start names no run."""

    code = "child_run_id_required"


class ChildAgentIdRequired(ContractError):
    """A child start names no agent."""

    code = "child_agent_id_required"


class ChildSessionIdRequired(ContractError):
    """A child start names no session."""

    code = "child_session_id_required"


class PayloadTooLarge(ContractError):
    """The body, a payload or a checkpoint is over its size limit."""

    code = "payload_too_large"


class MethodNotAllowed(ContractError):
    """The route exists, with other methods."""

    code = "method_not_allowed"


class UnsupportedMediaType(ContractError):
    """The body is not declared as JSON."""

    code = "unsupported_media_type"


class NotFound(ContractError):
    """There is no such route."""

    code = "not_found"


class SessionNotFound(ContractError):
    """There is no such session."""

    code = "session_not_found"


class RunNotFound(ContractError):
    """There is no such run."""

    code = "run_not_found"


class RunSuspensionNotFound(ContractError):
    """The run holds no checkpoint."""

    code = "run_suspension_not_found"


class TranscriptNotFound(ContractError):
    """The run holds no transcript record."""

    code = "transcript_not_found"


class SessionEnded(ContractError):
    """The session has ended and cannot be created again."""

    code = "session_ended"


class SessionActive(ContractError):
    """The session must end before it can be purged."""

    code = "session_active"


class SessionHasActiveRuns(ContractError):
    """A run of the session is still running."""

    code = "session_has_active_runs"


class SessionPurged(ContractError):
    """The session was purged; its id is sealed for ever."""

    code = "session_purged"


class RunPurged(ContractError):
    """The one-shot run was purged; its id is sealed for ever."""

    code = "run_purged"


class RunConflict(ContractError):
    """The run exists and was started differently."""

    code = "run_conflict"


class EventConflict(ContractError):
    """The event key holds another record."""

    code = "event_conflict"

    @property
    def run_id(self) -> str:
        """The run on whose log the key is taken."""
        return str(self.problem.get("run_id", ""))

    @property
    def event_key(self) -> str:
        """The key that is taken."""
        return str(self.problem.get("event_key", ""))

    @property
    def differs(self) -> tuple[str, ...]:
        """Names of the fields in which the two records differ."""
        return tuple(self.problem.get("differs", ()))


class RunNotActive(ContractError):
    """The run has stopped, and this would be new work for it."""

    code = "run_not_active"


class RunTerminalConflict(ContractError):
    """The run has already ended in another way."""

    code = "run_terminal_conflict"


class RunCancellationConflict(ContractError):
    """Another cancellation is recorded for the run."""

    code = "run_cancellation_conflict"


class RunSuspensionConflict(ContractError):
    """Another suspension is recorded for the run."""

    code = "run_suspension_conflict"


class RunSessionMismatch(ContractError):
    """The run belongs to a session, and the command is for one-shot runs."""

    code = "run_session_mismatch"


class RunRecordOwnerMismatch(ContractError):
    """The record names another run, agent or session than the run it is for."""

    code = "run_record_owner_mismatch"


class ContinuationConflict(ContractError):
    """The predecessor is not a suspended run of the same session, agent and parent."""

    code = "continuation_conflict"


class RunTreeActive(ContractError):
    """A run in the one-shot tree is still running."""

    code = "run_tree_active"


class TranscriptInvalid(ContractError):
    """A stored transcript record does not decode."""

    code = "transcript_invalid"


class Unauthenticated(AccessError):
    """No credentials, or none that are known."""

    code = "unauthenticated"


class Forbidden(AccessError):
    """The credentials do not allow this operation."""

    code = "forbidden"


class RateLimited(TemporaryError):
    """The key has used its share for now."""

    code = "rate_limited"


class Overloaded(TemporaryError):
    """The service has more work queued than it takes on."""

    code = "overloaded"


class Unavailable(TemporaryError):
    """The service or its database cannot answer now."""

    code = "unavailable"


class InternalError(TemporaryError):
    """The service failed; the same command may be sent again."""

    code = "internal"


def _family(base: type[StoreError]) -> dict[str, type[StoreError]]:
    found: dict[str, type[StoreError]] = {}
    for child in base.__subclasses__():
        if child.code:
            found[child.code] = child
        found.update(_family(child))
    return found


ERRORS: Mapping[str, type[StoreError]] = _family(StoreError)
"""Exception by problem code."""
