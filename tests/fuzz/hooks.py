"""What Schemathesis must be told beside the schema. Its configuration, which names this module, says the rest."""

from __future__ import annotations

from typing import Any

import schemathesis
from schemathesis import Case, HookContext

from tests.model import commands as make
from tests.model.model import Call

SESSION, RUN, ONE_SHOT = "fuzz session", "fuzz run", "fuzz/one-shot"
"""What the test creates before Schemathesis begins: an active session, and two running runs."""

_TIMES = ("created_at", "ended_at", "started_after", "started_before")
_STARTS = ("start_root_run", "start_child_run", "start_one_shot_run", "start_one_shot_child_run")


@schemathesis.hook
def filter_case(context: HookContext, case: Case[Any]) -> bool:
    """Leave out an optional time that is empty: it is an absent one, which the format date-time cannot say."""
    parts = [part for part in (case.body, case.query) if isinstance(part, dict)]
    return not any(part.get(name) in ("", [""]) for part in parts for name in _TIMES)


@schemathesis.hook
def before_call(context: HookContext, case: Case[Any], kwargs: dict[str, Any]) -> None:
    """Make every other valid command one that can succeed: its parts agree, and its session and parent are there.

    A schema can say what a record looks like, but not that it names the run of its command.
    """
    body, operation = case.body, case.operation.definition.raw.get("operationId")
    if case.meta is None or not case.meta.generation.mode.is_positive or not isinstance(body, dict):
        return
    if len(str(body)) % 2:
        return
    if operation in _STARTS and isinstance(body.get("run"), dict):
        case.body = _start(operation, body).body
    elif operation == "append_run_record":
        case.path_parameters = {"run_id": RUN}
        case.body = body | {"run_id": RUN, "agent_id": "agent", "session_id": SESSION, "type": "note"}
        case.body |= {"payload": '{"a":1}', "timestamp": make.T0, "event_key": body.get("event_key") or "k"}


def _start(operation: str, body: dict[str, Any]) -> Call:
    """A start of the same kind of a run of the same name, agent and labels."""
    run = body["run"]
    in_session, is_child = "one_shot" not in operation, "child" in operation
    return make.start(
        run["run_id"],
        run["agent_id"],
        SESSION if in_session else "",
        (RUN if in_session else ONE_SHOT) if is_child else "",
        labels=run.get("labels") or None,
    )
