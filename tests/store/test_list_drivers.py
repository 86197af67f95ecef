"""Whichever filter drives a list of runs, it holds the same: all combinations, on both databases, by brute force."""

from __future__ import annotations

import asyncio
from itertools import product

import pytest
from msgspec.structs import replace

from runhold.domain.paging import RunQuery
from runhold.domain.values import Run, RunStatus
from runhold.store import lists
from tests import builders as a
from tests.store.conftest import Store, opened, run

STATUSES = [(), (RunStatus.COMPLETED,), (RunStatus.RUNNING, RunStatus.FAILED)]
AGENTS = ["", "a", "b", "nobody"]
LABELS: list[tuple[tuple[str, str], ...]] = [
    (),
    (("team", "red"),),
    (("team", "red"), ("rare", "yes")),
    (("no", "such"),),
]


async def fill(store: Store) -> list[Run]:
    """Twenty-four runs of every kind, in the order of their starts."""
    for number in range(24):
        labels = {"team": "red" if number % 3 else "blue", **({"rare": "yes"} if number % 8 == 1 else {})}
        name = f"run-{number:02d}"
        start = a.a_run(
            run_id=name, session_id="", agent_id="a" if number % 5 else "b", started_at=a.AT + number, labels=labels
        )
        await run(store, a.a_one_shot_start(start))
        if number % 2:
            kind = "failed" if number % 7 == 0 else "success"
            await run(store, a.an_ending(start, kind))
    return [await store.reader.load_run("default", f"run-{number:02d}") for number in range(24)]


def matches(found: Run, query: RunQuery) -> bool:
    return (
        (not query.statuses or found.status in query.statuses)
        and (not query.agent_id or found.agent_id == query.agent_id)
        and all(found.labels.get(name) == value for name, value in query.labels)
        and (query.started_after is None or found.started_at >= query.started_after)
        and (query.started_before is None or found.started_at < query.started_before)
    )


async def pages(store: Store, query: RunQuery) -> list[str]:
    """All pages of four, put together."""
    found, after = [], None
    while True:
        page = await store.reader.list_runs("default", replace(query, limit=4, after=after))
        found += [each.run_id for each in page.runs]
        if page.next_after is None:
            return found
        after = page.next_after


@pytest.mark.parametrize("probed", [1, lists.PROBED])
def test_every_combination_of_filters_holds_what_matches(
    database_url: str, probed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # With one row counted at most every filter seems as good as the next, and the first one drives.
    monkeypatch.setattr(lists, "PROBED", probed)

    async def inside() -> None:
        async with opened(database_url) as store:
            every = await fill(store)
            bounds = [(None, None), (a.AT + 5, a.AT + 20)]
            for statuses, agent, labels, (low, high), descending in product(
                STATUSES, AGENTS, LABELS, bounds, (False, True)
            ):
                query = RunQuery(
                    statuses,
                    agent_id=agent,
                    labels=labels,
                    started_after=low,
                    started_before=high,
                    descending=descending,
                )
                wanted = [found.run_id for found in every if matches(found, query)]
                assert await pages(store, query) == (wanted[::-1] if descending else wanted), query

    asyncio.run(inside())
