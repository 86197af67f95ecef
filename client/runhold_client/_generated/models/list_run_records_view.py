from typing import Literal

ListRunRecordsView = Literal["full", "summary"]

LIST_RUN_RECORDS_VIEW_VALUES: set[ListRunRecordsView] = {
    "full",
    "summary",
}


def check_list_run_records_view(value: str) -> ListRunRecordsView:
    if value in LIST_RUN_RECORDS_VIEW_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIST_RUN_RECORDS_VIEW_VALUES!r}")
