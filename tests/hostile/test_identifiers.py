"""Ids, labels and reasons that other stores mixed up, cut or failed on: section C of the field cases."""

from __future__ import annotations

import asyncio
import random

import pytest

from runhold_client import AsyncHttpStore, HttpStore, TerminalStatus
from tests.client.stories import ARun
from tests.hostile.asking import done, listed, refused
from tests.model import commands as make
from tests.model.model import Call
from tests.model.wire import Wire
from tests.support.server import Server

ODD = (
    "team/a b",
    "r%2F1",
    "k?x#y",
    "s-1/records",
    "s-1%00",
    "..",
    ".",
    "records",
    "root",
    "~",
    "~a",
    "\\",
    "//",
    " ",
    "%",
)
WORDS = ("..", ".", "records", "root", "child", "one-shot", "one-shot-child", "status", "end", "runs", "~", "//")


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_id_works_through_every_route(wire: Wire, unique: str, odd: str) -> None:
    """Both spellings of a path id, wherever both are possible."""
    for plain in (False, True):
        session, run, key = f"{odd}{unique}{plain}", f"{odd}/{unique}{plain}", odd
        done(wire, make.create(session), make.start(run, session=session))
        for call in (
            make.append(run, session=session, key=key),
            make.cancellation(run, session=session, key=f"{key} cancel"),
            make.suspension(run, session=session, key=f"{key} suspend"),
            make.suspension(run, session=session, key=f"{key} suspend", repair=True),
            Call("load_run", run),
            Call("load_run_suspension", run),
            Call("list_run_records", run),
            Call("load_session", session),
            Call("load_session_status", session),
            Call("list_session_run_records", session),
            Call("list_runs_by_session", session),
            make.end_session(session),
        ):
            answer = wire.call(call, plain)
            assert answer.status == 200, f"{call}: {answer}"
        refused(wire, make.terminal(run, session=session), "run_terminal_conflict")
        told = make.terminal(run, session=session, repair=True)
        assert wire.call(told, plain).body["outcome"] == "different_terminal"
        assert [found["event_key"] for found in listed(wire, "list_run_records", run)] == [
            "started",
            key,
            f"{key} cancel",
            f"{key} suspend",
        ]
        assert wire.call(Call("purge_session", session), plain).status == 204
        one_shot = f"{run} alone"
        done(wire, make.start(one_shot), make.terminal(one_shot))
        assert wire.call(Call("purge_one_shot_run", one_shot), plain).status == 204


def test_an_id_that_is_a_word_of_a_route_is_an_ordinary_one(own_server: Server) -> None:
    with Wire(own_server.url) as wire:
        for word in WORDS:
            done(wire, make.create(word), make.start(word, session=word), make.append(word, session=word, key=word))
        for word in WORDS:
            assert done(wire, Call("load_run", word))["run_id"] == word
            assert done(wire, Call("load_session", word))["session_id"] == word
            assert [found["run_id"] for found in listed(wire, "list_session_run_records", word)] == [word, word]
        assert {found["run_id"] for found in listed(wire, "list_runs")} == set(WORDS)


@pytest.mark.parametrize("odd", ["team/a b", "r%2F1", "k?x#y", "..", "~"])
def test_odd_ids_work_through_both_clients(server: Server, unique: str, odd: str) -> None:
    run = ARun(f"{odd}/{unique}/blocking", f"{odd}{unique}blocking")
    with HttpStore(server.url) as store:
        store.create_session(run.session_id)
        store.start_root_run(run.start, run.started, run.canceled)
        assert store.append_run_record(run.note(odd)).inserted
        assert store.load_run(run.run_id).run_id == run.run_id
        assert [found.record.event_key for found in store.list_run_records(run.run_id).records] == ["started", odd]
        assert store.load_session_status(run.session_id) == "active"
        store.record_run_terminal(run.run_id, TerminalStatus.COMPLETED, run.completed())
        assert len(store.list_session_run_records(run.session_id).records) == 3

    async def play() -> None:
        run = ARun(f"{odd}/{unique}/asynchronous", f"{odd}{unique}asynchronous")
        async with AsyncHttpStore(server.url) as store:
            await store.create_session(run.session_id)
            await store.start_root_run(run.start, run.started, run.canceled)
            assert (await store.append_run_record(run.note(odd * 2))).inserted
            assert (await store.load_run(run.run_id)).run_id == run.run_id
            assert len((await store.list_session_run_records(run.session_id)).records) == 2

    asyncio.run(play())


def test_long_reasons_ids_and_labels_are_stored_whole(wire: Wire, unique: str) -> None:
    run = unique.ljust(300, "r")
    labels = {f"label {number}": "v" * 100 for number in range(200)} | {"long": "é" * 5_000}
    reason = "because " * 625
    done(wire, make.start(run, labels=labels), make.cancellation(run, reason=reason))
    done(wire, make.terminal(run, status="canceled", reason=reason, labels=labels))
    found = done(wire, make.load(run))
    assert (found["run_id"], found["labels"], found["cancellation_reason"]) == (run, labels, reason)
    assert len(reason) == 5_000


def test_texts_that_do_not_fit_an_index_are_stored_or_told_the_limit(wire: Wire, unique: str) -> None:
    """Random text, which no database can make shorter."""
    chosen = random.Random(41)

    def some(size: int) -> str:
        return unique + "".join(chr(chosen.randrange(0x21, 0x7F)) for _ in range(size - len(unique)))

    label, long = some(4_096), some(4_096)
    for call in (make.create(long), make.start(unique, session=long), make.start(long), make.start(unique, key=long)):
        problem = refused(wire, call, "invalid_command")
        assert all("1024" in error["detail"] for error in problem["errors"] if "bytes" in error["detail"]), problem
    session, run, key, agent = (some(1_024) for _ in range(4))
    done(wire, make.create(session), make.start(run, agent, session, labels={"long": label}))
    done(wire, make.append(run, agent, session, key=key))
    child = some(1_024)
    done(wire, make.start(child, agent, session, parent=run, parent_agent=agent, link_key=some(1_024)))
    assert [found["run_id"] for found in listed(wire, "list_runs", agent_id=agent)] == sorted([run, child])
    assert [found["run_id"] for found in listed(wire, "list_runs", parent_run_id=run)] == [child]
    assert [found["run_id"] for found in listed(wire, "list_runs", label=f"long={label}")] == [run]
    assert listed(wire, "list_run_records", run)[1]["event_key"] == key
