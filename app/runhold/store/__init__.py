"""SQL only: the schema, the two databases, and what is read from them.

``open_store`` gives the open database of either kind: ``run_batch`` for the writer, ``reader`` for everything else.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from runhold.store.database import StartUpError, parse_url
from runhold.store.settings import StoreSettings

if TYPE_CHECKING:
    from runhold.settings import Settings
    from runhold.store.postgresql import PostgresqlStore
    from runhold.store.sqlite import SqliteStore

__all__ = ["StartUpError", "StoreSettings", "migrate_database", "open_store", "store_settings"]


async def open_store(settings: Settings | StoreSettings) -> PostgresqlStore | SqliteStore:
    """Open the database, after bringing its schema up to date where the settings ask for it.

    Raises:
        StartUpError: it cannot be reached or used, with the reason in one line.
    """
    from runhold.commands.decide import execute

    given = settings if isinstance(settings, StoreSettings) else store_settings(settings)
    address = parse_url(given.url)
    if not isinstance(settings, StoreSettings) and settings.migrates_at_start:
        from runhold.store.migrate import migrate

        await asyncio.to_thread(migrate, given.url)
    store: PostgresqlStore | SqliteStore
    if address.path is not None:
        from runhold.store.sqlite import SqliteStore

        store = SqliteStore(address.path, given, execute)
    else:
        from runhold.store.postgresql import PostgresqlStore

        store = PostgresqlStore(address.conninfo, given, execute)
    await store.open()
    return store


def migrate_database(settings: Settings) -> str:
    """Bring the database's schema up to date; several at once wait for each other. Returns its revision.

    Raises:
        StartUpError: it cannot be reached or used, or a newer version made its schema.
    """
    from runhold.store.migrate import migrate

    return migrate(settings.database_url.get_secret_value())


def store_settings(settings: Settings) -> StoreSettings:
    """Choose from all settings those of the store."""
    return StoreSettings(
        url=settings.database_url.get_secret_value(),
        readers=settings.pool_size,
        lanes=settings.lanes,
        pool_timeout_ms=settings.pool_timeout_ms,
        connect_timeout_ms=settings.connect_timeout_ms,
        statement_timeout_ms=settings.statement_timeout_ms,
        lock_timeout_ms=settings.lock_timeout_ms,
        idle_in_transaction_timeout_ms=settings.idle_in_transaction_timeout_ms,
        purge_timeout_ms=settings.purge_timeout_ms,
        ready_timeout_ms=settings.ready_timeout_ms,
        transaction_pooler=settings.transaction_pooler,
        integrity_key=settings.integrity_key.get_secret_value().encode(),
    )
