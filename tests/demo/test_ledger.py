"""The chaos demo's count is worth something only if it sees what is lost, doubled or unknown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from demo.ledger import Findings, Ledger, read_back
from demo.lives import Life
from runhold_client import HttpStore, Page, TerminalStatus


class StutteringStore(HttpStore):
    """A store whose session log gives its first record twice."""

    def list_session_run_records(self, *arguments: Any, **options: Any) -> Page:
        page = super().list_session_run_records(*arguments, **options)
        return replace(page, records=(page.records[0], *page.records))


@pytest.fixture
def store(server: Any) -> Iterator[HttpStore]:
    with HttpStore(server.url) as store:
        yield store


@pytest.fixture
def ledger(store: HttpStore, unique: str) -> Ledger:
    """The account of a run of three records, which is true."""
    ledger = Ledger()
    store.create_session(unique)
    life = Life(f"{unique}/run", "tester", unique)
    ledger.note(started := life.started, store.start_root_run(life.start, started, life.stopped).started)
    ledger.note(note := life.record("note", "planner_note", {}), store.append_run_record(note))
    end = life.completed
    ledger.note(end, store.record_run_terminal(life.run_id, TerminalStatus.COMPLETED, end))
    return ledger


def test_a_true_account_is_sound(store: HttpStore, ledger: Ledger, unique: str) -> None:
    found = read_back(store, unique, ledger)
    assert str(found) == "acknowledged 3, lost 0, doubled 0"
    assert found.is_sound
    assert ledger.repeated == 0


def test_a_repetition_is_counted_and_changes_nothing(store: HttpStore, ledger: Ledger, unique: str) -> None:
    _, note = ledger.acknowledged[f"{unique}/run", "note"]
    ledger.note(note, store.append_run_record(note))
    assert ledger.repeated == 1
    assert read_back(store, unique, ledger).is_sound


def test_a_record_that_is_not_there_is_lost(store: HttpStore, ledger: Ledger, unique: str) -> None:
    _, note = ledger.acknowledged[f"{unique}/run", "note"]
    ledger.acknowledged[f"{unique}/run", "another"] = ("4", replace(note, event_key="another"))
    found = read_back(store, unique, ledger)
    assert (str(found), found.is_sound) == ("acknowledged 4, lost 1, doubled 0", False)


@pytest.mark.parametrize("change", ["id", "content"])
def test_a_record_that_changed_is_lost(store: HttpStore, ledger: Ledger, unique: str, change: str) -> None:
    id_, note = ledger.acknowledged[f"{unique}/run", "note"]
    other = ("9", note) if change == "id" else (id_, replace(note, payload="{ }"))
    ledger.acknowledged[f"{unique}/run", "note"] = other
    found = read_back(store, unique, ledger)
    assert (found.lost, found.is_sound) == (1, False)


def test_a_record_that_is_there_twice_is_doubled(server: Any, ledger: Ledger, unique: str) -> None:
    with StutteringStore(server.url) as store:
        found = read_back(store, unique, ledger)
    assert (str(found), found.is_sound) == ("acknowledged 3, lost 0, doubled 1", False)


def test_a_record_that_nobody_was_told_of_is_a_fault(store: HttpStore, ledger: Ledger, unique: str) -> None:
    del ledger.acknowledged[f"{unique}/run", "note"]
    found = read_back(store, unique, ledger)
    assert (found.faults, found.is_sound) == (["1 records are there that no worker was told of"], False)


def test_an_account_without_entries_proves_nothing() -> None:
    assert not Findings(0).is_sound
