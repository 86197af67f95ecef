"""What one row cannot show is guarded by triggers: records and checkpoints never change, and go only after their seal.

A purge seals first and deletes afterwards, in one transaction. The owner's seal is the session's row, or the run's own
for a one-shot run; a delete whose owner carries none is refused, whoever sends it. Seals themselves are never deleted.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, MetaData, event

from runhold.store.tables import Table

POSTGRESQL = """\
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% of % is refused', TG_OP, TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$

CREATE FUNCTION refuse_delete_without_seal() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    session bigint;
    seal text;
BEGIN
    IF TG_TABLE_NAME = 'suspensions' THEN
        SELECT session_key, status INTO session, seal FROM runs WHERE run_key = OLD.run_key;
    ELSE
        session := OLD.session_key;
        IF session IS NULL AND TG_TABLE_NAME = 'records' THEN
            SELECT status INTO seal FROM runs WHERE run_key = OLD.run_key;
        END IF;
    END IF;
    IF session IS NOT NULL THEN
        SELECT status INTO seal FROM sessions WHERE session_key = session;
    END IF;
    IF seal IS DISTINCT FROM 'purged' THEN
        RAISE EXCEPTION 'DELETE from % is refused: its owner is not sealed', TG_TABLE_NAME
            USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN OLD;
END $$

CREATE TRIGGER records_update BEFORE UPDATE ON records
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()

CREATE TRIGGER suspensions_update BEFORE UPDATE ON suspensions
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()

CREATE TRIGGER records_delete BEFORE DELETE ON records
FOR EACH ROW EXECUTE FUNCTION refuse_delete_without_seal()

CREATE TRIGGER suspensions_delete BEFORE DELETE ON suspensions
FOR EACH ROW EXECUTE FUNCTION refuse_delete_without_seal()

CREATE TRIGGER runs_delete BEFORE DELETE ON runs
FOR EACH ROW EXECUTE FUNCTION refuse_delete_without_seal()

CREATE TRIGGER sessions_delete BEFORE DELETE ON sessions
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()

CREATE TRIGGER records_truncate BEFORE TRUNCATE ON records
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()

CREATE TRIGGER suspensions_truncate BEFORE TRUNCATE ON suspensions
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()

CREATE TRIGGER runs_truncate BEFORE TRUNCATE ON runs
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()

CREATE TRIGGER sessions_truncate BEFORE TRUNCATE ON sessions
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"""

# The two last ones: INSERT OR REPLACE would delete without telling the others.
SQLITE = """\
CREATE TRIGGER records_update BEFORE UPDATE ON records
BEGIN SELECT RAISE(ABORT, 'UPDATE of records is refused'); END

CREATE TRIGGER suspensions_update BEFORE UPDATE ON suspensions
BEGIN SELECT RAISE(ABORT, 'UPDATE of suspensions is refused'); END

CREATE TRIGGER records_delete BEFORE DELETE ON records
WHEN CASE
    WHEN OLD.session_key IS NULL THEN (SELECT status FROM runs WHERE run_key = OLD.run_key)
    ELSE (SELECT status FROM sessions WHERE session_key = OLD.session_key)
END IS NOT 'purged'
BEGIN SELECT RAISE(ABORT, 'DELETE from records is refused: its owner is not sealed'); END

CREATE TRIGGER suspensions_delete BEFORE DELETE ON suspensions
WHEN (
    SELECT CASE WHEN r.session_key IS NULL THEN r.status ELSE s.status END
    FROM runs r LEFT JOIN sessions s ON s.session_key = r.session_key WHERE r.run_key = OLD.run_key
) IS NOT 'purged'
BEGIN SELECT RAISE(ABORT, 'DELETE from suspensions is refused: its owner is not sealed'); END

CREATE TRIGGER runs_delete BEFORE DELETE ON runs
WHEN (SELECT status FROM sessions WHERE session_key = OLD.session_key) IS NOT 'purged'
BEGIN SELECT RAISE(ABORT, 'DELETE from runs is refused: its owner is not sealed'); END

CREATE TRIGGER sessions_delete BEFORE DELETE ON sessions
BEGIN SELECT RAISE(ABORT, 'DELETE from sessions is refused'); END

CREATE TRIGGER records_replace BEFORE INSERT ON records
WHEN EXISTS (SELECT 1 FROM records WHERE run_key = NEW.run_key AND position = NEW.position)
    OR EXISTS (SELECT 1 FROM records WHERE run_key = NEW.run_key AND key_hash = NEW.key_hash)
    OR EXISTS (SELECT 1 FROM records WHERE session_key = NEW.session_key AND session_position = NEW.session_position)
BEGIN SELECT RAISE(ABORT, 'INSERT over a record is refused'); END

CREATE TRIGGER suspensions_replace BEFORE INSERT ON suspensions
WHEN EXISTS (SELECT 1 FROM suspensions WHERE run_key = NEW.run_key)
BEGIN SELECT RAISE(ABORT, 'INSERT over a checkpoint is refused'); END"""


def statements(script: str) -> list[str]:
    """Part a script at its blank lines."""
    return script.split("\n\n")


def _create(_metadata: MetaData, connection: Connection, **_options: Any) -> None:
    is_postgresql = connection.dialect.name == "postgresql"
    for statement in statements(POSTGRESQL if is_postgresql else SQLITE):
        # PostgreSQL's driver would take a percent sign for the mark of a parameter.
        connection.exec_driver_sql(statement.replace("%", "%%") if is_postgresql else statement)


event.listen(Table.metadata, "after_create", _create)
