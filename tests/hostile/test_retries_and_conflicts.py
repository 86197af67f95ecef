"""What other stores got wrong when a command came twice, changed, or from two sides: section A of the field cases."""

from __future__ import annotations

import json
import random
import socket
import time
from concurrent.futures import ThreadPoolExecutor

import httpx

from tests.hostile.asking import done, listed, refused
from tests.model import commands as make
from tests.model.model import Call
from tests.model.wire import Wire, body_bytes
from tests.support.server import Server


def test_the_same_key_with_another_payload_is_a_conflict_that_names_it(wire: Wire, unique: str) -> None:
    done(wire, make.start(unique), make.append(unique, key="k-1", payload='{"a":1}'))
    problem = refused(wire, make.append(unique, key="k-1", payload='{"a":2}'), "event_conflict")
    assert (problem["run_id"], problem["event_key"], problem["differs"]) == (unique, "k-1", ["payload"])
    assert [record["payload"] for record in listed(wire, "list_run_records", unique)][1:] == ['{"a":1}']


def test_the_same_append_three_times_in_a_row_is_one_record(wire: Wire, unique: str) -> None:
    done(wire, make.start(unique))
    answers = [done(wire, make.append(unique)) for _ in range(3)]
    assert [answer["inserted"] for answer in answers] == [True, False, False]
    assert {answer["id"] for answer in answers} == {"2"}
    assert len(listed(wire, "list_run_records", unique)) == 2


def test_a_retry_may_spell_the_envelope_otherwise(wire: Wire, unique: str) -> None:
    """Only the meaning of the envelope and the bytes of the payload count."""
    first = make.append(unique, payload=' {"b":1, "a":2}')
    done(wire, make.start(unique), first)
    turned = dict(reversed(first.body.items())) | {"timestamp": "2026-03-01T10:00:00.000+00:00"}
    again = wire.http.post(
        f"/v1/runs/{unique}/records",
        content=json.dumps(turned, indent=3).replace("agent_id", "\\u0061gent_id").encode(),
        headers={"content-type": "application/json; charset=utf-8"},
    )
    assert again.json() == {"id": "2", "inserted": False, "session_status": ""}


def test_a_payload_comes_back_byte_for_byte_and_sorted_keys_are_another_payload(wire: Wire, unique: str) -> None:
    payload = '{"zz":1,  "a":{"b":2,"aa":3.0}\n}'
    done(wire, make.start(unique), make.append(unique, payload=payload))
    assert listed(wire, "list_run_records", unique)[1]["payload"] == payload
    problem = refused(
        wire, make.append(unique, payload=json.dumps(json.loads(payload), sort_keys=True)), "event_conflict"
    )
    assert problem["differs"] == ["payload"]


def test_a_session_is_created_once_and_keeps_its_first_end(wire: Wire, unique: str) -> None:
    created = done(wire, make.create(unique))
    assert done(wire, make.create(unique, "2027-01-01T00:00:00Z")) == created
    ended = done(wire, make.end_session(unique, "2026-03-02T00:00:00Z"))
    refused(wire, make.create(unique), "session_ended")
    assert done(wire, make.end_session(unique, "2026-03-03T00:00:00Z")) == ended
    assert ended["ended_at"] == "2026-03-02T00:00:00.000000Z"


def test_of_two_workers_of_one_run_the_first_to_end_it_owns_it(wire: Wire, unique: str) -> None:
    done(wire, make.start(unique))
    for number in range(6):
        done(wire, make.append(unique, key=f"worker {number % 2} step {number // 2}"))
    done(wire, make.terminal(unique, status="completed", key="end of worker 0"))
    refused(wire, make.terminal(unique, status="failed", key="end of worker 1"), "run_terminal_conflict")
    repaired = done(wire, make.terminal(unique, status="failed", key="end of worker 1", repair=True))
    assert repaired == {"outcome": "different_terminal", "status": "completed", "record": None}
    assert done(wire, make.load(unique))["status"] == "completed"
    assert [record["id"] for record in listed(wire, "list_run_records", unique)] == [str(n) for n in range(1, 9)]


def test_callers_who_hang_up_leave_whole_runs_or_none(server: Server, wire: Wire, unique: str) -> None:
    """Two hundred starts whose answers nobody reads; each is repeated once afterwards."""
    session, chosen = f"{unique}-s", random.Random(11)
    done(wire, make.create(session))
    starts = [make.start(f"{unique}-{number}", session=session) for number in range(200)]

    def send_and_hang_up(start: Call) -> None:
        body = body_bytes(start.body)
        head = (
            "POST /v1/runs/root HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
            f"content-length: {len(body)}\r\n\r\n"
        ).encode()
        whole = head + body
        with socket.create_connection(("127.0.0.1", server.port)) as connection:
            connection.sendall(whole[: chosen.choice([len(whole)] * 4 + [len(head), len(whole) - 1])])
            time.sleep(chosen.choice([0, chosen.random() * 0.005]))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(send_and_hang_up, starts))
    before = listed(wire, "list_runs_by_session", session)
    assert all(run["record_count"] == 1 for run in before)
    assert before
    answers = [done(wire, start) for start in starts]
    runs = listed(wire, "list_runs_by_session", session)
    assert sorted(run["run_id"] for run in runs) == sorted(start.body["run"]["run_id"] for start in starts)
    assert all(run["record_count"] == 1 for run in runs)
    assert sum(answer["started"]["inserted"] for answer in answers) <= len(starts) - len(before)
    with ThreadPoolExecutor(20) as pool:
        ready = list(pool.map(lambda _: httpx.get(f"{server.url}/readyz", trust_env=False).status_code, range(20)))
    assert set(ready) == {200}


def test_a_caller_who_sends_the_whole_history_every_time_stores_each_record_once(wire: Wire, unique: str) -> None:
    done(wire, make.start(unique))
    history = [make.append(unique, key=f"k-{number}", payload=f'{{"step":{number}}}') for number in range(50)]
    inserted = 0
    for turn in range(1, 51):
        results = done(wire, make.batch(*history[:turn]))["results"]
        assert [result["body"]["id"] for result in results] == [str(number + 2) for number in range(turn)]
        inserted += sum(result["body"]["inserted"] for result in results)
    assert inserted == 50
    assert len(listed(wire, "list_run_records", unique)) == 51
