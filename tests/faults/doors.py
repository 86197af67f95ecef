"""Ways to send commands: one request each, several in ``POST /v1/commands``, and the client library."""

from __future__ import annotations

import asyncio
import base64
import random
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

import httpx

from runhold_client import AsyncHttpStore, RetryPolicy, RunRecord, RunStart, RunSuspension, StoreError, TemporaryError
from runhold_client import TerminalStatus as Terminal
from tests.faults.ledger import Document, Entry, Ledger, results_of
from tests.model import commands as make
from tests.model.model import Call
from tests.model.wire import ROUTES, body_bytes, checked, segment


@dataclass(frozen=True)
class Later:
    """No answer, or a temporary one: the command is to be sent again."""

    seconds: float = 0.0
    """How long ``Retry-After`` asks to wait."""


Told = tuple[str, ...] | Later
"""The ids that a command's records were given, or that it is to be sent again."""


class Door(Protocol):
    """A way to send commands."""

    together: bool
    """Whether several commands may be asked for at once."""
    hang_up_share: float
    """The share of requests whose answer is not waited for."""

    async def ask(self, entries: list[Entry]) -> list[Told]:
        """Send commands; they are carried out in their order. Raises: AssertionError for an answer that is wrong."""
        ...

    async def close(self) -> None:
        """Close its connections."""
        ...


class HttpDoor:
    """One connection, without any help from the client library."""

    def __init__(self, url: str, ledger: Ledger, *, together: bool = False, timeout: float = 5.0) -> None:
        self.together = together
        self.hang_up_share = 0.0
        self._ledger = ledger
        limits = httpx.Limits(max_connections=1, max_keepalive_connections=1)
        self._http = httpx.AsyncClient(base_url=url, timeout=timeout, trust_env=False, limits=limits, verify=False)

    async def ask(self, entries: list[Entry]) -> list[Told]:
        """Send commands; they are carried out in their order. Raises: AssertionError for an answer that is wrong."""
        for entry in entries:
            entry.attempts += 1
        if not self.together:
            return [await self._ask_one(entry.call) for entry in entries]
        answer = await self.get(make.batch(*[entry.call for entry in entries]))
        if isinstance(answer, Later):
            return [answer] * len(entries)
        return [self._item(entry.call, item) for entry, item in zip(entries, answer["results"], strict=True)]

    async def get(self, call: Call) -> Document | Later:
        """Make any call; what comes back is its answer, or that it failed for now."""
        request = self._send(call)
        if random.random() < self.hang_up_share:
            request = asyncio.wait_for(request, random.random() * 0.02)
        try:
            response = await request
        except (httpx.TransportError, TimeoutError):
            return Later()
        answer = checked(response)
        if answer.status == 503:
            self._ledger.refused += 1
            return Later(float(response.headers["retry-after"]))
        assert answer.status == 200, f"{call.operation}: {answer}"
        return dict(answer.body)

    async def close(self) -> None:
        """Close its connection."""
        await self._http.aclose()

    async def _ask_one(self, call: Call) -> Told:
        answer = await self.get(call)
        return answer if isinstance(answer, Later) else _ids(call, answer)

    def _item(self, call: Call, item: Document) -> Told:
        if item["status"] == 503:
            self._ledger.refused += 1
            return Later(1.0)
        assert item["status"] == 200, f"{call.operation}: {item}"
        return _ids(call, item["body"])

    async def _send(self, call: Call) -> httpx.Response:
        method, template = ROUTES[call.operation]
        return await self._http.request(
            method,
            template.replace("{id}", segment(call.path)),
            params=httpx.QueryParams(list(call.query)) if call.query else None,
            content=body_bytes(call.body) if method == "POST" else None,
            headers={"content-type": "application/json"} if method == "POST" else None,
        )


class StoreDoor:
    """The client library, which gathers commands and repeats them by itself."""

    def __init__(self, url: str, ledger: Ledger) -> None:
        self.together = True
        self.hang_up_share = 0.0
        policy = RetryPolicy(attempts=1_000, total_seconds=4.0, longest_wait_seconds=0.5)
        self._store = AsyncHttpStore(url, retries=policy, timeout=5.0)
        self._ledger = ledger

    async def ask(self, entries: list[Entry]) -> list[Told]:
        """Send commands; they are carried out in their order. Raises: AssertionError for an answer that is wrong."""
        for entry in entries:
            entry.attempts += 1
        return list(await asyncio.gather(*[self._ask_one(entry.call) for entry in entries]))

    async def close(self) -> None:
        """Close its connections."""
        await self._store.aclose()

    async def _ask_one(self, call: Call) -> Told:
        try:
            return await self._command(call)
        except TemporaryError as error:
            self._ledger.refused += error.retry_after is not None
            return Later(error.retry_after or 0.0)
        except StoreError as error:
            raise AssertionError(f"{call.operation}: {error!r}") from error

    async def _command(self, call: Call) -> tuple[str, ...]:
        store, body = self._store, call.body
        if call.operation in ("start_root_run", "start_child_run", "start_one_shot_run"):
            start, started = _start(body["run"]), _record(body["started"])
            if call.operation == "start_one_shot_run":
                return ((await store.start_one_shot_run(start, started)).record.id,)
            canceled = _record(body["canceled"])
            if call.operation == "start_root_run":
                return ((await store.start_root_run(start, started, canceled)).started.id,)
            both = await store.start_child_run(start, _record(body["parent_linked"]), started, canceled)
            return (both.parent_record.id, both.started.id)
        if call.operation == "append_run_record":
            return ((await store.append_run_record(_record(body))).id,)
        record = _record(body["record"])
        if call.operation == "record_run_cancellation":
            return ((await store.record_run_cancellation(call.path, body["reason"], record)).id,)
        if call.operation == "record_run_suspension":
            given = body["suspension"]
            checkpoint = RunSuspension(given["id"], base64.b64decode(given["data"]))
            return ((await store.record_run_suspension(call.path, checkpoint, record)).id,)
        assert call.operation == "record_run_terminal", call.operation
        return ((await store.record_run_terminal(call.path, Terminal(body["status"]), record)).id,)


def _ids(call: Call, answer: Document) -> tuple[str, ...]:
    return tuple(result["id"] for result in results_of(call, answer))


def _typed(document: Document, *times: str) -> dict[str, Any]:
    return document | {name: datetime.fromisoformat(document[name]) for name in times}


def _start(document: Document) -> RunStart:
    return RunStart(**_typed(document, "started_at"))


def _record(document: Document) -> RunRecord:
    return RunRecord(**_typed(document, "timestamp"))
