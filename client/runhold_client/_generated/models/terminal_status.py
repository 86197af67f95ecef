from typing import Literal

TerminalStatus = Literal["canceled", "completed", "failed"]

TERMINAL_STATUS_VALUES: set[TerminalStatus] = {
    "canceled",
    "completed",
    "failed",
}


def check_terminal_status(value: str) -> TerminalStatus:
    if value in TERMINAL_STATUS_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {TERMINAL_STATUS_VALUES!r}")
