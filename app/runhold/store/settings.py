"""What the store must be told: plain values, so that it knows no environment."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from runhold.domain.values import Microseconds


def service_clock() -> Microseconds:
    """The time of day, in microseconds since 1970."""
    return time.time_ns() // 1000


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """How the database is reached, and how long anything may take. Times are in milliseconds."""

    url: str = field(repr=False)
    """``sqlite:///path`` or ``postgresql://user:password@host/name``; it may hold a password."""
    readers: int = 5
    """Connections for reading, at most."""
    lanes: int = 4
    """Connections for batches that wait for held rows, for large records and purges."""
    pool_timeout_ms: int = 2_000
    connect_timeout_ms: int = 3_000
    statement_timeout_ms: int = 10_000
    lock_timeout_ms: int = 5_000
    idle_in_transaction_timeout_ms: int = 10_000
    purge_timeout_ms: int = 600_000
    ready_timeout_ms: int = 1_000
    transaction_pooler: bool = False
    """Whether a pooler in transaction mode stands before PostgreSQL: neither prepared statements nor session settings
    outlive a transaction there."""
    integrity_key: bytes = field(default=b"", repr=False)
    """Key of the record digests; none for a plain hash."""
    clock: Callable[[], Microseconds] = service_clock
