"""The store on PostgreSQL: a connection for batches, a few lanes beside it, and a few for reading."""

from __future__ import annotations

import asyncio

import psycopg

from runhold.commands.outcomes import Contended, Execute, Job, Outcome
from runhold.domain.errors import Unavailable
from runhold.store.database import StartUpError, postgresql_error
from runhold.store.migrate import check_encoding, check_revision
from runhold.store.pipeline import BEGIN, Pipeline, Statement, Step, connect, local_settings, session_settings
from runhold.store.pool import Pool
from runhold.store.postgresql_reader import PostgresqlReader
from runhold.store.postgresql_writer import PostgresqlBatches
from runhold.store.settings import StoreSettings
from runhold.store.watch import Watch

_ENCODING = Statement("SHOW server_encoding")


class PostgresqlStore:
    """Batches of commands, and reads, on one PostgreSQL database."""

    def __init__(self, conninfo: str, settings: StoreSettings, execute: Execute) -> None:
        self._settings = settings
        self._conninfo = conninfo
        self._options = session_settings(settings)
        begin: list[Step] = [(BEGIN, ())]
        purging = {"statement_timeout": str(settings.purge_timeout_ms)}
        if settings.transaction_pooler:
            begin.append((local_settings(self._options), ()))
            purging = {**self._options, **purging}
        self._batches = PostgresqlBatches(settings, execute, begin, [(BEGIN, ()), (local_settings(purging), ())])
        # A pooler in transaction mode has many servers for one connection: there is nothing to ask about.
        watch = None if settings.transaction_pooler else Watch(self._connect)
        # One, so that ordinary batches go one after the other.
        self._main = Pool(self._connect, 1, settings.pool_timeout_ms, watch)
        self._lanes = Pool(self._connect, settings.lanes, settings.pool_timeout_ms, watch)
        readers = Pool(self._connect, settings.readers, settings.pool_timeout_ms, watch)
        self.reader = PostgresqlReader(readers, settings, local_settings(self._options))
        """What is read outside of commands."""

    async def open(self) -> None:
        """Connect. Raises: StartUpError."""
        try:
            (((encoding,),),) = await self._main.use(lambda pipeline: pipeline.run([(_ENCODING, ())]))
            check_encoding(encoding)
            check_revision(await self.reader.revision())
        except (psycopg.Error, Unavailable) as error:
            await self.close()
            said = " ".join(str(error).split()) or "it does not answer"
            if "startup parameter" in said and not self._settings.transaction_pooler:
                said += "; that is a pooler: set RUNHOLD_TRANSACTION_POOLER=true"
            raise StartUpError(f"PostgreSQL cannot be used: {said}") from error
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Give every connection back."""
        await self._main.close()
        await self._lanes.close()
        await self.reader.close()

    async def run_batch(self, jobs: list[Job], *, wait: bool) -> list[list[Outcome | Contended]]:
        """Lock, load, decide and commit; see ``CommandStore.run_batch``."""
        try:
            connections = self._lanes if wait else self._main
            return await connections.use(lambda pipeline: self._batches.run(pipeline, jobs, wait=wait))
        except psycopg.Error as error:
            raise postgresql_error(error) from error

    async def check_ready(self) -> None:
        """Look whether the database answers with the right schema. Raises: Unavailable."""
        try:
            async with asyncio.timeout(self._settings.ready_timeout_ms / 1000):
                check_revision(await self.reader.revision())
        except (TimeoutError, StartUpError) as error:
            raise Unavailable(str(error) or "the database does not answer") from error

    async def _connect(self) -> Pipeline:
        return await connect(self._conninfo, self._settings, options=self._options)
