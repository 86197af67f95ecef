"""Calls that must succeed, and lists read to their end."""

from __future__ import annotations

from typing import Any

from tests.model.model import Answer, Call
from tests.model.wire import Wire


def done(wire: Wire, *calls: Call) -> Any:
    """Make calls that all succeed. Returns the body of the last one's answer."""
    body = None
    for call in calls:
        answer = wire.call(call)
        assert answer.status in (200, 204), f"{call}: {answer}"
        body = answer.body
    return body


def refused(wire: Wire, call: Call, code: str) -> dict[str, Any]:
    """Make a call that is refused with this code. Returns the problem."""
    answer: Answer = wire.call(call)
    assert answer.code == code, f"{call}: {answer}"
    return dict(answer.body)


def listed(wire: Wire, operation: str, owner: str = "", **query: str) -> list[dict[str, Any]]:
    """All items of a list, read page by page; no page but the only one is empty."""
    items: list[dict[str, Any]] = []
    cursor = ""
    while True:
        page = done(wire, Call(operation, owner, (*query.items(), *((("cursor", cursor),) if cursor else ()))))
        found = page["records" if operation.endswith("records") else operation.removesuffix("_by_session")[5:]]
        assert found or not cursor, "a page that follows another is empty"
        items += found
        cursor = page["next_cursor"]
        if not cursor:
            return items
