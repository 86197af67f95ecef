from typing import Literal

RepairResultOutcome = Literal["already_stored", "different_terminal", "stored"]

REPAIR_RESULT_OUTCOME_VALUES: set[RepairResultOutcome] = {
    "already_stored",
    "different_terminal",
    "stored",
}


def check_repair_result_outcome(value: str) -> RepairResultOutcome:
    if value in REPAIR_RESULT_OUTCOME_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {REPAIR_RESULT_OUTCOME_VALUES!r}")
