"""Eight workers write while the service is killed with -9 three times; then everything is read back and counted.

Four workers send command by command, four gather theirs into ``POST /v1/commands``. All of them repeat a command until
it is acknowledged, so in the end each record that was sent must be there once, under the id that its worker was told.
"""

from __future__ import annotations

import asyncio
import secrets
import threading
import time
from collections.abc import Callable

from demo.ledger import Ledger, read_back
from demo.lives import Life
from demo.teller import Teller
from runhold_client import AsyncHttpStore, HttpStore, RetryPolicy, RunRecord, TerminalStatus
from tests.support.server import Server

LEAST_SECONDS = 2.0

_WORKERS = 8
_KILLS = 3
_RECORDS = 20
"""What a run writes between its start and its end."""
_UNTIL_ANSWERED = RetryPolicy(attempts=100_000, total_seconds=120.0, longest_wait_seconds=0.5)

Work = Callable[[str, str, Ledger, float], None]
"""Writes runs until a time: name of the worker with the session, URL, ledger, ``time.monotonic()`` of the end."""


class ChaosError(Exception):
    """Something is lost, doubled or otherwise not as it must be."""


def run_chaos(server: Server, tell: Teller, seconds: float) -> None:
    """Write for so many seconds, and print ``acknowledged N, lost 0, doubled 0``.

    Raises:
        ChaosError: it is not so.
        StoreError: a worker was refused, or got no answer for two minutes.
    """
    session_id = f"chaos-{secrets.token_hex(3)}"
    ledger = Ledger()
    with HttpStore(server.url, retries=_UNTIL_ANSWERED) as store:
        store.create_session(session_id)
        tell.line(f"{_WORKERS} workers write for {seconds:g} s to {server.url}, one session: {session_id}.")
        begun = time.monotonic()
        workers = _Workers(server.url, session_id, ledger, begun + seconds)
        for number in range(1, _KILLS + 1):
            time.sleep(max(0.0, begun + seconds * number / (_KILLS + 1) - time.monotonic()))
            tell.line(f"{_time(begun)}  {len(ledger.acknowledged):7,} acknowledged; kill -9 {server.pid}", "red")
            server.kill()
            killed = time.monotonic()
            server.start()
            tell.line(f"{_time(begun)}          started again, ready after {time.monotonic() - killed:.1f} s", "green")
        workers.join()
        tell.line(
            f"{_time(begun)}  {len(ledger.acknowledged):7,} acknowledged, {ledger.repeated} of them to a repetition: "
            "their first answer was lost"
        )
        tell.line("Reading everything back: each run's log and the session's …")
        found = read_back(store, session_id, ledger)
    for fault in found.faults:
        tell.line(fault, "bold red")
    tell.line(str(found), "bold green" if found.is_sound else "bold red")
    if not found.is_sound:
        raise ChaosError("what was acknowledged is not what is stored")


def _time(begun: float) -> str:
    return f"{time.monotonic() - begun:5.1f} s"


class _Workers:
    """The workers' threads. They are daemons: Ctrl-C waits for none of them."""

    def __init__(self, url: str, session_id: str, ledger: Ledger, end: float) -> None:
        self._errors: list[BaseException] = []
        self._threads = []
        for number in range(_WORKERS):
            work: Work = _write_one_by_one if number % 2 else _write_together
            arguments = (work, f"{session_id}/worker-{number}", url, ledger, end)
            thread = threading.Thread(target=self._run, args=arguments, daemon=True)
            thread.start()
            self._threads.append(thread)

    def join(self) -> None:
        """Wait for all of them. Raises: whatever one of them raised."""
        for thread in self._threads:
            thread.join()
        for error in self._errors:
            raise error

    def _run(self, work: Work, name: str, url: str, ledger: Ledger, end: float) -> None:
        try:
            work(name, url, ledger, end)
        except Exception as error:  # noqa: BLE001  raised again by join
            self._errors.append(error)


def _write_one_by_one(name: str, url: str, ledger: Ledger, end: float) -> None:
    number = 0
    with HttpStore(url, retries=_UNTIL_ANSWERED) as store:
        while time.monotonic() < end:
            life = _life(name, number := number + 1)
            begun = store.start_root_run(life.start, (started := life.started), life.stopped)
            ledger.note(started, begun.started)
            for record in _records(life):
                ledger.note(record, store.append_run_record(record))
            done = life.completed
            ledger.note(done, store.record_run_terminal(life.run_id, TerminalStatus.COMPLETED, done))


def _write_together(name: str, url: str, ledger: Ledger, end: float) -> None:
    async def write(store: AsyncHttpStore, record: RunRecord) -> None:
        ledger.note(record, await store.append_run_record(record))

    async def write_runs() -> None:
        number = 0
        async with AsyncHttpStore(url, retries=_UNTIL_ANSWERED) as store:
            while time.monotonic() < end:
                life = _life(name, number := number + 1)
                begun = await store.start_root_run(life.start, (started := life.started), life.stopped)
                ledger.note(started, begun.started)
                await asyncio.gather(*[write(store, record) for record in _records(life)])
                done = life.completed
                ledger.note(done, await store.record_run_terminal(life.run_id, TerminalStatus.COMPLETED, done))

    asyncio.run(write_runs())


def _life(name: str, number: int) -> Life:
    session_id = name.partition("/")[0]
    return Life(f"{name}/run-{number}", "chaos.writer", session_id)


def _records(life: Life) -> list[RunRecord]:
    return [life.record(f"step-{step}", "planner_note", {"step": step}) for step in range(1, _RECORDS + 1)]
