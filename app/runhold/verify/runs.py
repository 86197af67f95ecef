"""The invariants of one run and its records, as pure functions over what was read. Source: the storage contract."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from runhold.domain.digests import Digester, first_digest
from runhold.domain.json_text import json_fault
from runhold.domain.payloads import (
    CANCELLATION_INTENT,
    CHILD_RUN_LINKED,
    ENGINE_CANCELED,
    RUN_COMPLETED,
    RUN_STARTED,
    RUN_SUSPENDED,
    SESSION_ENDED,
    ChildRunLinked,
    PayloadError,
    RunCompleted,
    RunStarted,
    RunSuspended,
    decode_cancellation_intent,
    decode_child_run_linked,
    decode_run_completed,
    decode_run_started,
    decode_run_suspended,
)
from runhold.domain.values import Run, RunStatus, StartOutcome, StoredRecord, Value
from runhold.verify.findings import Finding, Rule

_ENDS = {RunStatus.COMPLETED: "success", RunStatus.FAILED: "failed", RunStatus.CANCELED: "canceled"}
Payload = RunStarted | ChildRunLinked | RunSuspended | RunCompleted | str
_DECODERS: dict[str, Callable[[str], Payload]] = {
    RUN_STARTED: decode_run_started,
    CHILD_RUN_LINKED: decode_child_run_linked,
    RUN_SUSPENDED: decode_run_suspended,
    RUN_COMPLETED: decode_run_completed,
    CANCELLATION_INTENT: decode_cancellation_intent,
}


class Link(Value, frozen=True):
    """A child run that a record of the log names."""

    position: int
    event_key: str
    child: ChildRunLinked


class RunCheck:
    """Judges the records of one run in the order of their positions; holds only what the run's own row is judged by.

    Args:
        namespace: whose run it is.
        run: its row.
        digester: of the key that the service uses.
    """

    def __init__(self, namespace: str, run: Run, digester: Digester) -> None:
        self._namespace = namespace
        self._run = run
        self._digester = digester
        self._previous = first_digest(namespace)
        self._position = 0
        self._reasons: list[str] = []
        self._ends: list[tuple[int, RunCompleted | RunSuspended]] = []
        self.links: list[Link] = []
        """Of the record that was taken last, to be held against the child runs."""
        self.mistaken_digests = 0

    def take(self, stored: StoredRecord, *, is_owned: bool, has_its_hash: bool) -> Iterator[Finding]:
        """Judge the next record.

        Args:
            stored: the record, with the ids of the run that it stands on.
            is_owned: whether its row names the session of that run.
            has_its_hash: whether the hash by which it is found is that of its event key.
        """
        if stored.position != self._position + 1:
            yield self._at(stored, Rule.POSITION, f"record {self._position + 1} is missing before it")
        if not is_owned:
            yield self._at(stored, Rule.OWNER, "it belongs to another session than its run")
        if not has_its_hash:
            yield self._at(stored, Rule.KEY_HASH, "it cannot be found by its event key")
        self._position = stored.position
        expected = self._digester.digest(
            self._previous, stored.record, stored.position, stored.session_position, stored.stored_at
        )
        self._previous = stored.digest
        if stored.digest != expected:
            self.mistaken_digests += 1
            detail = "the record, its place, or the record before it is not what was stored"
            yield self._at(stored, Rule.DIGEST, detail)
        self.links.clear()
        yield from self._take_payload(stored)

    def end(self, suspension_id: str | None) -> Iterator[Finding]:
        """Judge the run by all of its records and its checkpoint, whose id is None when there is none."""
        run = self._run
        if self._position != run.record_count:
            detail = f"the run counts {run.record_count} records, the last one is {self._position}"
            yield self._of_run(Rule.COUNT, detail)
        elif self._previous != run.head_digest:
            yield self._of_run(Rule.HEAD_DIGEST, "the run's head digest is not that of its last record")
        yield from self._end_status()
        yield from self._end_cancellation()
        if (suspension_id is not None) != (run.status is RunStatus.SUSPENDED):
            has = "holds a checkpoint" if suspension_id is not None else "holds no checkpoint"
            yield self._of_run(Rule.CHECKPOINT, f"it is {run.status} and {has}")
        for _, end in self._ends:
            if isinstance(end, RunSuspended) and suspension_id is not None and end.suspension_id != suspension_id:
                yield self._of_run(Rule.CHECKPOINT, "run_suspended names another checkpoint than the one that is kept")

    def _take_payload(self, stored: StoredRecord) -> Iterator[Finding]:
        record, run = stored.record, self._run
        fault = json_fault(record.payload)
        if fault is not None:
            yield self._at(stored, Rule.PAYLOAD, f"the payload {fault}")
            return
        decode = _DECODERS.get(record.type)
        if decode is None:
            if stored.position == 1:
                yield self._at(stored, Rule.START, "the first record must be run_started")
            return
        try:
            payload = decode(record.payload)
        except PayloadError as error:
            yield self._at(stored, Rule.PAYLOAD, f"the payload of {record.type} is wrong: {error}")
            return
        if (record.type == RUN_STARTED) != (stored.position == 1):
            yield self._at(stored, Rule.START, "run_started must be the first record and no other")
        match payload:
            case RunStarted():
                told = (payload.parent_run_id, payload.predecessor_run_id, payload.labels, record.timestamp)
                if told != (run.parent_run_id, run.predecessor_run_id, run.labels, run.started_at):
                    yield self._at(stored, Rule.START, "parent, predecessor, labels or time are not those of the run")
            case ChildRunLinked():
                self.links.append(Link(stored.position, record.event_key, payload))
            case RunCompleted() | RunSuspended():
                self._ends.append((stored.position, payload))
            case str():
                self._reasons.append(payload)

    def _end_status(self) -> Iterator[Finding]:
        run = self._run
        if len(self._ends) != run.status.is_terminal:
            yield self._of_run(Rule.STATUS, f"it is {run.status}, and {len(self._ends)} of its records end it")
            return
        for position, end in self._ends:
            if position != self._position:
                yield self._of_run(Rule.STATUS, f"records follow the one that ended it, {position}")
            match end:
                case RunSuspended() if run.status is not RunStatus.SUSPENDED:
                    yield self._of_run(Rule.STATUS, f"it is {run.status}, its last record suspends it")
                case RunCompleted():
                    if _ENDS.get(run.status) != end.status or end.phase != run.status:
                        yield self._of_run(Rule.STATUS, f"it is {run.status}, its last record says {end.status}")
                    if end.labels != run.labels:
                        yield self._of_run(Rule.LABELS, "the labels of run_completed are not the run's")
                case _:
                    pass

    def _end_cancellation(self) -> Iterator[Finding]:
        run = self._run
        said = next((end.reason for _, end in self._ends if isinstance(end, RunCompleted)), "")
        stored, intents = run.cancellation_reason, self._reasons
        stopped = run.start_outcome is StartOutcome.STOP
        if stopped:
            holds = run.status is RunStatus.CANCELED and not intents and stored == said == SESSION_ENDED
        else:
            asked = not intents if not stored else intents == [stored]
            ended = run.status is not RunStatus.CANCELED or said == (stored or ENGINE_CANCELED)
            holds = asked and ended
        if not holds:
            detail = "stored reason, cancellation record and run_completed are no combination that the contract has"
            yield self._of_run(Rule.CANCELLATION, detail)

    def _at(self, stored: StoredRecord, rule: Rule, detail: str) -> Finding:
        run = self._run
        return Finding(
            rule, detail, self._namespace, run.session_id, run.run_id, stored.position, stored.record.event_key
        )

    def _of_run(self, rule: Rule, detail: str) -> Finding:
        return Finding(rule, detail, self._namespace, self._run.session_id, self._run.run_id)


def check_link(namespace: str, parent: Run, link: Link, child: Run | None) -> Iterator[Finding]:
    """Judge a link on a parent's log by the run that it names, if there is one."""
    detail = ""
    if child is None:
        detail = "it names a child run that does not exist"
    elif (child.parent_run_id, child.session_id) != (parent.run_id, parent.session_id):
        detail = "the run it names has another parent or session"
    elif child.agent_id != link.child.child_agent_id:
        detail = "the run it names is of another agent"
    elif child.link_position != link.position:
        detail = "the run it names was linked by another record"
    if detail:
        yield Finding(Rule.LINK, detail, namespace, parent.session_id, parent.run_id, link.position, link.event_key)


def check_relatives(
    namespace: str, run: Run, parent: Run | None, linked_by: str, predecessor: Run | None
) -> Iterator[Finding]:
    """Judge a run by its parent and its predecessor.

    Args:
        namespace: whose run it is.
        run: the run.
        parent: the run that ``parent_run_id`` names, if there is one.
        linked_by: the type of the parent's record at ``link_position``, ``""`` without one.
        predecessor: the run that ``predecessor_run_id`` names, if there is one.
    """

    def of_run(rule: Rule, detail: str) -> Finding:
        return Finding(rule, detail, namespace, run.session_id, run.run_id)

    if run.parent_run_id:
        if parent is None:
            yield of_run(Rule.PARENT, "its parent does not exist")
        elif parent.session_id != run.session_id:
            yield of_run(Rule.PARENT, "its parent is of another session")
        elif linked_by != CHILD_RUN_LINKED:
            yield of_run(Rule.PARENT, f"record {run.link_position} of its parent is no link")
    if run.predecessor_run_id:
        same = ("session_id", "agent_id", "parent_run_id")
        if predecessor is None:
            yield of_run(Rule.PREDECESSOR, "its predecessor does not exist")
        elif predecessor.status is not RunStatus.SUSPENDED:
            yield of_run(Rule.PREDECESSOR, f"its predecessor is {predecessor.status}, not suspended")
        elif any(getattr(predecessor, name) != getattr(run, name) for name in same):
            yield of_run(Rule.PREDECESSOR, "its predecessor has another session, agent or parent")
