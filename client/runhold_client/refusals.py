"""From an answer that is not a success, or from no answer at all, to the exception that tells it.

A problem document is read by its ``code``, never by its ``detail``. What is not a problem document, such as the HTML
page of a proxy, is told by its status.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from runhold_client.errors import (
    ERRORS,
    AccessError,
    ContractError,
    Forbidden,
    InternalError,
    MalformedRequest,
    MethodNotAllowed,
    NotFound,
    PayloadTooLarge,
    RateLimited,
    StoreError,
    TemporaryError,
    Unauthenticated,
    Unavailable,
    UnexpectedAnswer,
    UnsupportedMediaType,
)

BY_STATUS: Mapping[int, type[StoreError]] = {
    400: MalformedRequest,
    401: Unauthenticated,
    403: Forbidden,
    404: NotFound,
    405: MethodNotAllowed,
    408: Unavailable,
    413: PayloadTooLarge,
    415: UnsupportedMediaType,
    429: RateLimited,
    500: InternalError,
}
"""The exception for a status that came without a problem document."""


LOST_CONNECTION = (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError)
"""A connection that broke: most often an idle one that the other side had closed."""


def refusal(answer: httpx.Response) -> StoreError | None:
    """Tell what a read answer refuses, or ``None`` when it is a success."""
    status = answer.status_code
    if 200 <= status < 300:
        return None
    problem = _problem_document(answer)
    return problem_error(status, problem, retry_after(answer.headers))


def problem_error(status: int, problem: Mapping[str, Any], wait_seconds: float | None = None) -> StoreError:
    """Tell what a problem document means; an empty one is told by the status alone."""
    code = problem.get("code")
    code = code if isinstance(code, str) else ""
    kind = ERRORS.get(code) or _kind_of(status, problem.get("permanent") if code else None)
    detail = problem.get("detail")
    if not isinstance(detail, str) or not detail:
        detail = code or f"status {status}"
    if issubclass(kind, TemporaryError):
        return kind(detail, code=code, problem=problem, retry_after=wait_seconds)
    return kind(detail, code=code, problem=problem)


def unanswered(error: httpx.RequestError) -> Unavailable:
    """Tell that no answer came: whether the command was done is not known, and repeating it exactly is safe."""
    failure = Unavailable(f"no answer from the service: {type(error).__name__}: {error}")
    failure.__cause__ = error
    return failure


def is_lost_connection(error: StoreError) -> bool:
    """Whether an error says that a connection broke, so that another one may work at once."""
    return isinstance(error.__cause__, LOST_CONNECTION)


def retry_after(headers: httpx.Headers) -> float | None:
    """Read ``Retry-After`` as seconds from now; ``None`` when it is missing or makes no sense."""
    text = headers.get("retry-after", "").strip()
    if text.isascii() and text.isdigit() and len(text) < 10:
        return float(text)
    try:
        at = parsedate_to_datetime(text)
    except ValueError:
        return None
    if at.tzinfo is None:
        at = at.replace(tzinfo=UTC)
    return max(0.0, (at - datetime.now(UTC)).total_seconds())


def _kind_of(status: int, permanent: object) -> type[StoreError]:
    if kind := BY_STATUS.get(status):
        # A code of a newer service: its class of error is what matters, and `permanent` decides it.
        if permanent is None or issubclass(kind, AccessError):
            return kind
        return ContractError if permanent else TemporaryError
    if isinstance(permanent, bool):
        return ContractError if permanent else TemporaryError
    if status >= 500:
        return Unavailable
    return ContractError if status >= 400 else UnexpectedAnswer


def _problem_document(answer: httpx.Response) -> Mapping[str, Any]:
    if not answer.headers.get("content-type", "").startswith("application/problem+json"):
        return {}
    try:
        found = json.loads(answer.content)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
