from typing import Any
from urllib.parse import quote

from ...models.list_session_run_records_order import (
    ListSessionRunRecordsOrder,
)
from ...models.list_session_run_records_view import (
    ListSessionRunRecordsView,
)
from ...types import UNSET, Unset


def request(
    session_id: str,
    *,
    cursor: str | Unset = UNSET,
    limit: int | Unset = 100,
    order: ListSessionRunRecordsOrder | Unset = "asc",
    type_: list[str] | Unset = UNSET,
    turn_id: list[str] | Unset = UNSET,
    view: ListSessionRunRecordsView | Unset = "full",
    wait_ms: int | Unset = 0,
) -> dict[str, Any]:
    """List a session's records"""
    params: dict[str, Any] = {}

    params["cursor"] = cursor

    params["limit"] = limit

    json_order: str | Unset = UNSET
    if not isinstance(order, Unset):
        json_order = order

    params["order"] = json_order

    json_type_: list[str] | Unset = UNSET
    if not isinstance(type_, Unset):
        json_type_ = type_

    params["type"] = json_type_

    json_turn_id: list[str] | Unset = UNSET
    if not isinstance(turn_id, Unset):
        json_turn_id = turn_id

    params["turn_id"] = json_turn_id

    json_view: str | Unset = UNSET
    if not isinstance(view, Unset):
        json_view = view

    params["view"] = json_view

    params["wait_ms"] = wait_ms

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    return {
        "method": "GET",
        "url": "/v1/sessions/{session_id}/records".format(
            session_id=quote(str(session_id), safe=""),
        ),
        "params": params,
    }
