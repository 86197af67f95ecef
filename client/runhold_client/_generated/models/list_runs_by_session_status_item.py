from typing import Literal

ListRunsBySessionStatusItem = Literal["canceled", "completed", "failed", "running", "suspended"]

LIST_RUNS_BY_SESSION_STATUS_ITEM_VALUES: set[ListRunsBySessionStatusItem] = {
    "canceled",
    "completed",
    "failed",
    "running",
    "suspended",
}


def check_list_runs_by_session_status_item(value: str) -> ListRunsBySessionStatusItem:
    if value in LIST_RUNS_BY_SESSION_STATUS_ITEM_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIST_RUNS_BY_SESSION_STATUS_ITEM_VALUES!r}")
