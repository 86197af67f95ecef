"""Query strings, strictly: known names only, single ones given once, text in UTF-8.

What they say beyond that, limits and cursors, is judged afterwards, in the contract's order. An empty value is an
absent one. Source: the storage contract, *HTTP*.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qsl

from runhold.domain.errors import InvalidCommand, size_members
from runhold.domain.fields import id_fault
from runhold.domain.limits import WAIT_MS
from runhold.domain.times import TimeError, parse_run_time
from runhold.domain.values import NO_TIME, Milliseconds, RunStatus, SessionStatus

PAGING = frozenset({"cursor", "limit", "order"})
RECORD_LIST = PAGING | {"type", "turn_id", "view", "wait_ms"}
SESSION_LIST = PAGING | {"status"}
SESSION_RUN_LIST = PAGING | {"status"}
RUN_LIST = PAGING | {
    "status",
    "agent_id",
    "session_id",
    "parent_run_id",
    "label",
    "started_after",
    "started_before",
}

_REPEATABLE = frozenset({"status", "label", "type", "turn_id"})
_MANY = 256
"""Values of one repeatable name."""

RUN_STATUSES = {status.value: status for status in RunStatus if status is not RunStatus.PURGED}
SESSION_STATUSES = {status.value: status for status in SessionStatus if status is not SessionStatus.PURGED}

_NOTHING: Mapping[str, list[str]] = {}


class Query:
    """The parameters of one request, by name."""

    __slots__ = ("_values",)

    def __init__(self, query_string: bytes, names: frozenset[str]) -> None:
        self._values = _read(query_string, names) if query_string else _NOTHING

    def text(self, name: str) -> str:
        """The value of a single name, ``""`` when absent."""
        values = self._values.get(name)
        return values[0] if values else ""

    def texts(self, name: str) -> tuple[str, ...]:
        """The values of a repeatable name."""
        return tuple(self._values.get(name, ()))

    def id(self, name: str) -> str:
        """An id to look for, ``""`` when absent. Raises: InvalidCommand when none could be spelled so."""
        return _checked_id(name, self.text(name))

    def ids(self, name: str) -> tuple[str, ...]:
        """Ids, any of which may match. Raises: InvalidCommand."""
        return tuple(_checked_id(name, value) for value in self.texts(name))

    @property
    def descending(self) -> bool:
        """Whether the newest comes first. Raises: InvalidCommand for another order."""
        return self._one_of("order", "asc", "desc") == "desc"

    @property
    def summary(self) -> bool:
        """Whether records come without payloads. Raises: InvalidCommand for another view."""
        return self._one_of("view", "full", "summary") == "summary"

    @property
    def wait_ms(self) -> int:
        """How long to wait for a first record. Raises: InvalidCommand when it is no number."""
        text = self.text("wait_ms")
        if not text:
            return 0
        if not (text.isascii() and text.isdigit()):
            raise InvalidCommand(f"wait_ms must be a whole number from 0 to {WAIT_MS}")
        return min(int(text[-9:]), WAIT_MS) if not text[:-9].strip("0") else WAIT_MS

    @property
    def run_statuses(self) -> tuple[RunStatus, ...]:
        """Statuses of runs, any of which may match. Raises: InvalidCommand for an unknown one."""
        return tuple(RUN_STATUSES[value] for value in self._statuses(RUN_STATUSES))

    @property
    def session_statuses(self) -> tuple[SessionStatus, ...]:
        """Statuses of sessions, any of which may match. Raises: InvalidCommand for an unknown one."""
        return tuple(SESSION_STATUSES[value] for value in self._statuses(SESSION_STATUSES))

    @property
    def labels(self) -> tuple[tuple[str, str], ...]:
        """Labels that must all be there, split at the first ``=``. Raises: InvalidCommand for one without."""
        found = []
        for label in self.texts("label"):
            name, equals, value = label.partition("=")
            if not equals:
                raise InvalidCommand("label must be name=value")
            found.append((name, value))
        return tuple(dict.fromkeys(found))

    def run_time(self, name: str) -> Milliseconds | None:
        """A bound on the time of a run, None when absent. Raises: InvalidCommand."""
        try:
            instant = parse_run_time(self.text(name))
        except TimeError as error:
            raise InvalidCommand(f"{name} {error}") from None
        return None if instant == NO_TIME else instant

    def _one_of(self, name: str, default: str, other: str) -> str:
        value = self.text(name) or default
        if value not in (default, other):
            raise InvalidCommand(f"{name} must be {default} or {other}")
        return value

    def _statuses(self, known: Mapping[str, object]) -> tuple[str, ...]:
        values = self.texts("status")
        if not known.keys() >= set(values):
            raise InvalidCommand(f"status must be one of {', '.join(known)}")
        return tuple(dict.fromkeys(values))


def check_no_query(query_string: bytes) -> None:
    """Check the query of an operation that takes none. Raises: InvalidCommand."""
    _read(query_string, frozenset())


def _read(query_string: bytes, names: frozenset[str]) -> Mapping[str, list[str]]:
    try:
        pairs = parse_qsl(query_string.decode("ascii"), keep_blank_values=True, errors="strict")
    except UnicodeDecodeError:
        raise InvalidCommand("the query is not percent-encoded UTF-8") from None
    found: dict[str, list[str]] = {}
    given: set[str] = set()
    for name, value in pairs:
        if name not in names:
            raise InvalidCommand(f"the query may hold only {', '.join(sorted(names)) or 'nothing'}")
        if name in given and name not in _REPEATABLE:
            raise InvalidCommand(f"{name} must not be given twice")
        given.add(name)
        if value:
            found.setdefault(name, []).append(value)
    for name, values in found.items():
        if len(values) > _MANY:
            raise InvalidCommand(f"{name} must be given at most {_MANY} times")
    return found


def _checked_id(name: str, value: str) -> str:
    fault = id_fault(value)
    if fault is not None:
        raise InvalidCommand(f"{name} {fault}", **size_members(fault))
    return value
