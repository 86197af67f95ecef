from typing import Literal

ChildStartResultOutcome = Literal["proceed", "stop"]

CHILD_START_RESULT_OUTCOME_VALUES: set[ChildStartResultOutcome] = {
    "proceed",
    "stop",
}


def check_child_start_result_outcome(value: str) -> ChildStartResultOutcome:
    if value in CHILD_START_RESULT_OUTCOME_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CHILD_START_RESULT_OUTCOME_VALUES!r}")
