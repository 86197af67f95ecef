"""Mistakes in starting runs."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from runhold.commands.model import StartRootRun
from runhold.domain.errors import ContinuationConflict
from runhold.domain.values import RunStatus, Session, SessionStatus, StartOutcome
from tests.model.seeded_bugs.bug import Catalogue

CATALOGUE = Catalogue()
seed = CATALOGUE.seed


@seed("a retried start is compared without its labels", "runhold.commands.starts:check_repeat")
def start_retry_ignores_labels(rule: Any) -> Any:
    return lambda run, start, pairs: rule(run, replace(start, labels=run.labels), pairs)


@seed("a retried start is compared by its records, not by their keys", "runhold.commands.starts:check_repeat")
def start_retry_ignores_keys(rule: Any) -> Any:
    def check_repeat(run: Any, start: Any, pairs: Any) -> None:
        keys = [stored.record.event_key if stored is not None else given.event_key for stored, given in pairs]
        rule(
            run,
            start,
            [(stored, replace(given, event_key=key)) for (stored, given), key in zip(pairs, keys, strict=True)],
        )

    return check_repeat


@seed("the end of a session does not stop new runs", "runhold.commands.starts:decide_outcome")
def ended_session_lets_runs_proceed(rule: Any) -> Any:
    def decide_outcome(session: Any, start: Any) -> StartOutcome:
        rule(session, start)
        return StartOutcome.PROCEED

    return decide_outcome


@seed("a child may start under a parent that has stopped", "runhold.domain.starts:_check_running")
def child_of_a_stopped_parent(_: Any) -> Any:
    return lambda parent: None


@seed("a suspended parent counts as running", "runhold.domain.starts:_check_running")
def child_of_a_suspended_parent(rule: Any) -> Any:
    return lambda parent: None if parent.status is RunStatus.SUSPENDED else rule(parent)


@seed(
    "a child of an ended session is told to stop before anybody looks at its parent",
    "runhold.commands.starts:decide_child_parent",
)
def ended_session_before_stopped_parent(rule: Any) -> Any:
    def decide_child_parent(start: Any, link: Any, parent: Any, taken: Any, session: Any) -> None:
        if parent is not None and session is not None and session.status is SessionStatus.ENDED:
            parent = replace(parent, status=RunStatus.RUNNING)
        rule(start, link, parent, taken, session)

    return decide_child_parent


@seed("any run may be continued, suspended or not", "runhold.commands.starts:check_continuation")
def continuation_of_any_run(rule: Any) -> Any:
    def check_continuation(start: Any, predecessor: Any) -> None:
        if predecessor is not None and predecessor.status is not RunStatus.PURGED:
            predecessor = replace(predecessor, status=RunStatus.SUSPENDED)
        rule(start, predecessor)

    return check_continuation


@seed("a run can be continued only once", "runhold.commands.decide:_FUNCTIONS")
def continuation_only_once(functions: Any) -> Any:
    rule = functions[StartRootRun]
    continued: set[str] = set()

    def start_root_run(state: Any, command: Any) -> Any:
        before = command.run.predecessor_run_id
        if before in continued and state.run(command.run.run_id) is None:
            raise ContinuationConflict("it is continued already")
        result = rule(state, command)
        continued.update({before} - {""})
        return result

    return functions | {StartRootRun: start_root_run}


@seed("a start in a purged session is stopped, not refused", "runhold.commands.starts:check_not_sealed")
def start_in_a_purged_session(rule: Any) -> Any:
    def check_not_sealed(session: Session | None, run: Any) -> None:
        rule(None, run)

    return check_not_sealed


@seed("the link's key is looked for among the child's records", "runhold.domain.starts:_check_key_free")
def link_key_is_not_checked(_: Any) -> Any:
    return lambda taken, link: None
