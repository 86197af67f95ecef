"""The schema, described once for both databases. The migrations create it; a test holds the two to each other.

Surrogate ``bigint`` keys stand in for ids, because an index row of three 1,024-byte ids would not fit a page. Ids
compare by bytes. Times are integers, so that no session's time zone can move them. Rules of the contract that one row
can show are restated as constraints; what spans rows is guarded by the triggers in ``guards.py``.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Sequence,
    Text,
    UniqueConstraint,
    column,
)
from sqlalchemy.dialects import postgresql
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlmodel import Field, SQLModel

from runhold.domain.digests import DIGEST_BYTES
from runhold.domain.limits import CHECKPOINT_BYTES, ID_BYTES, NAMESPACE_BYTES, PAYLOAD_BYTES, REASON_BYTES

KEY_BLOCK = 256
"""How many keys a process takes from a sequence at once, so that most starts need no call for one."""

BIGINT = BigInteger().with_variant(Integer(), "sqlite")
"""64 bits on both; on SQLite a primary key of this very name is the row's own number and costs no index."""
ID = Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
"""An id: compared byte by byte, as SQLite does anyway."""
HASH = LargeBinary().with_variant(postgresql.UUID(as_uuid=False), "postgresql")
"""16 bytes of a SHA-256. PostgreSQL stores them as ``uuid``, without a length: 8 bytes less in each index row."""
GIVEN = {"autoincrement": False}
"""A key that the service allocates."""
TEXT = Text()
BYTES = LargeBinary()


class octets(FunctionElement[int]):  # noqa: N801 - reads as the function it is
    """Bytes of UTF-8 in a text, or of a blob; ``octet_length`` is too young for the SQLite of many systems."""

    inherit_cache = True
    type = Integer()


@compiles(octets)
def _octet_length(element: octets, compiler: SQLCompiler, **options: Any) -> str:
    return f"octet_length({compiler.process(element.clauses, **options)})"


@compiles(octets, "sqlite")
def _blob_length(element: octets, compiler: SQLCompiler, **options: Any) -> str:
    (value,) = element.clauses
    text = compiler.process(value, **options)
    return f"length({text})" if isinstance(value.type, LargeBinary) else f"length(CAST({text} AS BLOB))"


def _length(name: str, least: int, most: int = ID_BYTES) -> CheckConstraint:
    return CheckConstraint(octets(column(name)).between(least, most), name=f"{name}_length")


def _blob(name: str, least: int, most: int) -> CheckConstraint:
    return CheckConstraint(octets(column(name, BYTES)).between(least, most), name=f"{name}_length")


class Table(SQLModel):
    """The base of all tables."""

    metadata = MetaData(
        naming_convention={
            "pk": "pk_%(table_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s",
        }
    )


session_keys = Sequence("session_keys", data_type=BigInteger, increment=KEY_BLOCK, metadata=Table.metadata)
run_keys = Sequence("run_keys", data_type=BigInteger, increment=KEY_BLOCK, metadata=Table.metadata)


class NamespaceRow(Table, table=True):
    """A tenant."""

    __tablename__ = "namespaces"
    __table_args__ = (UniqueConstraint("name"), _length("name", 1, NAMESPACE_BYTES))

    namespace_key: int = Field(primary_key=True, sa_type=BIGINT)
    name: str = Field(sa_type=ID)


class SessionRow(Table, table=True):
    """A session, or the seal on a purged one: the row stays for ever, so that its id does."""

    __tablename__ = "sessions"
    __table_args__ = (
        UniqueConstraint("namespace_key", "session_id"),
        # Serves the list with and without a status: without one it is the merge of two scans.
        Index(None, "namespace_key", "status", "created_at", "session_id"),
        _length("session_id", 1),
        CheckConstraint("status IN ('active', 'ended', 'purged')", name="status"),
        CheckConstraint("(status = 'active') = (ended_at IS NULL)", name="ended_at"),
        CheckConstraint("record_count >= 0 AND run_count >= 0", name="counts"),
        # Counters change with every record. Room on the page lets them change in place, without touching an index.
        {"postgresql_with": {"fillfactor": 80}},
    )

    session_key: int = Field(primary_key=True, sa_type=BIGINT, sa_column_kwargs=GIVEN)
    namespace_key: int = Field(foreign_key="namespaces.namespace_key", sa_type=BIGINT)
    created_at: int = Field(sa_type=BIGINT)
    """Microseconds since 1970."""
    ended_at: int | None = Field(sa_type=BIGINT)
    """Microseconds since 1970."""
    record_count: int = Field(sa_type=BIGINT)
    """Position of the newest record in the session's own order; counted under the row's lock, so without gaps."""
    run_count: int = Field(sa_type=BIGINT)
    status: str = Field(sa_type=TEXT)
    session_id: str = Field(sa_type=ID)


class RunRow(Table, table=True):
    """A run, or the seal on a purged one-shot run, of which only the id is kept."""

    __tablename__ = "runs"
    __table_args__ = (
        UniqueConstraint("namespace_key", "run_id"),
        # A session's runs in the order of their starts, and all of them for a purge.
        UniqueConstraint("session_key", "session_ordinal"),
        # The list of runs, with and without a status; by agent; and the children of a run.
        Index(None, "namespace_key", "status", "started_at", "run_id"),
        Index(None, "namespace_key", "agent_id", "started_at", "run_id"),
        Index(
            None,
            "namespace_key",
            "parent_run_id",
            "started_at",
            "run_id",
            sqlite_where=column("parent_run_id") != "",
            postgresql_where=column("parent_run_id") != "",
        ),
        _length("run_id", 1),
        _length("agent_id", 0),
        _length("parent_run_id", 0),
        _length("predecessor_run_id", 0),
        _length("cancellation_reason", 0, REASON_BYTES),
        CheckConstraint(
            "status IN ('running', 'suspended', 'completed', 'failed', 'canceled', 'purged')", name="status"
        ),
        CheckConstraint("agent_id <> '' OR status = 'purged'", name="agent"),
        # Only a one-shot run is sealed; a session's runs go with their session's seal.
        CheckConstraint("session_key IS NULL OR status <> 'purged'", name="seal"),
        CheckConstraint("(session_key IS NULL) = (session_ordinal = 0) AND session_ordinal >= 0", name="session"),
        CheckConstraint("(parent_run_id = '') = (link_position = 0) AND link_position >= 0", name="parent"),
        CheckConstraint(
            "predecessor_run_id = '' OR (session_key IS NOT NULL AND predecessor_run_id <> run_id)", name="predecessor"
        ),
        CheckConstraint(
            "start_outcome = 'proceed' OR (start_outcome = 'stop' AND session_key IS NOT NULL"
            " AND status = 'canceled' AND cancellation_reason = 'session_ended')",
            name="start_outcome",
        ),
        # A start stores its record with the run, so only a seal has none.
        CheckConstraint("(record_count = 0) = (status = 'purged') AND record_count >= 0", name="record_count"),
        _blob("head_digest", DIGEST_BYTES, DIGEST_BYTES),
        {"postgresql_with": {"fillfactor": 80}},
    )

    run_key: int = Field(primary_key=True, sa_type=BIGINT, sa_column_kwargs=GIVEN)
    namespace_key: int = Field(foreign_key="namespaces.namespace_key", sa_type=BIGINT)
    session_key: int | None = Field(foreign_key="sessions.session_key", sa_type=BIGINT)
    session_ordinal: int = Field(sa_type=BIGINT)
    """Place in the session's order of starts, from 1; 0 for a one-shot run."""
    started_at: int = Field(sa_type=BIGINT)
    """Milliseconds since 1970."""
    updated_at: int = Field(sa_type=BIGINT)
    """Milliseconds since 1970."""
    record_count: int = Field(sa_type=BIGINT)
    """Position of the newest record."""
    link_position: int = Field(sa_type=BIGINT)
    """Position, on the parent's log, of the record that linked this run."""
    status: str = Field(sa_type=TEXT)
    start_outcome: str = Field(sa_type=TEXT)
    run_id: str = Field(sa_type=ID)
    agent_id: str = Field(sa_type=ID)
    parent_run_id: str = Field(sa_type=ID)
    predecessor_run_id: str = Field(sa_type=ID)
    head_digest: bytes = Field(sa_type=BYTES)
    """Digest of the newest record."""
    cancellation_reason: str = Field(sa_type=TEXT)
    labels: str = Field(sa_type=TEXT)
    """JSON in ASCII with sorted names: PostgreSQL's own JSON types refuse U+0000, which labels may hold."""


class RunLabelRow(Table, table=True):
    """One label of a run, for the list of runs that carry it. A run's labels never change."""

    __tablename__ = "run_labels"

    namespace_key: int = Field(primary_key=True, sa_type=BIGINT)
    label_hash: bytes = Field(primary_key=True, sa_type=HASH)
    """16 bytes of SHA-256 over name and value: both may be long, and may hold U+0000."""
    started_at: int = Field(primary_key=True, sa_type=BIGINT)
    run_id: str = Field(primary_key=True, sa_type=ID)
    run_key: int = Field(foreign_key="runs.run_key", sa_type=BIGINT, index=True)


class RecordRow(Table, table=True):
    """A record. Never changed; deleted only after its session, or its one-shot run, is sealed.

    Agent and session are its run's (a rule of the contract), so they are not stored again. Columns are ordered so that
    PostgreSQL pads none of them.
    """

    __tablename__ = "records"
    __table_args__ = (
        # A retry is found by its key's hash: the key itself would cost 60 bytes more a record.
        UniqueConstraint("run_key", "key_hash"),
        # Commit order across the session's runs. Positions come from the locked session's counter, never from a
        # sequence, so a reader cannot pass a record that is still to appear.
        UniqueConstraint("session_key", "session_position"),
        CheckConstraint("position >= 1", name="position"),
        CheckConstraint("(session_key IS NULL) = (session_position IS NULL)", name="session"),
        CheckConstraint("session_position >= 1", name="session_position"),
        _length("event_key", 1),
        _length("type", 1),
        _length("turn_id", 0),
        _blob("payload", 1, PAYLOAD_BYTES),
        _blob("digest", DIGEST_BYTES, DIGEST_BYTES),
    )

    run_key: int = Field(primary_key=True, foreign_key="runs.run_key", sa_type=BIGINT)
    position: int = Field(primary_key=True, sa_type=BIGINT)
    session_key: int | None = Field(sa_type=BIGINT)
    """Its run's session; no foreign key, because a session's row is never deleted and the check would cost every
    append."""
    session_position: int | None = Field(sa_type=BIGINT)
    timestamp: int = Field(sa_type=BIGINT)
    """Milliseconds since 1970."""
    stored_at: int = Field(sa_type=BIGINT)
    """Milliseconds since 1970, by the service's clock."""
    key_hash: bytes = Field(sa_type=HASH)
    """16 bytes of SHA-256 over the event key."""
    digest: bytes = Field(sa_type=BYTES)
    event_key: str = Field(sa_type=ID)
    turn_id: str = Field(sa_type=ID)
    type: str = Field(sa_type=ID)
    payload: bytes = Field(sa_type=BYTES)
    """The JSON text in UTF-8, byte for byte."""


class SuspensionRow(Table, table=True):
    """A checkpoint, kept byte for byte. Guarded like records."""

    __tablename__ = "suspensions"
    __table_args__ = (_length("suspension_id", 1), _blob("data", 1, CHECKPOINT_BYTES))

    run_key: int = Field(primary_key=True, foreign_key="runs.run_key", sa_type=BIGINT, sa_column_kwargs=GIVEN)
    suspension_id: str = Field(sa_type=ID)
    data: bytes = Field(sa_type=BYTES)
