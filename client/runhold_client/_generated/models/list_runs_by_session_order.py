from typing import Literal

ListRunsBySessionOrder = Literal["asc", "desc"]

LIST_RUNS_BY_SESSION_ORDER_VALUES: set[ListRunsBySessionOrder] = {
    "asc",
    "desc",
}


def check_list_runs_by_session_order(value: str) -> ListRunsBySessionOrder:
    if value in LIST_RUNS_BY_SESSION_ORDER_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIST_RUNS_BY_SESSION_ORDER_VALUES!r}")
