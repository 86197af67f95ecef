"""``runhold verify`` as a process: its exit status, its report, its progress, and that it changes nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from tests.store.conftest import Sql
from tests.verify.conftest import Damage, fill

TABLES = ("namespaces", "sessions", "runs", "run_labels", "records", "suspensions")


def verify(url: str, *arguments: str, key: str = "") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "RUNHOLD_DATABASE_URL": url, "RUNHOLD_INTEGRITY_KEY": key}
    command = [sys.executable, "-m", "runhold", "verify", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)


def everything(sql: Sql) -> dict[str, list[Any]]:
    return {table: sorted(sql(f"SELECT * FROM {table}"), key=repr) for table in TABLES}


def test_a_sound_database_is_status_0_and_says_how_much_was_read(filled: str, sql: Sql) -> None:
    before = everything(sql)
    done = verify(filled)
    assert (done.returncode, done.stdout) == (0, "")
    assert "verified 2 sessions, 11 runs, 24 records: all holds" in done.stderr
    assert everything(sql) == before


def test_damage_is_status_1_and_a_line_for_each_row_and_nothing_is_changed(
    filled: str, sql: Sql, damage: Damage
) -> None:
    damage("UPDATE records SET turn_id = 'x' WHERE run_key = {run:o} AND position = 3")
    before = everything(sql)
    done = verify(filled)
    assert done.returncode == 1
    (line,) = done.stdout.splitlines()
    assert line.startswith("digest: namespace 'default' run 'o' record '3' key 'k1': ")
    assert "1 findings" in done.stderr
    assert everything(sql) == before


def test_the_report_is_json(filled: str, damage: Damage) -> None:
    damage("UPDATE runs SET record_count = 9 WHERE run_key = {run:o}")
    done = verify(filled, "--json")
    report = json.loads(done.stdout)
    (finding,) = report.pop("findings")
    assert report == {"sessions": 2, "runs": 11, "records": 24, "sound": False}
    assert finding == {
        "rule": "count",
        "detail": "the run counts 9 records, the last one is 4",
        "namespace": "default",
        "session_id": "",
        "run_id": "o",
        "position": 0,
        "event_key": "",
    }
    assert done.returncode == 1


@pytest.mark.usefixtures("sql")
def test_a_wrong_key_is_suspected_when_every_digest_is_wrong(database_url: str) -> None:
    fill(database_url, b"secret")
    assert verify(database_url, key="secret").returncode == 0
    done = verify(database_url, key="wrong")
    assert done.returncode == 1
    assert "is RUNHOLD_INTEGRITY_KEY that of the service?" in done.stderr
    assert "wrong" not in done.stdout.replace("went wrong", "")
    assert "secret" not in done.stdout + done.stderr


def test_a_scope_that_does_not_exist_is_status_2(filled: str) -> None:
    for arguments in (
        ("--session", "nobody"),
        ("--namespace", "nowhere"),
        ("--session", "s", "--namespace", "nowhere"),
    ):
        done = verify(filled, *arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert "there is no" in done.stderr
    assert verify(filled, "--session", "s").returncode == 0
    assert verify(filled, "--namespace", "default").returncode == 0


def test_a_database_that_cannot_be_read_is_status_2(database_url: str) -> None:
    for url in (database_url, "sqlite:////nowhere/at/all.db", "postgresql://nobody:s3cret@127.0.0.1:9/none"):
        done = verify(url)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("runhold: ")
        assert "s3cret" not in done.stderr
        assert "Traceback" not in done.stderr
