"""What workers were told is stored, and what is found when everything is read back."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass, field

from runhold_client import (
    AppendResult,
    HttpStore,
    RunRecord,
    RunStatus,
    iter_run_records,
    iter_runs_by_session,
    iter_session_run_records,
)

Name = tuple[str, str]
"""What names a record: its run and its event key."""

_PAGE = 1_000


class Ledger:
    """The workers' own account, kept apart from the service; safe for many threads."""

    def __init__(self) -> None:
        self.acknowledged: dict[Name, tuple[str, RunRecord]] = {}
        """The id that each acknowledged record was given, and the record as it was sent."""
        self.repeated = 0
        """Acknowledged commands whose first answer was lost: ``inserted`` was false."""
        self._lock = threading.Lock()

    def note(self, record: RunRecord, result: AppendResult) -> None:
        """Note that a record was acknowledged."""
        with self._lock:
            self.acknowledged[record.run_id, record.event_key] = (result.id, record)
            self.repeated += not result.inserted


@dataclass
class Findings:
    """What the service holds, against what it had acknowledged."""

    acknowledged: int
    lost: int = 0
    """Acknowledged, but not there, or under another id, or with other content."""
    doubled: int = 0
    """There more often than once, in a run's log or in the session's."""
    faults: list[str] = field(default_factory=list)
    """Whatever else is not as it must be."""

    @property
    def is_sound(self) -> bool:
        """Whether all is as it must be."""
        return self.acknowledged > 0 and not (self.lost or self.doubled or self.faults)

    def __str__(self) -> str:
        return f"acknowledged {self.acknowledged}, lost {self.lost}, doubled {self.doubled}"


def read_back(store: HttpStore, session_id: str, ledger: Ledger) -> Findings:
    """Read every run of the session and the session's own log, and hold them to the ledger.

    Raises:
        StoreError: it cannot be read.
    """
    found = Findings(len(ledger.acknowledged))
    by_run: dict[Name, tuple[str, RunRecord]] = {}
    times: Counter[Name] = Counter()
    for run in iter_runs_by_session(store, session_id, page_size=_PAGE):
        log = list(iter_run_records(store, run.run_id, page_size=_PAGE))
        by_run |= {(run.run_id, item.record.event_key): (item.id, item.record) for item in log}
        times.update((run.run_id, item.record.event_key) for item in log)
        if [item.id for item in log] != [str(position) for position in range(1, run.record_count + 1)]:
            found.faults.append(f"the ids of {run.run_id} are not 1 to {run.record_count}")
        if (run.status is RunStatus.COMPLETED) != (log[-1].record.type == "run_completed"):
            found.faults.append(f"{run.run_id} is {run.status}, and its last record is {log[-1].record.type}")
    by_session: dict[Name, tuple[str, RunRecord]] = {}
    times_in_session: Counter[Name] = Counter()
    for item in iter_session_run_records(store, session_id, page_size=_PAGE):
        name = (item.record.run_id, item.record.event_key)
        by_session[name] = (item.id, item.record)
        times_in_session[name] += 1
    for name, sent in ledger.acknowledged.items():
        found.lost += by_run.get(name) != sent or by_session.get(name) != sent
    found.doubled = sum(max(times[name], times_in_session[name]) > 1 for name in times | times_in_session)
    if unknown := len((by_run.keys() | by_session.keys()) - ledger.acknowledged.keys()):
        found.faults.append(f"{unknown} records are there that no worker was told of")
    return found
