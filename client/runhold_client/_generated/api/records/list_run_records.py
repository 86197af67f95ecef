from typing import Any
from urllib.parse import quote

from ...models.list_run_records_order import (
    ListRunRecordsOrder,
)
from ...models.list_run_records_view import (
    ListRunRecordsView,
)
from ...types import UNSET, Unset


def request(
    run_id: str,
    *,
    cursor: str | Unset = UNSET,
    limit: int | Unset = 100,
    order: ListRunRecordsOrder | Unset = "asc",
    type_: list[str] | Unset = UNSET,
    turn_id: list[str] | Unset = UNSET,
    view: ListRunRecordsView | Unset = "full",
    wait_ms: int | Unset = 0,
) -> dict[str, Any]:
    """List a run's records"""
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
        "url": "/v1/runs/{run_id}/records".format(
            run_id=quote(str(run_id), safe=""),
        ),
        "params": params,
    }
