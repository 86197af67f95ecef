"""The model's door: `Model().call(operation, {path ids, query, body}) -> Answer(status, body)`.

A refused command leaves nothing behind. What only the service knows (its clock, its digests) is `Unknown`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from tests.model import endings, lists, sessions, starts
from tests.model.lists import NAMES, Between, Query
from tests.model.shapes import BODY, read_body
from tests.model.state import State, Unknown
from tests.model.values import STATUS_OF, Obj, Refused, as_written, decode_body, identifier, invalid, is_text

IN_A_SESSION_PATH = (
    "load_session",
    "purge_session",
    "end_session",
    "load_session_status",
    "list_runs_by_session",
    "list_session_run_records",
)
STARTS = ("start_root_run", "start_child_run", "start_one_shot_run", "start_one_shot_child_run")
ON_A_RUN = {
    "append_run_record": endings.append,
    "record_run_cancellation": endings.cancel,
    "record_run_suspension": endings.suspend,
    "record_run_terminal": endings.end,
    "repair_run_suspension": endings.repair_suspension,
    "repair_run_terminal": endings.repair_terminal,
}
COMMANDS = (*STARTS, *ON_A_RUN)
"""The ten writing worker commands, which `run_commands` may carry."""
IN_A_RUN_PATH = (*ON_A_RUN, "load_run", "load_run_suspension", "purge_one_shot_run", "list_run_records")
OPERATIONS = (
    "create_session",
    "list_sessions",
    "list_runs",
    "run_commands",
    *IN_A_SESSION_PATH,
    *STARTS,
    *IN_A_RUN_PATH,
)
MOST_COMMANDS = 256

_VALIDATE = {
    "start_root_run": starts.validate_root,
    "start_child_run": starts.validate_child,
    "start_one_shot_run": starts.validate_one_shot,
    "start_one_shot_child_run": starts.validate_one_shot_child,
}


@dataclass(frozen=True)
class Answer:
    status: int
    body: Any
    """The result, or of a problem the members that the contract fixes."""

    @property
    def code(self) -> str:
        return "" if self.status < 300 else str(self.body["code"])


@dataclass(frozen=True)
class Call:
    """One call: the id in its path (if the operation has one), its query, its body (if it has one)."""

    operation: str
    path: str = ""
    query: tuple[tuple[str, Any], ...] = ()
    body: Any = None


class Model:
    """One namespace of the store.

    `now` is what the service's clock said when a session is created or ended without a time, in microseconds since
    year 1; whoever compares sets it from the service's answer.
    """

    def __init__(self, state: State | None = None, now: int = 1) -> None:
        self.state = state or State()
        self.now = now

    def copy(self) -> Model:
        return Model(self.state.copy(), self.now)

    def call(self, operation: str, path: str = "", query: Query = (), body: Any = None) -> Answer:
        """Answer one call whose body is given as a Python value; None stands for a body that was not sent."""
        return self._answer(operation, path, query, as_written(body) if body is not None else None)

    def call_raw(self, operation: str, path: str = "", query: Query = (), body: bytes = b"") -> Answer:
        """Answer one call whose body is given as the bytes sent."""
        try:
            decoded = None if operation == "end_session" and not body else decode_body(body)
        except Refused as refused:
            return _problem(refused)
        return self._answer(operation, path, query, decoded)

    def _answer(self, operation: str, path: str, query: Query, body: Any) -> Answer:
        try:
            identifier(path)
            return self._perform(operation, path, query, body)
        except Refused as refused:
            return _problem(refused)

    def _perform(self, operation: str, path: str, query: Query, body: Any) -> Answer:
        state = self.state
        if operation in NAMES:
            return Answer(200, lists.run_list(state, lists.read_query(operation, path, query)))
        if query:
            raise invalid("unknown query name")
        match operation:
            case "purge_session":
                sessions.purge(state, path)
                return Answer(204, None)
            case "purge_one_shot_run":
                sessions.purge_tree(state, path)
                return Answer(204, None)
            case "load_run" | "load_run_suspension" | "load_session" | "load_session_status":
                return Answer(200, _load(state, operation, path))
            case "run_commands":
                return Answer(200, {"results": [self._item(item) for item in _frame(body)]})
            case "create_session":
                return Answer(200, sessions.create(state, read_body(operation, body), self.now))
            case "end_session":
                return Answer(
                    200, sessions.end(state, path, read_body(operation, Obj() if body is None else body), self.now)
                )
        return Answer(200, self._command(operation, path, body))

    def _command(self, operation: str, path: str, body: Any) -> dict[str, Any]:
        read = read_body(operation, body)
        if operation in ON_A_RUN:
            return ON_A_RUN[operation](self.state, path, read)
        _VALIDATE[operation](read)
        start = starts.start_in_session if "canceled" in BODY[operation] else starts.start_one_shot
        return start(self.state, read)

    def _item(self, item: dict[str, Any]) -> dict[str, Any]:
        try:
            operation = item.get("operation")
            if not is_text(operation) or operation not in COMMANDS:
                raise invalid("not a command")
            if ("run_id" in item) != (operation in ON_A_RUN):
                raise invalid("run_id only where the single call has it in its path")
            run_id = item.get("run_id", "")
            if not is_text(run_id):
                raise invalid("run_id is not text")
            return {"status": 200, "body": self._command(str(operation), identifier(run_id), item.get("body"))}
        except Refused as refused:
            problem = _problem(refused)
            return {"status": problem.status, "problem": problem.body}


def _load(state: State, operation: str, path: str) -> dict[str, Any]:
    if operation == "load_session":
        return state.session(path).document()
    if operation == "load_session_status":
        return {"status": state.session(path).status}
    run = state.run(path)
    if operation == "load_run":
        return run.document()
    if run.suspension is None:
        raise Refused("run_suspension_not_found")
    return run.suspension.document()


def _frame(body: Any) -> list[dict[str, Any]]:
    members = body.unique() if isinstance(body, Obj) else {}
    items = members.get("commands")
    if set(members) != {"commands"} or not isinstance(items, list) or not 1 <= len(items) <= MOST_COMMANDS:
        raise invalid("not a frame of 1 to 256 commands")
    found = []
    for item in items:
        if not isinstance(item, Obj):
            raise invalid("an item that is not an object")
        found.append(item.unique())
        if not set(item.names) <= {"operation", "run_id", "body"}:
            raise invalid("an unknown name in an item")
    return found


def _problem(refused: Refused) -> Answer:
    status = STATUS_OF[refused.code]
    return Answer(status, {"code": refused.code, "status": status, "permanent": True} | refused.extra)


def disagreement(want: Any, got: Any, where: str = "") -> str | None:
    """Where an answer differs from the model's, or None. Members the model does not name are free only in problems."""
    match want:
        case Unknown():
            fits = isinstance(got, str) and re.fullmatch(want.pattern, got)
            return None if fits else f"{where}: want {want}, got {got!r}"
        case lists.Cursor():
            return None if isinstance(got, str) and got else f"{where}: want a cursor, got {got!r}"
        case Between():
            return None if want.holds(got) else f"{where}: want {want}, got {got!r}"
        case dict():
            free = "permanent" in want
            if not isinstance(got, dict) or (want.keys() - got.keys() if free else want.keys() != got.keys()):
                return f"{where}: want members {sorted(want)}, got {got!r}"
            for name, value in want.items():
                if name == "differs":
                    if sorted(value) != sorted(got[name]):
                        return f"{where}.differs: want {value}, got {got[name]!r}"
                elif found := disagreement(value, got[name], f"{where}.{name}"):
                    return found
            return None
        case list():
            if not isinstance(got, list) or len(got) != len(want):
                return f"{where}: want {len(want)} items, got {got!r}"
            pairs = enumerate(zip(want, got, strict=True))
            return next((found for i, (w, g) in pairs if (found := disagreement(w, g, f"{where}[{i}]"))), None)
    return None if want == got and type(want) is type(got) else f"{where}: want {want!r}, got {got!r}"


def compare(want: Answer, got: Answer) -> str | None:
    """Where a service's answer differs from the model's, or None."""
    if want.status != got.status:
        return f"want {want.status} {want.code or want.body}, got {got.status} {got.body!r}"
    return disagreement(want.body, got.body)
