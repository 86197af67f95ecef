from typing import Literal

RootStartResultOutcome = Literal["proceed", "stop"]

ROOT_START_RESULT_OUTCOME_VALUES: set[RootStartResultOutcome] = {
    "proceed",
    "stop",
}


def check_root_start_result_outcome(value: str) -> RootStartResultOutcome:
    if value in ROOT_START_RESULT_OUTCOME_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {ROOT_START_RESULT_OUTCOME_VALUES!r}")
