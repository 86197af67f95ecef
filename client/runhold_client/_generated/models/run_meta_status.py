from typing import Literal

RunMetaStatus = Literal["canceled", "completed", "failed", "running", "suspended"]

RUN_META_STATUS_VALUES: set[RunMetaStatus] = {
    "canceled",
    "completed",
    "failed",
    "running",
    "suspended",
}


def check_run_meta_status(value: str) -> RunMetaStatus:
    if value in RUN_META_STATUS_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {RUN_META_STATUS_VALUES!r}")
