"""Runs the migrations on the connection, and in the transaction, that ``runhold.store.migrate`` hands over."""

from __future__ import annotations

from alembic import context

context.configure(
    connection=context.config.attributes["connection"],
    # The caller's transaction holds the migrator's lock, so Alembic must not commit for itself.
    transactional_ddl=False,
)
context.run_migrations()
