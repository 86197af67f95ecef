"""Migrations create the schema that ``store/tables.py`` describes, once, however many start at the same time."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import Engine, create_engine

from runhold.store.database import StartUpError
from runhold.store.guards import POSTGRESQL, SQLITE, statements
from runhold.store.migrate import REVISION, check_schema, current_revision, migrate
from runhold.store.tables import Table
from tests.support.postgresql import started_postgresql

POSTGRESQL_SCHEMA = {
    "columns": """
        SELECT table_name, column_name, ordinal_position, data_type, collation_name, is_nullable, column_default
        FROM information_schema.columns WHERE table_schema = 'public' AND table_name <> 'alembic_version'""",
    "constraints": """
        SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
        WHERE connamespace = 'public'::regnamespace AND conrelid::regclass::text <> 'alembic_version'""",
    "indexes": """
        SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' AND tablename <> 'alembic_version'""",
    "triggers": "SELECT tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal",
    "functions": "SELECT proname, prosrc FROM pg_proc WHERE pronamespace = 'public'::regnamespace",
    "sequences": "SELECT sequencename, data_type::text, increment_by FROM pg_sequences WHERE schemaname = 'public'",
    "options": """
        SELECT relname, reloptions FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
        AND relname <> 'alembic_version'""",
}


def engine(url: str) -> Engine:
    if url.startswith("sqlite"):
        return create_engine(url)
    return create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(url))


def schema(url: str) -> dict[str, list[object]]:
    """All that a schema consists of, but for Alembic's own table."""
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
            rows = connection.execute("SELECT type, name, sql FROM sqlite_master WHERE tbl_name <> 'alembic_version'")
            found: list[object] = [*sorted((kind, name, _plain(sql)) for kind, name, sql in rows)]
            return {"sqlite_master": found}
    with psycopg.connect(url) as server:
        return {name: sorted(server.execute(query).fetchall(), key=str) for name, query in POSTGRESQL_SCHEMA.items()}


def _plain(sql: str | None) -> str:
    return " ".join((sql or "").replace("(", " ( ").replace(")", " ) ").replace(",", " , ").split())


@pytest.fixture
def described_url(database: str, tmp_path: Path) -> str:
    """A second database, made from the tables as they are described."""
    if database == "sqlite":
        return f"sqlite:///{tmp_path}/described.db"
    return started_postgresql().new_database_url("described")


def test_the_migrations_make_what_the_tables_describe(database_url: str, described_url: str) -> None:
    migrate(database_url)
    described = engine(described_url)
    Table.metadata.create_all(described)
    described.dispose()
    made = schema(database_url)
    assert made == schema(described_url)
    assert all(made.values())


def test_a_second_migration_finds_nothing_to_do(database_url: str) -> None:
    assert current_revision(database_url) is None
    assert migrate(database_url) == REVISION
    made = schema(database_url)
    assert migrate(database_url) == REVISION
    assert schema(database_url) == made
    assert current_revision(database_url) == REVISION


def test_an_empty_database_is_told_from_a_migrated_one(database_url: str) -> None:
    with pytest.raises(StartUpError, match="has no schema yet: run `runhold migrate`"):
        check_schema(database_url)
    migrate(database_url)
    check_schema(database_url)


def test_a_schema_from_the_future_is_refused_and_left_as_it_is(database_url: str) -> None:
    migrate(database_url)
    made = schema(database_url)
    connection = engine(database_url)
    with connection.begin() as server:
        server.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    connection.dispose()
    for refused in (migrate, check_schema):
        with pytest.raises(StartUpError, match="revision 9999, this version knows only"):
            refused(database_url)
    assert schema(database_url) == made
    assert current_revision(database_url) == "9999"


def test_replicas_that_start_together_make_one_migration(database_url: str) -> None:
    script = "import sys; from runhold.store.migrate import migrate; print(migrate(sys.argv[1]))"

    def start(_: int) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-c", script, database_url], capture_output=True, text=True)

    with ThreadPoolExecutor(5) as pool:
        done = list(pool.map(start, range(5)))
    assert [(each.returncode, each.stdout.strip()) for each in done] == [(0, REVISION)] * 5, done
    with ThreadPoolExecutor(5) as pool:
        assert set(pool.map(migrate, [database_url] * 5)) == {REVISION}
    connection = engine(database_url)
    with connection.connect() as server:
        assert server.exec_driver_sql("SELECT count(*) FROM alembic_version").scalar_one() == 1
    connection.dispose()


def test_a_database_that_cannot_hold_all_of_unicode_is_refused() -> None:
    postgresql = started_postgresql()
    url = postgresql.new_database_url("latin")
    name = url.rpartition("/")[2]
    with psycopg.connect(postgresql.new_database_url("other"), autocommit=True) as server:
        server.execute(f'DROP DATABASE "{name}"')
        server.execute(f"CREATE DATABASE \"{name}\" ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'")
    with pytest.raises(StartUpError, match="encoding is LATIN1"):
        migrate(url)
    with psycopg.connect(url) as server:
        found = server.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone()
    assert found == (0,)


def test_a_file_that_is_no_database_is_told_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "letter.db"
    path.write_text("Dear Sir or Madam, this is no database.\n" * 100)
    with pytest.raises(StartUpError) as refused:
        migrate(f"sqlite:///{path}")
    assert "\n" not in str(refused.value)
    assert path.read_text().startswith("Dear Sir")


def test_a_server_that_is_not_there_is_told_in_one_line_without_the_password() -> None:
    with pytest.raises(StartUpError) as refused:
        migrate("postgresql://user:se%25cret@127.0.0.1:1/name")
    assert "\n" not in str(refused.value)
    assert "se%cret" not in str(refused.value)
    assert "se%25cret" not in str(refused.value)


def test_every_guard_is_a_statement_of_its_own() -> None:
    assert all(statement.startswith("CREATE ") for script in (POSTGRESQL, SQLITE) for statement in statements(script))
