import datetime
from typing import Any

from ...models.list_runs_order import ListRunsOrder
from ...models.list_runs_status_item import (
    ListRunsStatusItem,
)
from ...types import UNSET, Unset


def request(
    *,
    status: list[ListRunsStatusItem] | Unset = UNSET,
    agent_id: str | Unset = UNSET,
    session_id: str | Unset = UNSET,
    parent_run_id: str | Unset = UNSET,
    label: list[str] | Unset = UNSET,
    started_after: datetime.datetime | Unset = UNSET,
    started_before: datetime.datetime | Unset = UNSET,
    cursor: str | Unset = UNSET,
    limit: int | Unset = 100,
    order: ListRunsOrder | Unset = "asc",
) -> dict[str, Any]:
    """List runs"""
    params: dict[str, Any] = {}

    json_status: list[str] | Unset = UNSET
    if not isinstance(status, Unset):
        json_status = []
        for status_item_data in status:
            status_item: str = status_item_data
            json_status.append(status_item)

    params["status"] = json_status

    params["agent_id"] = agent_id

    params["session_id"] = session_id

    params["parent_run_id"] = parent_run_id

    json_label: list[str] | Unset = UNSET
    if not isinstance(label, Unset):
        json_label = label

    params["label"] = json_label

    json_started_after: str | Unset = UNSET
    if not isinstance(started_after, Unset):
        json_started_after = started_after.isoformat()
    params["started_after"] = json_started_after

    json_started_before: str | Unset = UNSET
    if not isinstance(started_before, Unset):
        json_started_before = started_before.isoformat()
    params["started_before"] = json_started_before

    params["cursor"] = cursor

    params["limit"] = limit

    json_order: str | Unset = UNSET
    if not isinstance(order, Unset):
        json_order = order

    params["order"] = json_order

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    return {
        "method": "GET",
        "url": "/v1/runs",
        "params": params,
    }
