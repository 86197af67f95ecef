from typing import Any

from ...models.list_sessions_order import ListSessionsOrder
from ...models.list_sessions_status_item import (
    ListSessionsStatusItem,
)
from ...types import UNSET, Unset


def request(
    *,
    status: list[ListSessionsStatusItem] | Unset = UNSET,
    cursor: str | Unset = UNSET,
    limit: int | Unset = 100,
    order: ListSessionsOrder | Unset = "asc",
) -> dict[str, Any]:
    """List sessions"""
    params: dict[str, Any] = {}

    json_status: list[str] | Unset = UNSET
    if not isinstance(status, Unset):
        json_status = []
        for status_item_data in status:
            status_item: str = status_item_data
            json_status.append(status_item)

    params["status"] = json_status

    params["cursor"] = cursor

    params["limit"] = limit

    json_order: str | Unset = UNSET
    if not isinstance(order, Unset):
        json_order = order

    params["order"] = json_order

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    return {
        "method": "GET",
        "url": "/v1/sessions",
        "params": params,
    }
