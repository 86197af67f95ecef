from typing import Literal

ListSessionRunRecordsView = Literal["full", "summary"]

LIST_SESSION_RUN_RECORDS_VIEW_VALUES: set[ListSessionRunRecordsView] = {
    "full",
    "summary",
}


def check_list_session_run_records_view(value: str) -> ListSessionRunRecordsView:
    if value in LIST_SESSION_RUN_RECORDS_VIEW_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIST_SESSION_RUN_RECORDS_VIEW_VALUES!r}")
