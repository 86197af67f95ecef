from typing import Literal

ListRunsStatusItem = Literal["canceled", "completed", "failed", "running", "suspended"]

LIST_RUNS_STATUS_ITEM_VALUES: set[ListRunsStatusItem] = {
    "canceled",
    "completed",
    "failed",
    "running",
    "suspended",
}


def check_list_runs_status_item(value: str) -> ListRunsStatusItem:
    if value in LIST_RUNS_STATUS_ITEM_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIST_RUNS_STATUS_ITEM_VALUES!r}")
