"""Everything is repeated and read back, and held to what the writers were told."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass

from tests.faults.doors import HttpDoor, Later
from tests.faults.ledger import Document, Ledger, Name, records_of, results_of
from tests.faults.writers import Follower, ask
from tests.model import commands as make
from tests.model.model import Call

_MOST = 100
"""Commands repeated in one request."""
_PATIENCE_S = 30.0
_ADDED = ("id", "stored_at")
"""What a stored record has and a sent one has not."""


@dataclass
class Findings:
    """What is stored, against what was acknowledged."""

    lost: int = 0
    """Records acknowledged, but not there, or under another id, or with other content."""
    doubled: int = 0
    """Records that are there more often than once, in a run's log or in a session's."""


async def repeat_pending(url: str, ledger: Ledger) -> int:
    """Repeat each command that nobody knows the end of, exactly. Returns how many there were."""
    door = HttpDoor(url, ledger, timeout=30)
    pending = ledger.pending
    deadline = time.monotonic() + _PATIENCE_S
    for entry in pending:
        while not entry.ids:
            try:
                wait = await ask(ledger, door, [entry])
            except AssertionError as error:
                ledger.wrong.append(f"repeated later: {error}")
                break
            if wait is not None and time.monotonic() > deadline:
                ledger.wrong.append(f"{entry.call.operation} gets no answer even now")
                break
            await asyncio.sleep(wait or 0)
    await door.close()
    return len(pending)


def verify(database_url: str, ledger: Ledger) -> None:
    """Let ``runhold verify`` look at the whole database, past the service; what it finds is noted in the ledger."""
    environment = {**os.environ, "RUNHOLD_DATABASE_URL": database_url}
    command = [sys.executable, "-m", "runhold", "verify"]
    verified = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    if verified.returncode:
        said = (verified.stdout or verified.stderr).strip().splitlines()
        ledger.wrong.append(f"runhold verify ends with {verified.returncode}: {said[:3]}")


class ReadBack:
    """Reads everything there is, on a connection of its own."""

    def __init__(self, url: str, ledger: Ledger) -> None:
        self._door = HttpDoor(url, ledger, timeout=30)
        self._ledger = ledger
        self._found = Findings()

    async def check(self, sessions: list[str], followers: list[Follower]) -> Findings:
        """Hold everything to the ledger. What is wrong besides lost and doubled is noted there."""
        try:
            await self._repeat_all()
            logs = {session: await self._all("list_session_run_records", session, "records") for session in sessions}
            runs = [run for session in sessions for run in await self._all("list_runs_by_session", session, "runs")]
            runs += [run for run in await self._all("list_runs", "", "runs") if not run["session_id"]]
            by_run = {run["run_id"]: await self._all("list_run_records", run["run_id"], "records") for run in runs}
            for run in runs:
                await self._check_run(run, by_run[run["run_id"]])
        finally:
            await self._door.close()
        held = compare(self._ledger, logs, by_run)
        self._found.lost += held.lost
        self._found.doubled += held.doubled
        for session, log in logs.items():
            self._check_session(session, log, by_run)
        for follower in followers:
            whole = logs if follower.operation == "list_session_run_records" else by_run
            if follower.seen != whole[follower.owner]:
                self._wrong(f"a reader that followed {follower.owner} saw something else than its whole log")
        return self._found

    def _wrong(self, what: str) -> None:
        self._ledger.wrong.append(what)

    async def _repeat_all(self) -> None:
        """Every command, repeated exactly, gets its first ids and stores nothing."""
        entries = self._ledger.acknowledged
        for start in range(0, len(entries), _MOST):
            part = entries[start : start + _MOST]
            answer = await self._get(make.batch(*[entry.call for entry in part]))
            for entry, item in zip(part, answer["results"], strict=True):
                results = results_of(entry.call, item["body"]) if item["status"] == 200 else []
                if [result["id"] for result in results] != list(entry.ids):
                    self._wrong(f"repeated, {entry.call.operation} has another answer: {item}")
                elif any(result["inserted"] for result in results):
                    # The first answer was a lie: nothing was stored.
                    self._found.lost += 1

    async def _get(self, call: Call) -> Document:
        for _ in range(10):
            answer = await self._door.get(call)
            if not isinstance(answer, Later):
                return answer
            await asyncio.sleep(answer.seconds)
        raise AssertionError(f"{call.operation} gets no answer though all is well again")

    async def _all(self, operation: str, owner: str, name: str) -> list[Document]:
        found: list[Document] = []
        cursor = ""
        while True:
            query = (("limit", "1000"), *((("cursor", cursor),) if cursor else ()))
            page = await self._get(Call(operation, owner, query))
            found += page[name]
            cursor = page["next_cursor"]
            if not cursor:
                return found

    async def _check_run(self, run: Document, log: list[Document]) -> None:
        """No gap in the ids; no state without its record, and no record without its state."""
        run_id, status = run["run_id"], run["status"]
        if [record["id"] for record in log] != [str(n + 1) for n in range(run["record_count"])]:
            self._wrong(f"the ids of {run_id} are not 1 to {run['record_count']}")
        types = [record["type"] for record in log]
        if types[:1] != ["run_started"] or types.count("run_started") != 1:
            self._wrong(f"{run_id} does not begin with its start")
        last = {"running": "", "suspended": "run_suspended"}.get(status, "run_completed")
        endings = [kind for kind in types if kind in ("run_suspended", "run_completed")]
        if endings != ([last] if last else []) or (last and types[-1] != last):
            self._wrong(f"{run_id} is {status}, and its log ends otherwise")
        if ("runtime.cancellation_intent" in types) != bool(run["cancellation_reason"]):
            self._wrong(f"{run_id}: the reason and the record of its cancellation do not go together")
        if status == "suspended" and not (await self._get(Call("load_run_suspension", run_id)))["data"]:
            self._wrong(f"{run_id} is suspended without a checkpoint")

    def _check_session(self, session: str, log: list[Document], by_run: dict[str, list[Document]]) -> None:
        """A session's log is its runs' logs, each in its order; a child never comes before its link."""
        parts: dict[str, list[Document]] = {}
        linked: set[str] = set()
        for record in log:
            parts.setdefault(record["run_id"], []).append(record)
            if record["type"] == "child_run_linked":
                linked.add(f"{record['run_id']}/agent/tool/call")
            if record["run_id"].endswith("/call") and record["run_id"] not in linked:
                self._wrong(f"{record['run_id']} is there without its link")
        if linked - parts.keys():
            self._wrong(f"{len(linked - parts.keys())} links of {session} lead to no run")
        if parts != {run: kept for run, kept in by_run.items() if kept[0]["session_id"] == session}:
            self._wrong(f"the log of {session} and those of its runs differ")


def compare(ledger: Ledger, logs: dict[str, list[Document]], by_run: dict[str, list[Document]]) -> Findings:
    """Hold the logs of sessions and runs to what was acknowledged; records that nobody sent are noted in the ledger."""
    found = Findings()
    stored = {_name(record): record for log in by_run.values() for record in log}
    in_sessions = {_name(record): record for log in logs.values() for record in log}
    sent = set()
    for entry in ledger.entries:
        sent |= {_name(record) for record in records_of(entry.call)}
        for record, given in zip(records_of(entry.call), entry.ids, strict=False):
            kept = stored.get(_name(record))
            is_there = kept is not None and kept["id"] == given and _as_sent(kept) == record
            if not is_there or (record["session_id"] and in_sessions.get(_name(record)) != kept):
                found.lost += 1
    for log in (*by_run.values(), *logs.values()):
        found.doubled += sum(times > 1 for times in Counter(map(_name, log)).values())
    if stray := stored.keys() - sent:
        ledger.wrong.append(f"{len(stray)} records are there that nobody sent, such as {min(stray)}")
    return found


def _name(record: Document) -> Name:
    return record["run_id"], record["event_key"]


def _as_sent(record: Document) -> Document:
    return {name: value for name, value in record.items() if name not in _ADDED}
