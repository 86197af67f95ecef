from typing import Literal

RunMetaStartOutcome = Literal["proceed", "stop"]

RUN_META_START_OUTCOME_VALUES: set[RunMetaStartOutcome] = {
    "proceed",
    "stop",
}


def check_run_meta_start_outcome(value: str) -> RunMetaStartOutcome:
    if value in RUN_META_START_OUTCOME_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {RUN_META_START_OUTCOME_VALUES!r}")
