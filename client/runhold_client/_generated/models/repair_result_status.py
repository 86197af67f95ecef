from typing import Literal

RepairResultStatus = Literal["canceled", "completed", "failed", "running", "suspended"]

REPAIR_RESULT_STATUS_VALUES: set[RepairResultStatus] = {
    "canceled",
    "completed",
    "failed",
    "running",
    "suspended",
}


def check_repair_result_status(value: str) -> RepairResultStatus:
    if value in REPAIR_RESULT_STATUS_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {REPAIR_RESULT_STATUS_VALUES!r}")
