"""What one opening of a run knows of it: the records that are stored, and those that have no answer yet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

from runhold_client.errors import EventConflict, RunNotActive
from runhold_client.recorder.errors import RecorderClosed, RecorderConflict, StepMismatch, StepUnderWay
from runhold_client.recorder.payloads import RUN_COMPLETED, RUN_SUSPENDED
from runhold_client.types import RunRecord, RunStart, StartOutcome, StoredRecord

Clock = Callable[[], datetime]
"""Answers the present instant; parts finer than a millisecond are cut."""


def system_clock() -> datetime:
    """The present instant, UTC."""
    return datetime.now(UTC)


@dataclass
class RunLog:
    """The log of one run, as one recorder sees it. It does no I/O."""

    start: RunStart
    clock: Clock
    turn_id: str = ""
    """The turn of new records that name none."""
    outcome: StartOutcome = StartOutcome.PROCEED
    _stored: dict[str, tuple[int, RunRecord]] = field(default_factory=dict)
    _drafts: dict[str, RunRecord] = field(default_factory=dict)
    _under_way: set[str] = field(default_factory=set)
    _ending: RunRecord | None = None
    _conflict: RecorderConflict | None = None
    _closed: bool = False

    # --------------------------------------------------------------------------------------------------- what is stored

    def add(self, position: str, record: RunRecord) -> None:
        """Remember a record that the store acknowledged, by its position."""
        self._stored[record.event_key] = (int(position), record)
        self._drafts.pop(record.event_key, None)
        if record.type in (RUN_COMPLETED, RUN_SUSPENDED):
            self._ending = record

    def add_all(self, records: Iterable[StoredRecord]) -> None:
        """Remember records that were read."""
        for stored in records:
            self.add(stored.id, stored.record)

    def find(self, event_key: str) -> RunRecord | None:
        """The record stored under a key."""
        entry = self._stored.get(event_key)
        return entry and entry[1]

    def find_type(self, record_type: str) -> RunRecord | None:
        """The first record of a type."""
        return next((record for record in self.records if record.type == record_type), None)

    @property
    def records(self) -> tuple[RunRecord, ...]:
        """All records that are known to be stored, in their order."""
        return tuple(record for _, record in sorted(self._stored.values(), key=lambda entry: entry[0]))

    @property
    def ending(self) -> RunRecord | None:
        """The record that stopped the run, if one did."""
        return self._ending

    # ------------------------------------------------------------------------------------------------------ new records

    def draft(self, event_key: str, record_type: str, payload: str, turn_id: str | None = None) -> RunRecord:
        """The record to send under a key: what is stored or was sent already lends its time and turn."""
        known = self.find(event_key) or self._drafts.get(event_key)
        record = RunRecord(
            event_key=event_key,
            run_id=self.start.run_id,
            agent_id=self.start.agent_id,
            type=record_type,
            payload=payload,
            timestamp=known.timestamp if known else self.now(),
            session_id=self.start.session_id,
            turn_id=known.turn_id if known else self.turn_id if turn_id is None else turn_id,
        )
        self._drafts[event_key] = record
        return record

    def unanswered(self, event_key: str) -> RunRecord | None:
        """The record that was sent under a key and may be stored or not; sending the very same settles it."""
        return self._drafts.get(event_key)

    def forget(self, event_key: str) -> None:
        """Drop a record that the store refused."""
        self._drafts.pop(event_key, None)

    def now(self) -> datetime:
        """The present instant in whole milliseconds."""
        instant = self.clock()
        return instant.replace(microsecond=instant.microsecond // 1000 * 1000)

    # ------------------------------------------------------------------------------------------------- what may be done

    def check_usable(self, event_key: str = "") -> None:
        """Refuse any use of a run that was left, or that another recorder writes.

        Raises: RecorderClosed, RecorderConflict.
        """
        if self._closed:
            raise RecorderClosed("the run was left", run_id=self.start.run_id, event_key=event_key)
        if self._conflict is not None:
            raise self._conflict

    def check_active(self, event_key: str) -> None:
        """Refuse new work for a run that has stopped, before any of it is done.

        Raises: RunNotActive, and what ``check_usable`` raises.
        """
        self.check_usable(event_key)
        ending = self.ending
        if ending is not None:
            raise RunNotActive(f"run {self.start.run_id!r} has stopped ({ending.type})")

    def check_same(self, stored: RunRecord, record_type: str, payload: str, turn_id: str | None) -> None:
        """Refuse a fact that differs from what its key holds. Raises: EventConflict, as the store would."""
        differs = [
            name for name, value in (("type", record_type), ("payload", payload)) if getattr(stored, name) != value
        ]
        if turn_id is not None and turn_id != stored.turn_id:
            differs.append("turn_id")
        if differs:
            raise EventConflict(
                f"event key {stored.event_key!r} of run {stored.run_id!r} holds another record",
                problem={"run_id": stored.run_id, "event_key": stored.event_key, "differs": differs},
            )

    def mismatch(self, stored: RunRecord, detail: str) -> StepMismatch:
        """The error of a stored step that does not fit the code."""
        return StepMismatch(
            f"step {stored.event_key!r} of run {stored.run_id!r} {detail}",
            run_id=stored.run_id,
            event_key=stored.event_key,
        )

    def taken_over(self, event_key: str) -> RecorderConflict:
        """Note that another recorder writes the run; from now on this one is refused everything."""
        self._conflict = RecorderConflict(
            f"another recorder has written {event_key!r} to run {self.start.run_id!r} since this one read it",
            run_id=self.start.run_id,
            event_key=event_key,
        )
        return self._conflict

    @contextmanager
    def under_way(self, event_key: str) -> Iterator[None]:
        """Keep a step from being run twice at once. Raises: StepUnderWay."""
        if event_key in self._under_way:
            raise StepUnderWay(
                f"step {event_key!r} of run {self.start.run_id!r} is running already",
                run_id=self.start.run_id,
                event_key=event_key,
            )
        self._under_way.add(event_key)
        try:
            yield
        finally:
            self._under_way.discard(event_key)

    def close(self) -> None:
        """Refuse everything from now on."""
        self._closed = True
