"""How flows are run: over an asynchronous store, over a synchronous one in threads, or without an event loop."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any, TypeGuard, TypeVar

from runhold_client.recorder.flows import Ask, Call, Flow
from runhold_client.store import AsyncStore, Store

T = TypeVar("T")


async def drive(store: Store | AsyncStore, flow: Flow[T]) -> T:
    """Run a flow in the event loop. A synchronous store is asked in a thread of the loop's executor."""
    try:
        wanted = next(flow)
        while True:
            try:
                answer = await _answer(store, wanted)
            except BaseException as error:  # noqa: BLE001 - thrown into the flow, which lets pass what it does not know
                wanted = flow.throw(error)
            else:
                wanted = flow.send(answer)
    except StopIteration as end:
        result: T = end.value
        return result


def drive_blocking(store: Store, flow: Flow[T]) -> T:
    """Run a flow in this thread."""
    try:
        wanted = next(flow)
        while True:
            try:
                answer = _blocking_answer(store, wanted)
            except BaseException as error:  # noqa: BLE001 - thrown into the flow, which lets pass what it does not know
                wanted = flow.throw(error)
            else:
                wanted = flow.send(answer)
    except StopIteration as end:
        result: T = end.value
        return result


def is_synchronous(store: Store | AsyncStore) -> TypeGuard[Store]:
    """Whether a store's operations are ordinary functions."""
    return not inspect.iscoroutinefunction(store.append_run_record)


async def _answer(store: Store | AsyncStore, wanted: Ask | Call) -> Any:
    if isinstance(wanted, Call):
        value = wanted.function()
        return await value if inspect.isawaitable(value) else value
    operation = getattr(store, wanted.operation)
    if is_synchronous(store):
        return await asyncio.to_thread(operation, *wanted.arguments)
    return await operation(*wanted.arguments)


def _blocking_answer(store: Store, wanted: Ask | Call) -> Any:
    if isinstance(wanted, Ask):
        return getattr(store, wanted.operation)(*wanted.arguments)
    value = wanted.function()
    if inspect.isawaitable(value):
        if inspect.iscoroutine(value):
            value.close()
        raise TypeError("a step of a run that was opened by `with` calls an ordinary function, not a coroutine")
    return value
