"""One table from command to function: the checks that need no state, and the decision over a working set."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from runhold.commands.appends import append_run_record
from runhold.commands.endings import (
    record_run_cancellation,
    record_run_suspension,
    record_run_terminal,
    repair_run_suspension,
    repair_run_terminal,
)
from runhold.commands.model import (
    AppendRunRecord,
    Command,
    CreateSession,
    EndSession,
    PurgeOneShotRun,
    PurgeSession,
    RecordRunCancellation,
    RecordRunSuspension,
    RecordRunTerminal,
    RepairRunSuspension,
    RepairRunTerminal,
    StartChildRun,
    StartOneShotChildRun,
    StartOneShotRun,
    StartRootRun,
)
from runhold.commands.sessions import create_session, end_session, purge_one_shot_run, purge_session
from runhold.commands.starts import start_child_run, start_one_shot_child_run, start_one_shot_run, start_root_run
from runhold.commands.working_set import WorkingSet
from runhold.domain.appends import validate_append
from runhold.domain.sessions import validate_create
from runhold.domain.starts import (
    validate_child_start,
    validate_one_shot_child_start,
    validate_one_shot_start,
    validate_root_start,
)
from runhold.domain.values import CommandResult


def validate(command: Command) -> None:
    """Check what a command says about itself, before any state is read.

    The other writing commands look for their run first, so their checks are part of ``execute``.

    Raises:
        ContractError: the first rule that it breaks.
    """
    match command:
        case AppendRunRecord(run_id, record):
            validate_append(run_id, record)
        case StartRootRun(run, started, canceled):
            validate_root_start(run, started, canceled)
        case StartChildRun(run, parent_linked, started, canceled):
            validate_child_start(run, parent_linked, started, canceled)
        case StartOneShotRun(run, started):
            validate_one_shot_start(run, started)
        case StartOneShotChildRun(run, parent_linked, started):
            validate_one_shot_child_start(run, parent_linked, started)
        case CreateSession(session_id, _):
            validate_create(session_id)
        case _:
            pass


_FUNCTIONS: dict[type[Command], Callable[[WorkingSet, Any], CommandResult]] = {
    AppendRunRecord: append_run_record,
    StartRootRun: start_root_run,
    StartChildRun: start_child_run,
    StartOneShotRun: start_one_shot_run,
    StartOneShotChildRun: start_one_shot_child_run,
    RecordRunCancellation: record_run_cancellation,
    RecordRunSuspension: record_run_suspension,
    RecordRunTerminal: record_run_terminal,
    RepairRunSuspension: repair_run_suspension,
    RepairRunTerminal: repair_run_terminal,
    CreateSession: create_session,
    EndSession: end_session,
    PurgeSession: purge_session,
    PurgeOneShotRun: purge_one_shot_run,
}


def execute(state: WorkingSet, command: Command) -> CommandResult:
    """Decide one command on the state that the commands before it left, and change that state.

    Raises:
        ContractError: it is refused, and nothing was changed.
    """
    return _FUNCTIONS[type(command)](state, command)
