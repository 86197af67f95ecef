from typing import Literal

CommandItemOperation = Literal[
    "append_run_record",
    "record_run_cancellation",
    "record_run_suspension",
    "record_run_terminal",
    "repair_run_suspension",
    "repair_run_terminal",
    "start_child_run",
    "start_one_shot_child_run",
    "start_one_shot_run",
    "start_root_run",
]

COMMAND_ITEM_OPERATION_VALUES: set[CommandItemOperation] = {
    "append_run_record",
    "record_run_cancellation",
    "record_run_suspension",
    "record_run_terminal",
    "repair_run_suspension",
    "repair_run_terminal",
    "start_child_run",
    "start_one_shot_child_run",
    "start_one_shot_run",
    "start_root_run",
}


def check_command_item_operation(value: str) -> CommandItemOperation:
    if value in COMMAND_ITEM_OPERATION_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {COMMAND_ITEM_OPERATION_VALUES!r}")
