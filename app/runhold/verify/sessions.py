"""The invariants of a session over its runs, and of seals, as pure functions. Source: the storage contract."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from runhold.domain.values import Session, SessionStatus
from runhold.verify.findings import Finding, Rule


def check_session_positions(namespace: str, session: Session, positions: Iterable[int]) -> Iterator[Finding]:
    """Judge the positions of a session's records, given in their order, by the session's counter."""
    last = 0
    for position in positions:
        if position != last + 1:
            detail = f"place {last + 1} of the session's order is missing before {position}"
            yield Finding(Rule.SESSION_POSITION, detail, namespace, session.session_id)
        last = position
    if last != session.record_count:
        detail = f"the session counts {session.record_count} records, the last one is {last}"
        yield Finding(Rule.COUNT, detail, namespace, session.session_id)


def check_order_of_starts(namespace: str, session: Session, ordinals: Iterable[int]) -> Iterator[Finding]:
    """Judge the places of a session's runs in its order of starts, given in that order."""
    last = 0
    for ordinal in ordinals:
        if ordinal != last + 1:
            detail = f"start {last + 1} of the session is missing before {ordinal}"
            yield Finding(Rule.ORDER_OF_STARTS, detail, namespace, session.session_id)
        last = ordinal
    if last != session.run_count:
        detail = f"the session counts {session.run_count} starts, the last one is {last}"
        yield Finding(Rule.COUNT, detail, namespace, session.session_id)


def check_session_seal(namespace: str, session: Session, runs: int, records: int) -> Iterator[Finding]:
    """Judge what is left of a purged session: nothing but its row."""
    if session.status is SessionStatus.PURGED and (runs or records):
        detail = f"it was purged, and {runs} runs and {records} records are left"
        yield Finding(Rule.SEAL, detail, namespace, session.session_id)


def check_run_seal(namespace: str, run_id: str, left: int) -> Iterator[Finding]:
    """Judge what is left of a purged one-shot run: nothing but its row."""
    if left:
        yield Finding(Rule.SEAL, f"it was purged, and {left} rows of it are left", namespace, run_id=run_id)
