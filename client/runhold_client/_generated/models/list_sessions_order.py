from typing import Literal

ListSessionsOrder = Literal["asc", "desc"]

LIST_SESSIONS_ORDER_VALUES: set[ListSessionsOrder] = {
    "asc",
    "desc",
}


def check_list_sessions_order(value: str) -> ListSessionsOrder:
    if value in LIST_SESSIONS_ORDER_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIST_SESSIONS_ORDER_VALUES!r}")
