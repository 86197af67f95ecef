"""Contains all the data models used in inputs/outputs"""

from .append_result import AppendResult
from .append_result_session_status import AppendResultSessionStatus
from .cancellation import Cancellation
from .checkpoint import Checkpoint
from .child_start import ChildStart
from .child_start_result import ChildStartResult
from .child_start_result_outcome import ChildStartResultOutcome
from .command_item import CommandItem
from .command_item_body import CommandItemBody
from .command_item_operation import CommandItemOperation
from .command_result import CommandResult
from .command_result_body import CommandResultBody
from .command_results import CommandResults
from .commands_body import CommandsBody
from .field_fault import FieldFault
from .list_run_records_order import ListRunRecordsOrder
from .list_run_records_view import ListRunRecordsView
from .list_runs_by_session_order import ListRunsBySessionOrder
from .list_runs_by_session_status_item import ListRunsBySessionStatusItem
from .list_runs_order import ListRunsOrder
from .list_runs_status_item import ListRunsStatusItem
from .list_session_run_records_order import ListSessionRunRecordsOrder
from .list_session_run_records_view import ListSessionRunRecordsView
from .list_sessions_order import ListSessionsOrder
from .list_sessions_status_item import ListSessionsStatusItem
from .new_session import NewSession
from .one_shot_child_start import OneShotChildStart
from .one_shot_child_start_result import OneShotChildStartResult
from .one_shot_start import OneShotStart
from .one_shot_start_result import OneShotStartResult
from .problem import Problem
from .record_page import RecordPage
from .repair_result import RepairResult
from .repair_result_outcome import RepairResultOutcome
from .repair_result_status import RepairResultStatus
from .root_start import RootStart
from .root_start_result import RootStartResult
from .root_start_result_outcome import RootStartResultOutcome
from .run_meta import RunMeta
from .run_meta_labels import RunMetaLabels
from .run_meta_start_outcome import RunMetaStartOutcome
from .run_meta_status import RunMetaStatus
from .run_page import RunPage
from .run_record import RunRecord
from .run_start import RunStart
from .run_start_labels_type_0 import RunStartLabelsType0
from .run_suspension import RunSuspension
from .session import Session
from .session_end import SessionEnd
from .session_page import SessionPage
from .session_state import SessionState
from .session_state_status import SessionStateStatus
from .session_status import SessionStatus
from .stored_record import StoredRecord
from .suspension_body import SuspensionBody
from .terminal import Terminal
from .terminal_status import TerminalStatus

__all__ = (
    "AppendResult",
    "AppendResultSessionStatus",
    "Cancellation",
    "Checkpoint",
    "ChildStart",
    "ChildStartResult",
    "ChildStartResultOutcome",
    "CommandItem",
    "CommandItemBody",
    "CommandItemOperation",
    "CommandResult",
    "CommandResultBody",
    "CommandResults",
    "CommandsBody",
    "FieldFault",
    "ListRunRecordsOrder",
    "ListRunRecordsView",
    "ListRunsBySessionOrder",
    "ListRunsBySessionStatusItem",
    "ListRunsOrder",
    "ListRunsStatusItem",
    "ListSessionRunRecordsOrder",
    "ListSessionRunRecordsView",
    "ListSessionsOrder",
    "ListSessionsStatusItem",
    "NewSession",
    "OneShotChildStart",
    "OneShotChildStartResult",
    "OneShotStart",
    "OneShotStartResult",
    "Problem",
    "RecordPage",
    "RepairResult",
    "RepairResultOutcome",
    "RepairResultStatus",
    "RootStart",
    "RootStartResult",
    "RootStartResultOutcome",
    "RunMeta",
    "RunMetaLabels",
    "RunMetaStartOutcome",
    "RunMetaStatus",
    "RunPage",
    "RunRecord",
    "RunStart",
    "RunStartLabelsType0",
    "RunSuspension",
    "Session",
    "SessionEnd",
    "SessionPage",
    "SessionState",
    "SessionStateStatus",
    "SessionStatus",
    "StoredRecord",
    "SuspensionBody",
    "Terminal",
    "TerminalStatus",
)
