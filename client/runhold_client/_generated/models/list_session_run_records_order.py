from typing import Literal

ListSessionRunRecordsOrder = Literal["asc", "desc"]

LIST_SESSION_RUN_RECORDS_ORDER_VALUES: set[ListSessionRunRecordsOrder] = {
    "asc",
    "desc",
}


def check_list_session_run_records_order(value: str) -> ListSessionRunRecordsOrder:
    if value in LIST_SESSION_RUN_RECORDS_ORDER_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIST_SESSION_RUN_RECORDS_ORDER_VALUES!r}")
