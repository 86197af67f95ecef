"""Times that other stores cut, shifted or took for versions: section D of the field cases."""

from __future__ import annotations

from datetime import UTC, datetime
from urllib.parse import urlsplit

import psycopg
import pytest

from tests.conftest import StartServer
from tests.hostile.asking import done, listed, refused
from tests.model import commands as make
from tests.model.model import Call
from tests.model.wire import Wire


def test_a_time_is_kept_to_the_millisecond_and_a_finer_one_is_refused(wire: Wire, unique: str) -> None:
    done(wire, make.start(unique))
    refused(wire, make.append(unique, at="2026-03-01T10:00:00.123456Z"), "invalid_command")
    stored = done(wire, make.append(unique, at="2026-03-01T10:00:00.123Z"))
    again = done(wire, make.append(unique, at="2026-03-01T10:00:00.123000Z"))
    assert (again["id"], again["inserted"]) == (stored["id"], False)
    assert listed(wire, "list_run_records", unique)[1]["timestamp"] == "2026-03-01T10:00:00.123Z"


@pytest.fixture
def far_away(database: str, database_url: str, start_server: StartServer) -> Wire:
    """A service that believes to be in California, on a database whose sessions are in Japan."""
    if database == "postgresql":
        with psycopg.connect(database_url, autocommit=True) as connection:
            name = urlsplit(database_url).path.lstrip("/")
            connection.execute(f"ALTER DATABASE {name} SET timezone TO 'Asia/Tokyo'".encode())
    return Wire(start_server({"TZ": "America/Phoenix", "PGTZ": "Asia/Tokyo"}).url)


def test_time_zones_of_service_and_database_change_no_instant(far_away: Wire) -> None:
    with far_away as wire:
        created = done(wire, make.create("s", "2026-03-01T00:30:00.123456+05:30"))
        ended = done(wire, make.end_session("s", "2026-02-28T12:00:00-07:00"))
        assert created["created_at"] == "2026-02-28T19:00:00.123456Z"
        assert ended["ended_at"] == "2026-02-28T19:00:00.000000Z"
        assert done(wire, Call("load_session", "s")) == ended
        for run, at in (
            ("a", "2026-03-01T00:00:00+09:00"),
            ("b", "2026-02-28T15:00:00.001Z"),
            ("c", "1969-12-31T23:59:59.999Z"),
        ):
            done(wire, make.start(run, at=at))
        told = {run["run_id"]: run["started_at"] for run in listed(wire, "list_runs")}
        assert told == {
            "a": "2026-02-28T15:00:00.000Z",
            "b": "2026-02-28T15:00:00.001Z",
            "c": "1969-12-31T23:59:59.999Z",
        }
        exactly = {"started_after": "2026-02-28T08:00:00-07:00", "started_before": "2026-02-28T15:00:00.001Z"}
        assert [run["run_id"] for run in listed(wire, "list_runs", **exactly)] == ["a"]


def test_the_services_own_clock_is_told_in_utc(far_away: Wire) -> None:
    with far_away as wire:
        created = done(wire, make.create("s", None))["created_at"]
        done(wire, make.start("r"))
        stored = listed(wire, "list_run_records", "r")[0]["stored_at"]
    for text in (created, stored):
        assert abs((datetime.now(UTC) - datetime.fromisoformat(text)).total_seconds()) < 60


def test_time_is_never_a_version(wire: Wire, unique: str) -> None:
    """A whole run within one instant, and one that is older than its session, whose end precedes its beginning."""
    session = f"{unique}-s"
    done(wire, make.create(session))
    done(wire, make.start(unique, session=session), make.append(unique, session=session))
    done(wire, make.terminal(unique, session=session))
    old = f"{unique}-old"
    done(wire, make.start(old, session=session, at="1999-12-31T23:59:59.999Z"))
    done(wire, make.append(old, session=session, at="1999-12-31T23:59:59.998Z"))
    done(
        wire,
        make.append(old, session=session, key="k2", at="1999-01-01T00:00:00Z"),
        make.terminal(old, session=session),
    )
    ended = done(wire, make.end_session(session, "1998-01-01T00:00:00Z"))
    assert ended["ended_at"] == "1998-01-01T00:00:00.000000Z"
    log = listed(wire, "list_session_run_records", session)
    assert [record["run_id"] for record in log] == [unique] * 3 + [old] * 4
