"""Mistakes in records, sessions, purges, batches and in what is read from a request."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from runhold.commands.model import AppendRunRecord
from runhold.domain.errors import ContractError, RefusalError, RunNotActive
from tests.model.seeded_bugs.bug import Catalogue

CATALOGUE = Catalogue()
seed = CATALOGUE.seed


@seed("an append's retry is compared without its turn", "runhold.domain.appends:check_same")
def retry_ignores_the_turn(rule: Any) -> Any:
    return lambda stored, record: rule(stored, replace(record, turn_id=stored.record.turn_id))


@seed("payloads are compared as JSON, not as bytes", "runhold.domain.appends:check_same")
def retry_compares_meaning(rule: Any) -> Any:
    import json

    def check_same(stored: Any, record: Any) -> None:
        try:
            equal = json.loads(stored.record.payload) == json.loads(record.payload)
        except ValueError:
            equal = False
        rule(stored, replace(record, payload=stored.record.payload) if equal else record)

    return check_same


@seed("a stopped run refuses even the retry of what it stored", "runhold.commands.appends:decide_append")
def retry_after_the_end_is_refused(rule: Any) -> Any:
    def decide_append(record: Any, run: Any, stored: Any) -> Any:
        if run.status.is_terminal:
            raise RunNotActive("the run has stopped")
        return rule(record, run, stored)

    return decide_append


@seed("a refused append still moves the run's counter", "runhold.commands.decide:_FUNCTIONS")
def refusal_moves_the_counter(functions: Any) -> Any:
    rule = functions[AppendRunRecord]

    def append_run_record(state: Any, command: Any) -> Any:
        try:
            return rule(state, command)
        except ContractError:
            if (run := state.run(command.run_id)) is not None:
                state.change_run(replace(run, record_count=run.record_count + 1))
            raise

    return functions | {AppendRunRecord: append_run_record}


@seed("an append moves updated_at", "runhold.commands.decide:_FUNCTIONS")
def append_moves_updated_at(functions: Any) -> Any:
    rule = functions[AppendRunRecord]

    def append_run_record(state: Any, command: Any) -> Any:
        result = rule(state, command)
        state.change_run(replace(state.run(command.run_id), updated_at=state.now))
        return result

    return functions | {AppendRunRecord: append_run_record}


@seed("the agent of a record is not compared with its run's", "runhold.domain.appends:check_owner")
def owner_without_the_agent(rule: Any) -> Any:
    return lambda record, run_id, agent_id, session_id: rule(record, run_id, record.agent_id, session_id)


@seed(
    "answers carry the session's status as it was at the run's start",
    "runhold.commands.working_set:WorkingSet.session_status",
)
def session_status_is_stale(_: Any) -> Any:
    return lambda state, session_id: "active" if session_id else ""


@seed("ending a session again moves its end", "runhold.commands.sessions:require_session")
def second_end_overwrites_the_first(rule: Any) -> Any:
    from runhold.domain.values import SessionStatus

    return lambda session, session_id: replace(rule(session, session_id), status=SessionStatus.ACTIVE)


@seed("an ended session can be created again", "runhold.commands.sessions:decide_create")
def ended_session_is_created_again(rule: Any) -> Any:
    from runhold.domain.values import SessionStatus

    def decide_create(session: Any) -> Any:
        is_ended = session is not None and session.status is SessionStatus.ENDED
        return session if is_ended else rule(session)

    return decide_create


@seed("a session is purged with a run still running", "runhold.commands.working_set:WorkingSet.has_running_run")
def purge_of_a_running_run(_: Any) -> Any:
    return lambda state, session_id: False


@seed("a purge leaves the session's child runs", "runhold.store.statements:PURGE_SESSION")
def purge_leaves_a_run(statements: Any) -> Any:
    *others, runs = statements
    return (*others, f"{runs} AND parent_run_id = ''")


@seed("a purge of a one-shot run forgets the runs under it", "runhold.store.statements:TREE")
def purge_leaves_a_tree(statement: Any) -> Any:
    return statement.replace("r.parent_run_id = t.run_id", "r.parent_run_id = t.run_id AND 1 = 0")


@seed("one refused item refuses all that follow in the request", "runhold.writer:Writer.submit_many")
def batch_poisons_its_neighbours(rule: Any) -> Any:
    async def submit_many(self: Any, namespace: str, commands: Any) -> Any:
        outcomes = await rule(self, namespace, commands)
        first = next((found for found in outcomes if isinstance(found, RefusalError)), None)
        if first is None:
            return outcomes
        place = outcomes.index(first)
        return [*outcomes[:place], *(first for _ in outcomes[place:])]

    return submit_many


@seed("times finer than a millisecond are cut, not refused", "runhold.api.decoding:parse_run_time")
def finer_times_are_cut(rule: Any) -> Any:
    import re

    return lambda text: rule(re.sub(r"(\.[0-9]{3})[0-9]+", r"\1", text))


@seed("answered times lose their milliseconds", "runhold.api.encoding:format_run_time")
def answered_times_are_cut(rule: Any) -> Any:
    return lambda instant: rule(instant // 1000 * 1000)
