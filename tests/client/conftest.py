"""The stores under test, both kinds behind one synchronous face."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from runhold_client import AsyncHttpStore, HttpStore


class InLoop:
    """An async store whose methods are called like those of a synchronous one."""

    def __init__(self, store: AsyncHttpStore, runner: asyncio.Runner) -> None:
        self._store = store
        self._runner = runner

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._store, name)
        assert inspect.iscoroutinefunction(method), name

        def call(*args: Any, **options: Any) -> Any:
            return self._runner.run(method(*args, **options))

        return call


@pytest.fixture(params=["HttpStore", "AsyncHttpStore"])
def store(request: pytest.FixtureRequest, server: Any) -> Iterator[Any]:
    """A store of each kind, connected to a running service."""
    if request.param == "HttpStore":
        with HttpStore(server.url) as store:
            yield store
    else:
        with asyncio.Runner() as runner:
            twin = AsyncHttpStore(server.url)
            yield InLoop(twin, runner)
            runner.run(twin.aclose())
