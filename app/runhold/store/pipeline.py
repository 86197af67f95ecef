"""A connection to PostgreSQL that sends several statements at once and waits once for all their results.

It works on the driver's lower layer: a cursor for each statement costs more than the statements themselves. Parameters
and results are binary. One exchange is a pipeline up to one synchronisation point, so an error skips what follows it.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
import time
from collections.abc import Callable, Iterable, Sequence

from psycopg import AsyncConnection, pq
from psycopg import errors as pg
from psycopg.adapt import Transformer
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from runhold.store.database import AnswerLate, ConnectionLost
from runhold.store.rows import Row
from runhold.store.settings import StoreSettings

_FATAL, _SYNC = pq.ExecStatus.FATAL_ERROR, pq.ExecStatus.PIPELINE_SYNC
_BAD = pq.ConnStatus.BAD
_GRACE_S = 2.0
"""How much longer than the server's own limits an answer is waited for."""


class Statement:
    """SQL with the types of its parameters; without types they are sent as text, and the server infers them."""

    __slots__ = ("formats", "name", "sql", "types")

    def __init__(self, sql: str, *types: int, count: int = 0) -> None:
        self.sql = sql.encode()
        self.name = b"runhold_" + hashlib.sha256(self.sql).hexdigest()[:16].encode()
        self.types: list[int] | None = list(types) or None
        self.formats = [pq.Format.BINARY] * len(types) if types else [pq.Format.TEXT] * count


Step = tuple[Statement, Sequence[bytes]]

BEGIN = Statement("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")
BEGIN_SNAPSHOT = Statement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
COMMIT = Statement("COMMIT")
ROLLBACK = Statement("ROLLBACK")


class Pipeline:
    """One connection. Use it from one task at a time; after ``ConnectionLost``, or when ``is_lost``, not at all."""

    def __init__(self, connection: AsyncConnection, settings: StoreSettings) -> None:
        self._connection = connection
        self._pgconn = connection.pgconn
        self._rows = Transformer(connection)
        self._is_pooled = settings.transaction_pooler
        self._prepared: set[bytes] = set()
        self._limit = settings.statement_timeout_ms / 1000 + _GRACE_S
        self.used_at = time.monotonic()
        self._waiting: asyncio.Future[None] | None = None
        self._watching: asyncio.AbstractEventLoop | None = None
        self._watched = -1
        self._is_late = False
        self._is_dead = False
        self.silent_since: float | None = None
        """While an answer is waited for, when the server was last heard of, by ``time.monotonic()``."""
        self._pgconn.enter_pipeline_mode()

    @property
    def is_lost(self) -> bool:
        """Whether the connection is known to be broken or closed."""
        return self._pgconn.status == _BAD

    @property
    def is_idle(self) -> bool:
        """Whether no transaction is open."""
        return self._pgconn.transaction_status == pq.TransactionStatus.IDLE

    @property
    def backend_pid(self) -> int:
        """The number of the server's process, as the connection was told it."""
        return self._pgconn.backend_pid

    def hang_up(self) -> None:
        """Let whoever waits for an answer get ``ConnectionLost``: none will come."""
        self._is_dead = True
        self._wake()

    def server_version(self) -> int:
        """The server's version, such as 160004."""
        return self._pgconn.server_version

    async def close(self) -> None:
        """Close the connection."""
        self._unwatch()
        await self._connection.close()

    async def run(self, steps: Sequence[Step], limit: float | None = None) -> list[list[Row]]:
        """Run statements in one round trip; returns the rows of each.

        Args:
            steps: what to run; a statement that fails skips all later ones, and an open transaction stays to be ended.
            limit: seconds to wait for the answers; None for a little more than the server takes for a statement.

        Raises:
            ConnectionLost: the connection broke, or the answer did not come in time; the connection is closed.
            psycopg.Error: what the server said to the first statement that failed.
        """
        if not self._is_pooled:
            new = {step[0].name: step[0] for step in steps if step[0].name not in self._prepared}
            if new:
                await self._exchange(lambda: self._prepare(new.values()), len(new), limit)
                self._prepared.update(new)
        results = await self._exchange(lambda: self._send(steps), len(steps), limit)
        return [self._loaded(result) if result.ntuples else [] for result in results]

    async def _exchange(self, send: Callable[[], None], count: int, limit: float | None) -> list[pq.abc.PGresult]:
        """Send what ``send`` queues, and receive ``count`` results and the end of the pipeline."""
        self._is_late = False
        self.silent_since = time.monotonic()
        timer = asyncio.get_running_loop().call_later(self._limit if limit is None else limit, self._give_up)
        try:
            send()
            self._pgconn.pipeline_sync()
            await self._flush()
            results = await self._receive(count)
        except (pg.OperationalError, OSError) as error:
            # No answer that names a state: what was sent may have been done, or not.
            self._finish()
            raise (AnswerLate if self._is_late else ConnectionLost)(str(error)) from error
        except BaseException:
            # Interrupted in the middle of an exchange, it cannot be used any more.
            self._finish()
            raise
        finally:
            timer.cancel()
            self._waiting = self.silent_since = None
            self._unwatch()
        self.used_at = time.monotonic()
        for result in results:
            if result.status == _FATAL:
                failure = pg.error_from_result(result, encoding="utf-8")
                if failure.sqlstate is None:
                    self._finish()
                    raise ConnectionLost(str(failure))
                raise failure
        return results

    def _prepare(self, statements: Iterable[Statement]) -> None:
        for statement in statements:
            self._pgconn.send_prepare(statement.name, statement.sql, statement.types)

    def _send(self, steps: Sequence[Step]) -> None:
        send = self._pgconn.send_query_prepared
        for statement, parameters in steps:
            if self._is_pooled:
                self._pgconn.send_query_params(
                    statement.sql,
                    parameters,
                    param_types=statement.types,
                    param_formats=statement.formats,
                    result_format=pq.Format.BINARY,
                )
            else:
                send(statement.name, parameters, statement.formats, pq.Format.BINARY)

    async def _flush(self) -> None:
        loop = asyncio.get_running_loop()
        while self._pgconn.flush():
            # A server that waits for its answers to be taken takes no more itself.
            loop.add_writer(self._pgconn.socket, self._wake)
            try:
                await self._ready()
            finally:
                loop.remove_writer(self._pgconn.socket)
                self._unwatch()
            self._pgconn.consume_input()

    async def _receive(self, count: int) -> list[pq.abc.PGresult]:
        pgconn = self._pgconn
        results: list[pq.abc.PGresult] = []
        is_told = False
        while True:
            while pgconn.is_busy():
                # uvloop tells only once that a connection broke: what it said last is read then, and its end by looking
                # once more without being told.
                if not is_told:
                    await self._ready()
                pgconn.consume_input()
                is_told = not is_told
            result = pgconn.get_result()
            if result is None:
                if pgconn.status == _BAD or len(results) > count:
                    raise pg.OperationalError("the connection is closed")
                continue
            if result.status == _SYNC:
                return results
            results.append(result)

    async def _ready(self) -> None:
        """Wait until the server has sent something, or the socket takes more.

        The socket stays watched to the end of the exchange: large answers come in many pieces, and to begin and end the
        watching for each costs more than to take it.
        """
        self._check_patience()
        loop = asyncio.get_running_loop()
        self._waiting = loop.create_future()
        if self._watching is None:
            self._watched = self._pgconn.socket
            loop.add_reader(self._watched, self._wake)
            self._watching = loop
        await self._waiting
        self._check_patience()
        self.silent_since = time.monotonic()

    def _check_patience(self) -> None:
        if self._is_late:
            raise pg.OperationalError("the answer did not come in time")
        if self._is_dead:
            raise pg.OperationalError("the server knows of no answer that would come")

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    def _give_up(self) -> None:
        self._is_late = True
        self._wake()

    def _unwatch(self) -> None:
        # By the number kept here: the driver closes a broken socket by itself, and the next one may get its number.
        if self._watching is not None:
            self._watching.remove_reader(self._watched)
        self._watching = None

    def _finish(self) -> None:
        self._unwatch()
        self._pgconn.finish()

    def _loaded(self, result: pq.abc.PGresult) -> list[Row]:
        self._rows.set_pgresult(result)
        return self._rows.load_rows(0, result.ntuples, tuple)


async def connect(conninfo: str, settings: StoreSettings, *, options: dict[str, str]) -> Pipeline:
    """Connect, with these session settings unless a pooler would ignore them. Raises: psycopg.Error, TimeoutError."""
    given = conninfo_to_dict(conninfo)
    if not settings.transaction_pooler:
        mine = " ".join(f"-c {name}={value}" for name, value in options.items())
        given["options"] = f"{given.get('options') or ''} {mine}".strip()
    known = {
        "application_name": "runhold",
        "client_encoding": "UTF8",
        # A server that has vanished without a word is noticed.
        "keepalives_idle": "15",
        "keepalives_interval": "5",
        "keepalives_count": "3",
        "tcp_user_timeout": str(settings.statement_timeout_ms + 5_000),
        "connect_timeout": str(max(2, math.ceil(settings.connect_timeout_ms / 1000))),
        **{name: str(value) for name, value in given.items() if value is not None},
    }
    async with asyncio.timeout(settings.connect_timeout_ms / 1000):
        connection = await AsyncConnection.connect(make_conninfo(**known), autocommit=True, prepare_threshold=None)
    return Pipeline(connection, settings)


def session_settings(settings: StoreSettings) -> dict[str, str]:
    """What every session of ours sets: its limits, and plans that stay right however a table grows.

    Every statement here is made for an index. A plan chosen while the tables are empty, or kept from then on, would
    read them from end to end when they no longer are; so the planner is left only the plans that never do.
    """
    return {
        "lock_timeout": str(settings.lock_timeout_ms),
        "statement_timeout": str(settings.statement_timeout_ms),
        "idle_in_transaction_session_timeout": str(settings.idle_in_transaction_timeout_ms),
        "plan_cache_mode": "force_generic_plan",
        "enable_seqscan": "off",
        "enable_bitmapscan": "off",
        "enable_hashjoin": "off",
        "enable_mergejoin": "off",
        # An index that has the order asked for, even where one without it looks as good.
        "enable_sort": "off",
        "jit": "off",
        # To start a worker takes longer than a page.
        "max_parallel_workers_per_gather": "0",
    }


def local_settings(options: dict[str, str]) -> Statement:
    """The same for one transaction, where a pooler would lose those of the session or hand them to others."""
    calls = ", ".join(f"set_config('{name}', '{value}', true)" for name, value in options.items())
    return Statement(f"SELECT {calls}")
