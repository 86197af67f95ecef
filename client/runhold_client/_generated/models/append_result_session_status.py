from typing import Literal

AppendResultSessionStatus = Literal["", "active", "ended"]

APPEND_RESULT_SESSION_STATUS_VALUES: set[AppendResultSessionStatus] = {
    "",
    "active",
    "ended",
}


def check_append_result_session_status(value: str) -> AppendResultSessionStatus:
    if value in APPEND_RESULT_SESSION_STATUS_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {APPEND_RESULT_SESSION_STATUS_VALUES!r}")
