"""A memory in the product's own SQL database. It needs SQLAlchemy: the extra ``memory-sql``.

Tested on SQLite and PostgreSQL (extra ``memory-postgresql``: psycopg). The statements are plain enough for others.
"""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime, timedelta
from typing import Self

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, IntegrityError

from runhold_client.memory.events import Event, EventType, Snapshot
from runhold_client.memory.store import check_ids

METADATA = sa.MetaData()
"""The two tables, for products that create them by migrations of their own."""

# A run is found by a hash of its two ids: exact on every database, whatever its collation and its limits on index keys.
_RUNS = sa.Table(
    "memory_runs",
    METADATA,
    sa.Column("run_hash", sa.CHAR(64), primary_key=True),
    sa.Column("agent_id", sa.Text, nullable=False),
    sa.Column("run_id", sa.Text, nullable=False),
    sa.Column("event_count", sa.BigInteger, nullable=False),
)
_EVENTS = sa.Table(
    "memory_events",
    METADATA,
    sa.Column("run_hash", sa.CHAR(64), sa.ForeignKey(_RUNS.c.run_hash), primary_key=True),
    sa.Column("position", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("type", sa.String(32), nullable=False),
    sa.Column("timestamp_us", sa.BigInteger, nullable=False, comment="microseconds since 1970, UTC"),
    sa.Column("turn_id", sa.Text, nullable=False),
    sa.Column("labels", sa.Text, nullable=False),
    sa.Column("data", sa.Text, nullable=False),
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ATTEMPTS = 5


class SqlStore:
    """A ``Store`` in a SQL database; processes may share it.

    Writers of one run wait for each other: each adds its number of events to the run's count, which locks the run's row
    until the commit, and stores them at the positions it won. Nothing is lost, and events of one call stay together.

    Args: url is a SQLAlchemy URL, or an engine of the product's own, which is then not closed here.
    """

    def __init__(self, url: str | sa.URL | sa.Engine) -> None:
        self._owns_engine = not isinstance(url, sa.Engine)
        self._engine = url if isinstance(url, sa.Engine) else _engine(sa.make_url(url))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections of an engine that was made here."""
        if self._owns_engine:
            self._engine.dispose()

    def create_tables(self) -> None:
        """Create the tables that are missing; processes may do so at the same time."""
        for attempt in range(_ATTEMPTS):
            try:
                METADATA.create_all(self._engine)
                return
            except DBAPIError:
                # Another process created one in between; then the next look finds it.
                if attempt == _ATTEMPTS - 1:
                    raise

    def load_run(self, agent_id: str, run_id: str) -> Snapshot:
        """See ``Store.load_run``. Raises: sqlalchemy.exc.DBAPIError when the database cannot answer."""
        check_ids(agent_id, run_id)
        query = sa.select(_EVENTS).where(_EVENTS.c.run_hash == _run_hash(agent_id, run_id)).order_by(_EVENTS.c.position)
        with self._engine.connect() as connection:
            return Snapshot(agent_id, run_id, tuple(_event(row) for row in connection.execute(query)))

    def append_events(self, agent_id: str, run_id: str, *events: Event) -> None:
        """See ``Store.append_events``.

        Raises: sqlalchemy.exc.DBAPIError when the database cannot answer. When the connection broke during the commit
        the events may be stored all the same: load the run to see.
        """
        check_ids(agent_id, run_id)
        if not events:
            return
        for attempt in range(_ATTEMPTS):
            try:
                self._append(agent_id, run_id, events)
                return
            except IntegrityError:
                # Two first writers of a run: one created its row, the other finds it now.
                if attempt == _ATTEMPTS - 1:
                    raise

    def _append(self, agent_id: str, run_id: str, events: tuple[Event, ...]) -> None:
        run_hash = _run_hash(agent_id, run_id)
        added = (
            sa.update(_RUNS).where(_RUNS.c.run_hash == run_hash).values(event_count=_RUNS.c.event_count + len(events))
        )
        with self._engine.begin() as connection:
            count = len(events)
            if connection.execute(added).rowcount:
                count = connection.execute(
                    sa.select(_RUNS.c.event_count).where(_RUNS.c.run_hash == run_hash)
                ).scalar_one()
            else:
                row = {"run_hash": run_hash, "agent_id": agent_id, "run_id": run_id, "event_count": count}
                connection.execute(sa.insert(_RUNS), row)
            first = count - len(events) + 1
            connection.execute(
                sa.insert(_EVENTS),
                [_row(run_hash, position, event) for position, event in enumerate(events, first)],
            )


def _engine(url: sa.URL) -> sa.Engine:
    if url.get_backend_name() == "sqlite":
        if url.database in (None, "", ":memory:"):
            raise ValueError("a SQLite memory needs a file; InMemoryStore is the one that keeps nothing")
        return sa.create_engine(url, connect_args={"timeout": 30})
    return sa.create_engine(url, pool_pre_ping=True)


def _run_hash(agent_id: str, run_id: str) -> str:
    agent = agent_id.encode()
    return hashlib.sha256(b"%d:%b%b" % (len(agent), agent, run_id.encode())).hexdigest()


def _row(run_hash: str, position: int, event: Event) -> dict[str, str | int]:
    return {
        "run_hash": run_hash,
        "position": position,
        "type": event.type.value,
        "timestamp_us": (event.timestamp - _EPOCH) // timedelta(microseconds=1),
        "turn_id": event.turn_id,
        "labels": json.dumps(dict(event.labels)),
        "data": event.data,
    }


def _event(row: sa.Row[tuple[object, ...]]) -> Event:
    found = row._mapping
    return Event(
        type=EventType(found["type"]),
        timestamp=_EPOCH + timedelta(microseconds=found["timestamp_us"]),
        data=found["data"],
        turn_id=found["turn_id"],
        labels=json.loads(found["labels"]),
    )
