from typing import Literal

ListSessionsStatusItem = Literal["active", "ended"]

LIST_SESSIONS_STATUS_ITEM_VALUES: set[ListSessionsStatusItem] = {
    "active",
    "ended",
}


def check_list_sessions_status_item(value: str) -> ListSessionsStatusItem:
    if value in LIST_SESSIONS_STATUS_ITEM_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIST_SESSIONS_STATUS_ITEM_VALUES!r}")
