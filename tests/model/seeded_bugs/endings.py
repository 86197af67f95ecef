"""Mistakes in cancelling, suspending and ending runs, and in repairs."""

from __future__ import annotations

import contextlib
from typing import Any

from msgspec.structs import replace

from runhold.domain.errors import RunTerminalConflict
from runhold.domain.values import RepairOutcome, RepairResult
from tests.model.seeded_bugs.bug import Catalogue

CATALOGUE = Catalogue()
seed = CATALOGUE.seed


@seed("the same end may be recorded twice, under two keys", "runhold.commands.endings:decide_terminal")
def terminal_twice(rule: Any) -> Any:
    def decide_terminal(run: Any, status: Any, record: Any, stored: Any) -> Any:
        if run.status is status and stored is None:
            return None
        return rule(run, status, record, stored)

    return decide_terminal


@seed("the key is looked at before the run's own end", "runhold.commands.endings:decide_terminal")
def terminal_checks_in_the_wrong_order(rule: Any) -> Any:
    def decide_terminal(run: Any, status: Any, record: Any, stored: Any) -> Any:
        if stored is not None:
            return rule(replace(run, status=status), status, record, stored)
        return rule(run, status, record, stored)

    return decide_terminal


@seed("an end need not carry the run's labels", "runhold.commands.endings:validate_terminal")
def terminal_labels_are_not_compared(rule: Any) -> Any:
    from runhold.domain.payloads import PayloadError, decode_run_completed

    def validate_terminal(run: Any, status: Any, record: Any) -> None:
        with contextlib.suppress(PayloadError):
            run = replace(run, labels=decode_run_completed(record.payload).labels)
        rule(run, status, record)

    return validate_terminal


@seed("a canceled end may give any reason", "runhold.commands.endings:validate_terminal")
def terminal_reason_is_not_compared(rule: Any) -> Any:
    from runhold.domain.payloads import PayloadError, decode_run_completed

    def validate_terminal(run: Any, status: Any, record: Any) -> None:
        with contextlib.suppress(PayloadError):
            run = replace(run, cancellation_reason=decode_run_completed(record.payload).reason)
        rule(run, status, record)

    return validate_terminal


@seed("a later cancellation overwrites the first one's reason", "runhold.commands.endings:decide_cancellation")
def cancellation_overwrites(rule: Any) -> Any:
    return lambda run, reason, record, stored: rule(replace(run, cancellation_reason=""), reason, record, stored)


@seed("a taken key is reported before another reason", "runhold.commands.endings:decide_cancellation")
def cancellation_checks_in_the_wrong_order(rule: Any) -> Any:
    def decide_cancellation(run: Any, reason: str, record: Any, stored: Any) -> Any:
        if stored is not None:
            run = replace(run, cancellation_reason=reason)
        return rule(run, reason, record, stored)

    return decide_cancellation


@seed("a cancellation stops its run at once", "runhold.commands.endings:_store")
def cancellation_stops_the_run(rule: Any) -> Any:
    from runhold.domain.values import RunStatus

    def store(state: Any, changed: Any, record: Any, repeated: Any) -> Any:
        if record.type == "runtime.cancellation_intent":
            changed = replace(changed, status=RunStatus.CANCELED)
        return rule(state, changed, record, repeated)

    return store


@seed("a retried suspension is compared without the checkpoint's bytes", "runhold.commands.endings:decide_suspension")
def suspension_ignores_the_bytes(rule: Any) -> Any:
    def decide_suspension(run: Any, suspension: Any, record: Any, checkpoint: Any, stored: Any) -> Any:
        if checkpoint is not None and checkpoint.id == suspension.id:
            checkpoint = suspension
        return rule(run, suspension, record, checkpoint, stored)

    return decide_suspension


@seed("a repeated repair says that it stored something", "runhold.commands.endings:_repaired")
def repair_always_stored(_: Any) -> Any:
    return lambda status, record: RepairResult(RepairOutcome.STORED, status, record)


@seed("a repair that finds another end reports the one it was sent", "runhold.commands.endings:RepairResult")
def repair_reports_its_own_status(rule: Any) -> Any:
    from runhold.domain.values import RunStatus

    def result(outcome: Any, status: Any, record: Any) -> Any:
        different = outcome is RepairOutcome.DIFFERENT_TERMINAL
        return rule(outcome, RunStatus.COMPLETED if different else status, record)

    return result


@seed("a repair of an ended run is refused as its command would be", "runhold.commands.endings:Conflict")
def repair_is_refused(_: Any) -> Any:
    class Nothing(RunTerminalConflict):
        """No refusal is one of these."""

    return Nothing
