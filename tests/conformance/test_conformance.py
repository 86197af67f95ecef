"""Every public scenario, over HTTP and through the stores, on every database."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from runhold import open_async_local_store, open_local_store
from runhold_client import AsyncHttpStore, HttpStore
from tests.conformance.expressible import expressible
from tests.conformance.player import Count, all_scenarios, play, play_typed
from tests.conformance.ports import AsyncStorePort, HttpPort, StorePort

SCENARIOS = all_scenarios()

each_scenario = pytest.mark.parametrize(
    "scenario", [pytest.param(scenario, id=f"{file}: {scenario['name']}") for file, scenario in SCENARIOS]
)


def test_all_public_scenarios_are_here() -> None:
    assert len(SCENARIOS) == 66


@pytest.mark.parametrize("gathered", [False, True], ids=["one request each", "through run_commands"])
@each_scenario
def test_over_http(server: Any, scenario: Mapping[str, Any], gathered: bool) -> None:
    port = HttpPort(server.url, gathered=gathered)
    try:
        assert play(port, scenario) == len(scenario["steps"])
    finally:
        port.close()


@each_scenario
def test_through_the_http_store(server: Any, scenario: Mapping[str, Any], counts: dict[str, Count]) -> None:
    wire = HttpPort(server.url)
    with HttpStore(server.url) as store:
        play_typed(StorePort(store), scenario, wire, counts["HttpStore"])
    wire.close()


@each_scenario
def test_through_the_async_http_store(server: Any, scenario: Mapping[str, Any], counts: dict[str, Count]) -> None:
    wire = HttpPort(server.url)
    with asyncio.Runner() as runner:
        store = AsyncHttpStore(server.url)
        try:
            play_typed(AsyncStorePort(store, runner), scenario, wire, counts["AsyncHttpStore"])
        finally:
            runner.run(store.aclose())
    wire.close()


@each_scenario
def test_through_the_local_store(database_url: str, scenario: Mapping[str, Any], counts: dict[str, Count]) -> None:
    with open_local_store(database_url) as store:
        play_typed(StorePort(store), scenario, None, counts["open_local_store"])


@each_scenario
def test_through_the_async_local_store(
    database_url: str, scenario: Mapping[str, Any], counts: dict[str, Count]
) -> None:
    with asyncio.Runner() as runner:
        store = runner.run(open_async_local_store(database_url).open())
        try:
            play_typed(AsyncStorePort(store, runner), scenario, None, counts["open_async_local_store"])
        finally:
            runner.run(store.aclose())


def test_the_rule_leaves_out_only_what_exists_on_the_wire_alone() -> None:
    left_out = [step for _, scenario in SCENARIOS for step in scenario["steps"] if not expressible(step)]
    assert len(left_out) == 18
    assert {step["op"] for step in left_out if "ok" in step["expect"]} == {"run_commands", "create_session"}
