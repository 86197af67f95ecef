"""Runs the guide's agent again and again, each time in a process that kills itself at one moment.

    python killer.py AGENT URL FOLDER SESSION

First a run that nobody kills. Then, for each operation that it asked of the service, one that is killed before it is
sent and one that is killed after it was answered, each repeated to its end. FOLDER/moments.json tells of them.
"""

from __future__ import annotations

import asyncio
import importlib.util
import inspect
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from runhold_client import AsyncHttpStore


class WatchedStore(AsyncHttpStore):
    """A store that kills its process at a moment: before the nth operation is sent, or after it was answered."""

    def __init__(self, url: str, at: int, when: str, asked: list[str]) -> None:
        # No certificates are loaded for a service on this machine: there are dozens of processes.
        super().__init__(url, transport=httpx.AsyncHTTPTransport(verify=False))
        self._at = at
        self._when = when
        self._asked = asked

    def __getattribute__(self, name: str) -> Any:
        value = super().__getattribute__(name)
        if name.startswith("_") or not inspect.iscoroutinefunction(value) or name == "aclose":
            return value

        async def watched(*args: Any) -> Any:
            number = len(self._asked)
            key = args[0].event_key if name == "append_run_record" else ""
            self._asked.append(f"{name} {key}".strip())
            self._kill(number, "before")
            try:
                return await value(*args)
            finally:
                self._kill(number, "after")

        # The recorder looks whether a store's operations are coroutine functions; this one is.
        return watched

    def _kill(self, number: int, when: str) -> None:
        if (number, when) == (self._at, self._when):
            os.kill(os.getpid(), signal.SIGKILL)


def load(path: str) -> Any:
    spec = importlib.util.spec_from_file_location("agent", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["agent"] = module
    spec.loader.exec_module(module)
    return module


def in_a_process(work: Callable[[], None]) -> int:
    """Do something in a process of its own; answers how it ended, as ``os.waitstatus_to_exitcode``."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main(agent_path: str, url: str, folder: str, session_id: str) -> None:
    agent = load(agent_path)

    def run(name: str, at: int = -1, when: str = "") -> int:
        def work() -> None:
            agent.EFFECTS = Path(folder) / f"{name}.effects"
            agent.EFFECTS.touch()
            asked: list[str] = []

            async def story() -> None:
                async with WatchedStore(url, at, when, asked) as store:
                    await agent.refund(store, session_id, f"{session_id}/{name}", "Please refund order o-17.")

            asyncio.run(story())
            (Path(folder) / f"{name}.asked").write_text(json.dumps(asked))

        return in_a_process(work)

    assert run("undisturbed") == 0
    moments = []
    for number, operation in enumerate(json.loads((Path(folder) / "undisturbed.asked").read_text())):
        for when in ("before", "after"):
            name = f"killed-{number}-{when}"
            assert run(name, number, when) == -signal.SIGKILL
            assert run(name) == 0
            moments.append({"name": name, "operation": operation, "when": when})
    (Path(folder) / "moments.json").write_text(json.dumps(moments))


if __name__ == "__main__":
    main(*sys.argv[1:])
