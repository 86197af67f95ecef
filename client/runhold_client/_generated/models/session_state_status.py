from typing import Literal

SessionStateStatus = Literal["active", "ended"]

SESSION_STATE_STATUS_VALUES: set[SessionStateStatus] = {
    "active",
    "ended",
}


def check_session_state_status(value: str) -> SessionStateStatus:
    if value in SESSION_STATE_STATUS_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {SESSION_STATE_STATUS_VALUES!r}")
