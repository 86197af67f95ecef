"""Pages of records, apart from any database: which rows belong to one, and where it ends."""

from __future__ import annotations

from collections.abc import Iterable

from runhold.domain.paging import RecordPage, RecordQuery
from runhold.domain.values import RunRecord, StoredRecord
from runhold.store.rows import Row

LAST = 2**63 - 1
"""No position lies behind it."""


def bound(query: RecordQuery) -> int:
    """The position that the page starts after, or, descending, before."""
    return (query.after or LAST) if query.descending else query.after


def fitting(sizes: Iterable[tuple[int, int]], query: RecordQuery) -> tuple[int, int, bool]:
    """Choose how much of the rows that follow makes a page.

    Args:
        sizes: (position, payload bytes) in the page's order, up to one more than the limit.
        query: how much it may hold; in a summary payloads take no room.

    Returns:
        How many rows, the position of the last, and whether more follow.
    """
    count = last = total = 0
    for position, size in sizes:
        total += 0 if query.summary else size
        if count == query.limit or (count and total > query.max_payload_bytes):
            return count, last, True
        count, last = count + 1, position
    return count, last, False


def record_page(
    records: list[StoredRecord], payload_bytes: list[int], query: RecordQuery, *, last: int, has_more: bool, head: int
) -> RecordPage:
    """Build a page.

    Args:
        records: what it holds.
        payload_bytes: their sizes, for a summary.
        query: what was asked for.
        last: the position of the last one, 0 of none.
        has_more: whether matching records follow.
        head: the position of the newest record of the list, matching or not, in the same snapshot.
    """
    if has_more:
        end = last
    elif query.descending:
        # Looked at down to the first one.
        end = 1 if head else query.after
    else:
        end = max(query.after, head)
    return RecordPage(records, payload_bytes, has_more, end)


def stored_record(row: Row, run_id: str, agent_id: str, session_id: str, payload: str) -> StoredRecord:
    """Build a record from (position, session_position, timestamp, stored_at, digest, event_key, turn_id, type, …)."""
    return StoredRecord(
        RunRecord(row[5], run_id, agent_id, session_id, row[6], row[7], payload, row[2]),
        row[0],
        row[1] or 0,
        row[3],
        row[4],
    )
