"""Several replicas of the service on one database, from the first start on."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from tests.conftest import StartServer
from tests.hostile.asking import done, listed
from tests.model import commands as make
from tests.model.wire import Wire
from tests.store.conftest import Sql

REPLICAS = 4


def test_replicas_that_start_together_on_an_empty_database_make_one_migration(
    start_server: StartServer, database_url: str
) -> None:
    servers = [start_server(wait=False) for _ in range(REPLICAS)]
    for server in servers:
        server.wait_until_ready()
    sql = Sql(database_url)
    assert sql("SELECT count(*) FROM alembic_version") == [(1,)]
    sql.close()
    assert not [server.output() for server in servers if "Traceback" in server.output()]

    with Wire(servers[0].url) as wire:
        done(wire, make.create("s"), make.start("r", session="s"))

    def write(place: int) -> list[str]:
        with Wire(servers[place].url) as wire:
            calls = [make.append("r", session="s", key=f"{place} {number}") for number in range(25)]
            return [done(wire, call)["id"] for call in calls]

    with ThreadPoolExecutor(REPLICAS) as pool:
        ids = [given for part in pool.map(write, range(REPLICAS)) for given in part]
    assert sorted(map(int, ids)) == list(range(2, 2 + 25 * REPLICAS))
    for server in servers:
        with Wire(server.url) as wire:
            assert [record["id"] for record in listed(wire, "list_run_records", "r")][1:] == sorted(ids, key=int)
