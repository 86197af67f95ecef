"""Mistakes in lists, filters and cursors."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from tests.model.seeded_bugs.bug import Catalogue

CATALOGUE = Catalogue()
seed = CATALOGUE.seed


@seed("a page of records begins one record too late", "runhold.store.pages:bound")
def cursor_off_by_one(rule: Any) -> Any:
    return lambda query: rule(query) + (1 if query.after and not query.descending else 0)


@seed("a page that is exactly full promises another", "runhold.store.pages:fitting")
def full_page_promises_more(rule: Any) -> Any:
    def fitting(sizes: Any, query: Any) -> tuple[int, int, bool]:
        count, last, more = rule(sizes, query)
        return count, last, more or count == query.limit

    return fitting


@seed("the last run of a page comes again on the next", "runhold.store.lists:run_page")
def page_of_runs_overlaps(rule: Any) -> Any:
    def run_page(found: Any, query: Any, *, by_ordinal: bool = False) -> Any:
        page = rule(found, query, by_ordinal=by_ordinal)
        if page.next_after is None:
            return page
        place, run_id = page.next_after
        return replace(page, next_after=(place - 1, run_id))

    return run_page


@seed("a label filter looks at names alone", "runhold.store.rows:label_hash")
def label_filter_ignores_values(rule: Any) -> Any:
    return lambda name, value: rule(name, "")


@seed("started_before is inclusive", "runhold.api.handlers:RunQuery")
def started_before_is_inclusive(rule: Any) -> Any:
    def run_query(*values: Any, **given: Any) -> Any:
        if (bound := given.get("started_before")) is not None:
            given["started_before"] = bound + 1
        return rule(*values, **given)

    return run_query


@seed("a filter of two statuses keeps the first", "runhold.api.queries:Query._statuses")
def only_the_first_status(rule: Any) -> Any:
    return lambda self, known: rule(self, known)[:1]


@seed("cursors are taken with another filter", "runhold.domain.paging:_set")
def cursor_of_another_filter(_: Any) -> Any:
    return lambda values: ""
