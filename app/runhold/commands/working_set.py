"""What a batch loaded under its locks for one namespace, and what its commands have changed so far.

A command reads the state as the commands before it left it, and changes it only after it has decided everything, so a
refused command leaves nothing behind. The store fills the ``loaded`` side before the first command and writes the
``changed`` side after the last, in the same transaction.
"""

from __future__ import annotations

from msgspec.structs import replace

from runhold.domain.digests import Digester, first_digest
from runhold.domain.values import (
    Microseconds,
    Milliseconds,
    Run,
    RunRecord,
    RunSuspension,
    Session,
    StoredRecord,
)


class WorkingSet:
    """The state of one namespace, as far as a batch needs it."""

    def __init__(self, namespace: str, now: Microseconds, digester: Digester) -> None:
        self.namespace = namespace
        self.now_microseconds: Microseconds = now
        """The service's clock, read once for the batch."""
        self.now: Milliseconds = now // 1000
        self._digester = digester
        self._sessions: dict[str, Session] = {}
        self._runs: dict[str, Run] = {}
        self._by_key: dict[tuple[str, str], StoredRecord] = {}
        self._by_position: dict[tuple[str, int], StoredRecord] = {}
        self._suspensions: dict[str, RunSuspension] = {}
        self._sessions_with_running_runs: set[str] = set()
        self._trees: dict[str, list[Run]] = {}

        self.new_sessions: dict[str, None] = {}
        self.changed_sessions: dict[str, None] = {}
        self.new_runs: dict[str, None] = {}
        self.changed_runs: dict[str, None] = {}
        self.new_records: list[StoredRecord] = []
        self.new_suspensions: dict[str, RunSuspension] = {}
        self.purged_sessions: list[str] = []
        self.purged_runs: list[str] = []
        """One-shot runs whose content goes and whose ids stay sealed."""

    # Filled by the store.

    def load_session(self, session: Session) -> None:
        """Take in a stored session, seals included."""
        self._sessions[session.session_id] = session

    def load_run(self, run: Run) -> None:
        """Take in a stored run, seals included."""
        self._runs[run.run_id] = run

    def load_record(self, record: StoredRecord) -> None:
        """Take in a stored record that some command asked for by key or position."""
        self._by_key[record.record.run_id, record.record.event_key] = record
        self._by_position[record.record.run_id, record.position] = record

    def load_suspension(self, run_id: str, suspension: RunSuspension) -> None:
        """Take in a stored checkpoint."""
        self._suspensions[run_id] = suspension

    def load_running(self, session_id: str) -> None:
        """Take in that the session, about to be purged, has a running run."""
        self._sessions_with_running_runs.add(session_id)

    def load_tree(self, run_id: str, tree: list[Run]) -> None:
        """Take in the tree of one-shot runs under ``run_id``, itself included."""
        self._trees[run_id] = tree

    # Read by the commands.

    def session(self, session_id: str) -> Session | None:
        """Find a session; a purged one is found with that status."""
        return self._sessions.get(session_id)

    def run(self, run_id: str) -> Run | None:
        """Find a run; the seal of a purged one-shot run is found with that status."""
        return self._runs.get(run_id)

    def record(self, run_id: str, event_key: str) -> StoredRecord | None:
        """Find what an event key holds on a run."""
        return self._by_key.get((run_id, event_key))

    def record_at(self, run_id: str, position: int) -> StoredRecord | None:
        """Find a start record (position 1, 2 or a link's) of a run whose start is repeated."""
        return self._by_position.get((run_id, position))

    def suspension(self, run_id: str) -> RunSuspension | None:
        """Find a run's checkpoint."""
        return self._suspensions.get(run_id)

    def has_running_run(self, session_id: str) -> bool:
        """Tell whether a run of the session, about to be purged, is running."""
        return session_id in self._sessions_with_running_runs

    def tree(self, run_id: str) -> list[Run]:
        """Find the tree of one-shot runs under ``run_id``, itself included."""
        return self._trees.get(run_id, [])

    def session_status(self, session_id: str) -> str:
        """The status to answer for a record of this session; ``""`` for a one-shot run."""
        if not session_id:
            return ""
        session = self._sessions.get(session_id)
        return session.status.value if session is not None else ""

    # Changed by the commands, once they have decided.

    def add_session(self, session: Session) -> None:
        """Create a session."""
        self._sessions[session.session_id] = session
        self.new_sessions[session.session_id] = None

    def change_session(self, session: Session) -> None:
        """Change a session."""
        self._sessions[session.session_id] = session
        if session.session_id not in self.new_sessions:
            self.changed_sessions[session.session_id] = None

    def add_run(self, run: Run) -> Run:
        """Create a run without records, next in its session's order of starts."""
        if run.session_id:
            session = self._sessions[run.session_id]
            session = replace(session, run_count=session.run_count + 1)
            self.change_session(session)
            run = replace(run, session_ordinal=session.run_count)
        run = replace(run, head_digest=first_digest(self.namespace))
        self._runs[run.run_id] = run
        self.new_runs[run.run_id] = None
        return run

    def change_run(self, run: Run) -> None:
        """Change a run."""
        self._runs[run.run_id] = run
        if run.run_id not in self.new_runs:
            self.changed_runs[run.run_id] = None

    def append(self, record: RunRecord) -> StoredRecord:
        """Store a record at the next position of its run and of its session."""
        # The session's lock is held (the run's, for a one-shot run): records become visible in the order of their
        # positions, and no cursor can pass a record that is still to appear.
        run = self._runs[record.run_id]
        position = run.record_count + 1
        session_position = 0
        if run.session_id:
            session = self._sessions[run.session_id]
            session_position = session.record_count + 1
            self.change_session(replace(session, record_count=session_position))
        digest = self._digester.digest(run.head_digest, record, position, session_position, self.now)
        stored = StoredRecord(record, position, session_position, self.now, digest)
        self.change_run(replace(run, record_count=position, head_digest=digest))
        self.load_record(stored)
        self.new_records.append(stored)
        return stored

    def suspend(self, run_id: str, suspension: RunSuspension) -> None:
        """Store a run's checkpoint."""
        self._suspensions[run_id] = suspension
        self.new_suspensions[run_id] = suspension

    def purge_session(self, session: Session) -> None:
        """Seal a session and delete all that it held."""
        self.change_session(session)
        self.purged_sessions.append(session.session_id)

    def purge_tree(self, sealed: list[Run]) -> None:
        """Seal one-shot runs and delete all that they held."""
        for run in sealed:
            self.change_run(run)
            self.purged_runs.append(run.run_id)
