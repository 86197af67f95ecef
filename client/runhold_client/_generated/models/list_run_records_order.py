from typing import Literal

ListRunRecordsOrder = Literal["asc", "desc"]

LIST_RUN_RECORDS_ORDER_VALUES: set[ListRunRecordsOrder] = {
    "asc",
    "desc",
}


def check_list_run_records_order(value: str) -> ListRunRecordsOrder:
    if value in LIST_RUN_RECORDS_ORDER_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIST_RUN_RECORDS_ORDER_VALUES!r}")
