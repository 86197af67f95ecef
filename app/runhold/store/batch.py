"""A batch of jobs without its database: what to lock and load, what to decide, what to write.

Both databases do the same with it: load what each ``Share`` wants, ``decide``, write the ``changes``, commit. The rules
of who waits for whom are here, once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from runhold.commands.model import Command, Needs, PurgeOneShotRun, PurgeSession, needs
from runhold.commands.outcomes import CONTENDED, Contended, Execute, Job, LostRaceError, Outcome
from runhold.commands.working_set import WorkingSet
from runhold.domain.digests import Digester
from runhold.domain.errors import ContractError
from runhold.domain.values import Microseconds, Run, RunSuspension
from runhold.store import rows
from runhold.store.rows import Row

NextKey = Callable[[], int]
_Value = TypeVar("_Value")


class Share:
    """One namespace's share of a batch: the rows it wants, and what was found."""

    def __init__(self, namespace: str, namespace_key: int, state: WorkingSet) -> None:
        self.namespace = namespace
        self.key = namespace_key
        self.state = state
        self.sessions: dict[str, None] = {}
        """Sessions to lock."""
        self.one_shots: dict[str, None] = {}
        """Runs to lock if they are one-shot runs."""
        self.runs: dict[str, None] = {}
        """Runs to read, under the lock of their session or their own."""
        self.records: dict[tuple[str, str], bytes] = {}
        """(run id, event key) to look up, each with the key's hash."""
        self.starts: dict[str, None] = {}
        """Runs whose start records are wanted when they exist."""
        self.suspensions: dict[str, None] = {}
        self.session_keys: dict[str, int] = {}
        """Keys of the locked sessions."""
        self.run_keys: dict[str, int] = {}
        self.held_sessions: set[str] = set()
        """Sessions that exist, and that another process holds."""
        self.held_runs: set[str] = set()
        self._runs_by_key: dict[int, Run] = {}
        self._locked_runs: set[int] = set()

    def want(self, wanted: Needs) -> None:
        """Take in what one command must find."""
        for session_id in wanted.sessions:
            self.sessions[session_id] = None
        for run_id in wanted.runs:
            self.runs[run_id] = None
            if not wanted.sessions:
                self.one_shots[run_id] = None
        for run_id, event_key in wanted.records:
            self.records[run_id, event_key] = rows.key_hash(event_key)
        if wanted.starts:
            self.starts[wanted.starts] = None
        if wanted.suspension:
            self.suspensions[wanted.suspension] = None

    def found_session(self, row: Row) -> None:
        """Take in a locked session: a row of ``rows.SESSION``."""
        session = rows.session_value(row)
        self.session_keys[session.session_id] = row[0]
        self.state.load_session(session)

    def locked_run(self, run_key: int) -> None:
        """Take in that a one-shot run is locked."""
        self._locked_runs.add(run_key)

    def found_run(self, row: Row) -> None:
        """Take in a run: a row of ``rows.RUN`` with its session's id. All locks must be taken in before."""
        run = rows.run_value(row)
        run_key, session_id = row[0], run.session_id
        # A row that exists now and was not locked is held by another process, or was made after the locks were taken.
        if not session_id:
            if run.run_id in self.one_shots and run_key not in self._locked_runs:
                self.held_runs.add(run.run_id)
        elif session_id in self.sessions and session_id not in self.session_keys:
            self.held_sessions.add(session_id)
        self.run_keys[run.run_id] = run_key
        self._runs_by_key[run_key] = run
        self.state.load_run(run)

    def found_record(self, row: Row) -> None:
        """Take in a record of a run that was found: a row of ``rows.RECORD_READ``."""
        self.state.load_record(rows.record_value(row, self._runs_by_key[row[0]]))

    def found_suspension(self, run_key: int, suspension_id: str, data: bytes) -> None:
        """Take in the checkpoint of a run that was found."""
        self.state.load_suspension(self._runs_by_key[run_key].run_id, RunSuspension(suspension_id, data))

    def found_tree(self, run_id: str, run_keys: list[int]) -> None:
        """Take in the tree of one-shot runs under ``run_id``, all of which were found."""
        self.state.load_tree(run_id, [self._runs_by_key[key] for key in run_keys])

    def unproven_sessions(self) -> list[str]:
        """Sessions that were not locked, and of which nothing told yet whether they exist."""
        return [s for s in self.sessions if s not in self.session_keys and s not in self.held_sessions]

    def start_positions(self) -> list[tuple[int, int]]:
        """(run key, position) of the records that the starts of existing runs stored."""
        places: list[tuple[int, int]] = []
        for run_id in self.starts:
            run = self.state.run(run_id)
            if run is None or not run.record_count:
                continue
            places += [(self.run_keys[run_id], position) for position in (1, 2) if position <= run.record_count]
            if run.link_position and run.parent_run_id in self.run_keys:
                places.append((self.run_keys[run.parent_run_id], run.link_position))
        return places

    def holds(self, wanted: Needs) -> bool:
        """Tell whether another process holds a row that a command locks."""
        if wanted.sessions:
            return not self.held_sessions.isdisjoint(wanted.sessions)
        return not self.held_runs.isdisjoint(wanted.runs)

    @property
    def is_held(self) -> bool:
        """Whether another process holds any row of this share."""
        return bool(self.held_sessions or self.held_runs)


class Changes:
    """The rows to write, in the order that all processes share: by namespace, then by id."""

    def __init__(self) -> None:
        self.new_sessions: list[Row] = []
        self.sessions: list[Row] = []
        self.new_runs: list[Row] = []
        self.run_labels: list[Row] = []
        self.runs: list[Row] = []
        self.records: list[Row] = []
        self.suspensions: list[Row] = []
        self.purged_session: int | None = None
        self.purged_runs: list[Row] = []
        """Rows of ``rows.RUN_SEAL``."""

    @property
    def has_purge(self) -> bool:
        """Whether anything is deleted."""
        return self.purged_session is not None or bool(self.purged_runs)


class Batch:
    """Jobs that are carried out in one transaction."""

    def __init__(
        self,
        jobs: list[Job],
        namespace_keys: dict[str, int],
        execute: Execute,
        now: Microseconds,
        digester: Digester,
    ) -> None:
        self._jobs = jobs
        self._execute = execute
        shares: dict[str, Share] = {}
        self._needs: list[list[Needs]] = []
        for job in jobs:
            share = shares.get(job.namespace)
            if share is None:
                state = WorkingSet(job.namespace, now, digester)
                share = shares[job.namespace] = Share(job.namespace, namespace_keys[job.namespace], state)
            wanted = [needs(command) for command in job.commands]
            for each in wanted:
                share.want(each)
            self._needs.append(wanted)
        self._by_namespace = shares
        self.shares = sorted(shares.values(), key=lambda share: share.key)
        self.by_key = {share.key: share for share in self.shares}
        self.purge: Command | None = _purge(jobs)
        self.most_new = sum(len(job.commands) for job in jobs)
        """More sessions or runs than this cannot become of the batch."""

    def check_all_locked(self) -> None:
        """Check, after waiting for every lock, that nothing appeared meanwhile. Raises: LostRaceError."""
        if any(share.is_held for share in self.shares):
            raise LostRaceError("a row appeared while others were waited for")

    def decide(self) -> list[list[Outcome | Contended]]:
        """Carry out each command in its order; a command on a held row stays untried, with all that must follow it."""
        blocked: set[str] = set()
        is_held = any(share.is_held for share in self.shares)
        execute = self._execute
        results: list[list[Outcome | Contended]] = []
        for job, wanted in zip(self._jobs, self._needs, strict=True):
            share = self._by_namespace[job.namespace]
            state = share.state
            outcomes: list[Outcome | Contended] = []
            behind = False
            for command, each, keys in zip(job.commands, wanted, job.command_keys, strict=True):
                behind = behind or (is_held and (share.holds(each) or not blocked.isdisjoint(keys)))
                if behind:
                    blocked |= keys
                    outcomes.append(CONTENDED)
                    continue
                try:
                    outcomes.append(execute(state, command))
                except ContractError as refusal:
                    outcomes.append(refusal)
            results.append(outcomes)
        return results

    def changes(self, next_session_key: NextKey, next_run_key: NextKey) -> Changes:
        """Turn what the commands changed into rows."""
        changes = Changes()
        for share in self.shares:
            _collect(share, changes, next_session_key, next_run_key)
        return changes


def _collect(share: Share, changes: Changes, next_session_key: NextKey, next_run_key: NextKey) -> None:
    state, session_keys, run_keys = share.state, share.session_keys, share.run_keys
    for session_id in sorted(state.new_sessions):
        session_keys[session_id] = next_session_key()
        session = _known(state.session(session_id))
        changes.new_sessions.append(rows.session_row(session_keys[session_id], share.key, session))
    for session_id in state.changed_sessions:
        changes.sessions.append(rows.session_changes(session_keys[session_id], _known(state.session(session_id))))
    for run_id in sorted(state.new_runs):
        run = _known(state.run(run_id))
        run_key = run_keys[run_id] = next_run_key()
        changes.new_runs.append(rows.run_row(run_key, share.key, session_keys.get(run.session_id), run))
        changes.run_labels += rows.run_label_rows(run_key, share.key, run)
    sealed = set(state.purged_runs)
    for run_id in state.changed_runs:
        run = _known(state.run(run_id))
        if run_id in sealed:
            changes.purged_runs.append(rows.run_seal(run_keys[run_id], run))
        else:
            changes.runs.append(rows.run_changes(run_keys[run_id], run))
    for stored in state.new_records:
        record = stored.record
        hashed = share.records.get((record.run_id, record.event_key)) or rows.key_hash(record.event_key)
        session_key = session_keys.get(record.session_id)
        changes.records.append(rows.record_row(run_keys[record.run_id], session_key, hashed, stored))
    for run_id, suspension in state.new_suspensions.items():
        changes.suspensions.append((run_keys[run_id], suspension.id, suspension.data))
    for session_id in state.purged_sessions:
        changes.purged_session = session_keys[session_id]


def _known(value: _Value | None) -> _Value:
    if value is None:
        raise LookupError("a changed row is not in the working set")
    return value


def _purge(jobs: Iterable[Job]) -> Command | None:
    """Find the purge, which comes alone: it waits for its rows, and what it deletes belongs to no other command."""
    commands = [command for job in jobs for command in job.commands]
    purges = [command for command in commands if isinstance(command, PurgeSession | PurgeOneShotRun)]
    if not purges:
        return None
    if len(commands) > 1:
        raise ValueError("a purge must be alone in its batch")
    return purges[0]
