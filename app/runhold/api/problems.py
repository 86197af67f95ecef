"""From refusals to problem documents (RFC 9457), in one table. Source: the storage contract, *Errors*."""

from __future__ import annotations

import inspect
from typing import Any

from runhold.api.encoding import encode_json
from runhold.domain import errors
from runhold.domain.errors import Fault, RefusalError

MEDIA_TYPE = b"application/problem+json"
TYPE_BASE = "/docs/problems#"
"""What a problem's ``type`` begins with: a reference that opens the code's entry on the page the service itself has."""

_STATUSES: list[tuple[type[RefusalError], int]] = [
    (errors.MalformedRequest, 400),
    (errors.Unauthenticated, 401),
    (errors.Forbidden, 403),
    (errors.NotFound, 404),
    (errors.MethodNotAllowed, 405),
    (errors.Conflict, 409),
    (errors.Purged, 410),
    (errors.PayloadTooLarge, 413),
    (errors.UnsupportedMediaType, 415),
    (errors.Invalid, 422),
    (errors.RateLimited, 429),
    (errors.Internal, 500),
    (errors.Overloaded, 503),
    (errors.Unavailable, 503),
]


def _family(base: type[RefusalError]) -> list[type[RefusalError]]:
    own = [base] if "code" in vars(base) and base is not RefusalError else []
    return own + [kind for child in base.__subclasses__() for kind in _family(child)]


def _status(kind: type[RefusalError]) -> int:
    return next(status for base, status in _STATUSES if issubclass(kind, base))


PROBLEMS: dict[str, tuple[type[RefusalError], int]] = {
    kind.code: (kind, _status(kind)) for kind in _family(RefusalError)
}
"""Every refusal and its status, by code."""

_TITLES = {code: (inspect.getdoc(kind) or "").splitlines()[0] for code, (kind, _) in PROBLEMS.items()}


def title_of(code: str) -> str:
    """What a kind of problem means."""
    return _TITLES[code]


def status_of(refusal: RefusalError) -> int:
    """The HTTP status of a refusal."""
    return PROBLEMS[refusal.code][1]


def problem(refusal: RefusalError, request_id: str) -> dict[str, Any]:
    """Build the document of a refusal; its own members never replace the contract's."""
    code = refusal.code
    return {
        "type": TYPE_BASE + code,
        "title": _TITLES[code],
        "status": PROBLEMS[code][1],
        "detail": refusal.detail,
        "code": code,
        "permanent": refusal.permanent,
        "request_id": request_id,
        **refusal.members,
    }


def encode_problem(refusal: RefusalError, request_id: str) -> bytes:
    """Write the document of a refusal; whatever was sent, it is valid UTF-8."""
    document = problem(refusal, request_id)
    try:
        return encode_json(document)
    except UnicodeEncodeError:
        # A refusal may name an id that holds a lone surrogate.
        return encode_json({name: _encodable(value) for name, value in document.items()})


def problem_headers(refusal: RefusalError) -> list[tuple[bytes, bytes]]:
    """The headers that a refusal adds to its answer."""
    if isinstance(refusal, Fault):
        return [(b"retry-after", b"%d" % refusal.retry_after)]
    if refusal.code == errors.Unauthenticated.code:
        return [(b"www-authenticate", b"Bearer")]
    return []


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode(errors="replace").decode()
    if isinstance(value, list):
        return [_encodable(inner) for inner in value]
    if isinstance(value, dict):
        return {_encodable(name): _encodable(inner) for name, inner in value.items()}
    return value
