"""Pages of lists: what is asked for, what comes back, and the text of cursors.

A run's cursor is a plain position. Every other cursor is opaque: base64url over a tag of the list it belongs to and the
place where the page ended. The tag is a digest of the list's owner, filter and order, so it needs no secret, survives
restarts and works on every replica. Source: the storage contract, ``list_run_records`` and *HTTP*.
"""

from __future__ import annotations

import hashlib
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from collections.abc import Iterable
from struct import Struct

from runhold.domain.errors import InvalidCursor, InvalidLimit
from runhold.domain.limits import PAGE_LIMIT, PAGE_LIMIT_DEFAULT, PAGE_PAYLOAD_BYTES
from runhold.domain.values import Milliseconds, Run, RunStatus, Session, SessionStatus, StoredRecord, Value

Key = tuple[int, str]
"""A place in a list of sessions or runs: its time (or its place in a session's order of starts), then its id."""

_LAST_POSITION = 2**63 - 1
_RUN_CURSOR = re.compile(r"[1-9][0-9]{0,18}")
_LIMIT = re.compile(r"[0-9]+")
_OPAQUE = re.compile(r"[A-Za-z0-9_-]+")
_VERSION = b"\x01"
_TAG_BYTES = 12
_PLACE = Struct(">q")


class RecordQuery(Value, frozen=True):
    """One page of a list of records."""

    after: int = 0
    """The position where the last page ended, 0 from the start; with ``descending`` the page lies before it, 0 from the
    newest."""
    limit: int = PAGE_LIMIT_DEFAULT
    descending: bool = False
    types: tuple[str, ...] = ()
    """Any of these; none for every type."""
    turn_ids: tuple[str, ...] = ()
    summary: bool = False
    """Leave the payloads out and tell their sizes."""
    max_payload_bytes: int = PAGE_PAYLOAD_BYTES


class RecordPage(Value, frozen=True):
    """Records in the order asked for."""

    records: list[StoredRecord]
    payload_bytes: list[int]
    """The size of each record's payload; empty unless a summary was asked for."""
    has_more: bool
    end: int
    """The last position looked at, matching or not; the query's ``after`` when there was none to look at."""


class SessionQuery(Value, frozen=True):
    """One page of the sessions, by (created_at, session_id)."""

    statuses: tuple[SessionStatus, ...] = ()
    after: Key | None = None
    """(created_at, session_id) where the last page ended."""
    limit: int = PAGE_LIMIT_DEFAULT
    descending: bool = False


class SessionPage(Value, frozen=True):
    """Sessions in the order asked for."""

    sessions: list[Session]
    next_after: Key | None
    """Where the next page starts; None on the last."""


class RunQuery(Value, frozen=True):
    """One page of runs: all of them by (started_at, run_id), or a session's in the order of their starts."""

    statuses: tuple[RunStatus, ...] = ()
    after: Key | None = None
    """(started_at, run_id) where the last page ended; in a session's list (session_ordinal, run_id)."""
    limit: int = PAGE_LIMIT_DEFAULT
    descending: bool = False
    agent_id: str = ""
    session_id: str = ""
    parent_run_id: str = ""
    labels: tuple[tuple[str, str], ...] = ()
    """(name, value) pairs, all of which must be there."""
    started_after: Milliseconds | None = None
    """Inclusive."""
    started_before: Milliseconds | None = None
    """Exclusive."""


class RunPage(Value, frozen=True):
    """Runs in the order asked for."""

    runs: list[Run]
    next_after: Key | None
    """Where the next page starts; None on the last."""


def parse_limit(text: str) -> int:
    """Read how many entries a page may hold; ``""`` is the default, and more than the maximum is served as that.

    Raises:
        InvalidLimit: not a number, or less than 1.
    """
    if not text:
        return PAGE_LIMIT_DEFAULT
    digits = text.lstrip("0")
    if not _LIMIT.fullmatch(text) or not digits:
        raise InvalidLimit("limit must be a whole number from 1", limit=PAGE_LIMIT)
    return PAGE_LIMIT if len(digits) > 4 else min(int(digits), PAGE_LIMIT)


def parse_run_cursor(text: str) -> int:
    """Read the cursor of a run's records: a canonical position; ``""`` is 0.

    Raises:
        InvalidCursor: any other text.
    """
    if not text:
        return 0
    if not _RUN_CURSOR.fullmatch(text) or int(text) > _LAST_POSITION:
        raise InvalidCursor("the cursor of a run's records is the id of one")
    return int(text)


def run_cursor(position: int) -> str:
    """Write the cursor of a run's records; ``""`` for 0."""
    return str(position) if position else ""


def session_records_tag(namespace: str, session_id: str, query: RecordQuery) -> bytes:
    """Tag the cursors of a session's records: they belong to the session, the filter and the order."""
    return _tag(
        "session records",
        namespace,
        session_id,
        _order(query.descending),
        _set(query.types),
        _set(query.turn_ids),
    )


def sessions_tag(namespace: str, query: SessionQuery) -> bytes:
    """Tag the cursors of the list of sessions."""
    return _tag("sessions", namespace, _order(query.descending), _set(query.statuses))


def session_runs_tag(namespace: str, session_id: str, query: RunQuery) -> bytes:
    """Tag the cursors of a session's runs."""
    return _tag("session runs", namespace, session_id, _order(query.descending), _set(query.statuses))


def runs_tag(namespace: str, query: RunQuery) -> bytes:
    """Tag the cursors of the list of runs."""
    return _tag(
        "runs",
        namespace,
        _order(query.descending),
        _set(query.statuses),
        query.agent_id,
        query.session_id,
        query.parent_run_id,
        _set(_join(pair) for pair in query.labels),
        str(query.started_after),
        str(query.started_before),
    )


def position_cursor(position: int, tag: bytes) -> str:
    """Write an opaque cursor for a position; ``""`` for 0."""
    return _write(tag + _PLACE.pack(position)) if position else ""


def parse_position_cursor(text: str, tag: bytes) -> int:
    """Read an opaque cursor for a position; ``""`` is 0.

    Raises:
        InvalidCursor: not one of ours, or of another list, filter or order.
    """
    if not text:
        return 0
    place = _read(text, tag)
    if len(place) != _PLACE.size:
        raise _unknown()
    (position,) = _PLACE.unpack(place)
    if position < 1:
        raise _unknown()
    return int(position)


def key_cursor(key: Key | None, tag: bytes) -> str:
    """Write an opaque cursor for a place in a list of sessions or runs; ``""`` for None."""
    return _write(tag + _PLACE.pack(key[0]) + key[1].encode()) if key is not None else ""


def parse_key_cursor(text: str, tag: bytes) -> Key | None:
    """Read an opaque cursor for a place in a list of sessions or runs; ``""`` is None.

    Raises:
        InvalidCursor: not one of ours, or of another list, filter or order.
    """
    if not text:
        return None
    place = _read(text, tag)
    if len(place) <= _PLACE.size or b"\x00" in place[_PLACE.size :]:
        raise _unknown()
    try:
        return int(_PLACE.unpack_from(place)[0]), place[_PLACE.size :].decode()
    except UnicodeDecodeError:
        raise _unknown() from None


def _tag(*parts: str) -> bytes:
    return hashlib.sha256(_join(parts).encode()).digest()[:_TAG_BYTES]


def _join(parts: Iterable[str]) -> str:
    """Join texts so that no other list of texts reads the same."""
    return "".join(f"{len(part)}:{part}" for part in parts)


def _set(values: Iterable[str]) -> str:
    return _join(sorted(set(values)))


def _order(descending: bool) -> str:
    return "desc" if descending else "asc"


def _write(place: bytes) -> str:
    return urlsafe_b64encode(_VERSION + place).rstrip(b"=").decode()


def _read(text: str, tag: bytes) -> bytes:
    """Decode a canonical cursor and take its tag off."""
    if not _OPAQUE.fullmatch(text):
        raise _unknown()
    try:
        decoded = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (Base64Error, ValueError):
        raise _unknown() from None
    head = _VERSION + tag
    if decoded[: len(head)] != head or _write(decoded[1:]) != text:
        raise _unknown()
    return decoded[len(head) :]


def _unknown() -> InvalidCursor:
    return InvalidCursor("the cursor is not one of this list, filter and order")
