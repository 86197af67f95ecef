"""Namespaces, sessions, runs with their labels, records, checkpoints, and the triggers that guard them.

Written for PostgreSQL; what SQLite spells differently is replaced. ``store/tables.py`` says what each part is for.
"""

from __future__ import annotations

import re

from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

SEQUENCES = """\
CREATE SEQUENCE session_keys AS BIGINT INCREMENT BY 256

CREATE SEQUENCE run_keys AS BIGINT INCREMENT BY 256"""

TABLES = """\
CREATE TABLE namespaces (
    namespace_key BIGSERIAL NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    CONSTRAINT pk_namespaces PRIMARY KEY (namespace_key),
    CONSTRAINT uq_namespaces_name UNIQUE (name),
    CONSTRAINT ck_namespaces_name_length CHECK (octet_length(name) BETWEEN 1 AND 64)
)

CREATE TABLE sessions (
    session_key BIGINT NOT NULL,
    namespace_key BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    ended_at BIGINT,
    record_count BIGINT NOT NULL,
    run_count BIGINT NOT NULL,
    status TEXT NOT NULL,
    session_id TEXT COLLATE "C" NOT NULL,
    CONSTRAINT pk_sessions PRIMARY KEY (session_key),
    CONSTRAINT uq_sessions_namespace_key_session_id UNIQUE (namespace_key, session_id),
    CONSTRAINT ck_sessions_session_id_length CHECK (octet_length(session_id) BETWEEN 1 AND 1024),
    CONSTRAINT ck_sessions_status CHECK (status IN ('active', 'ended', 'purged')),
    CONSTRAINT ck_sessions_ended_at CHECK ((status = 'active') = (ended_at IS NULL)),
    CONSTRAINT ck_sessions_counts CHECK (record_count >= 0 AND run_count >= 0),
    CONSTRAINT fk_sessions_namespace_key FOREIGN KEY(namespace_key) REFERENCES namespaces (namespace_key)
) WITH (fillfactor = 80)

CREATE INDEX ix_sessions_namespace_key_status_created_at_session_id
ON sessions (namespace_key, status, created_at, session_id)

CREATE TABLE runs (
    run_key BIGINT NOT NULL,
    namespace_key BIGINT NOT NULL,
    session_key BIGINT,
    session_ordinal BIGINT NOT NULL,
    started_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    record_count BIGINT NOT NULL,
    link_position BIGINT NOT NULL,
    status TEXT NOT NULL,
    start_outcome TEXT NOT NULL,
    run_id TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL,
    parent_run_id TEXT COLLATE "C" NOT NULL,
    predecessor_run_id TEXT COLLATE "C" NOT NULL,
    head_digest BYTEA NOT NULL,
    cancellation_reason TEXT NOT NULL,
    labels TEXT NOT NULL,
    CONSTRAINT pk_runs PRIMARY KEY (run_key),
    CONSTRAINT uq_runs_namespace_key_run_id UNIQUE (namespace_key, run_id),
    CONSTRAINT uq_runs_session_key_session_ordinal UNIQUE (session_key, session_ordinal),
    CONSTRAINT ck_runs_run_id_length CHECK (octet_length(run_id) BETWEEN 1 AND 1024),
    CONSTRAINT ck_runs_agent_id_length CHECK (octet_length(agent_id) BETWEEN 0 AND 1024),
    CONSTRAINT ck_runs_parent_run_id_length CHECK (octet_length(parent_run_id) BETWEEN 0 AND 1024),
    CONSTRAINT ck_runs_predecessor_run_id_length CHECK (octet_length(predecessor_run_id) BETWEEN 0 AND 1024),
    CONSTRAINT ck_runs_cancellation_reason_length CHECK (octet_length(cancellation_reason) BETWEEN 0 AND 16384),
    CONSTRAINT ck_runs_status CHECK (status IN ('running', 'suspended', 'completed', 'failed', 'canceled', 'purged')),
    CONSTRAINT ck_runs_agent CHECK (agent_id <> '' OR status = 'purged'),
    CONSTRAINT ck_runs_seal CHECK (session_key IS NULL OR status <> 'purged'),
    CONSTRAINT ck_runs_session CHECK ((session_key IS NULL) = (session_ordinal = 0) AND session_ordinal >= 0),
    CONSTRAINT ck_runs_parent CHECK ((parent_run_id = '') = (link_position = 0) AND link_position >= 0),
    CONSTRAINT ck_runs_predecessor CHECK (
        predecessor_run_id = '' OR (session_key IS NOT NULL AND predecessor_run_id <> run_id)
    ),
    CONSTRAINT ck_runs_start_outcome CHECK (
        start_outcome = 'proceed' OR (start_outcome = 'stop' AND session_key IS NOT NULL
        AND status = 'canceled' AND cancellation_reason = 'session_ended')
    ),
    CONSTRAINT ck_runs_record_count CHECK ((record_count = 0) = (status = 'purged') AND record_count >= 0),
    CONSTRAINT ck_runs_head_digest_length CHECK (octet_length(head_digest) BETWEEN 32 AND 32),
    CONSTRAINT fk_runs_namespace_key FOREIGN KEY(namespace_key) REFERENCES namespaces (namespace_key),
    CONSTRAINT fk_runs_session_key FOREIGN KEY(session_key) REFERENCES sessions (session_key)
) WITH (fillfactor = 80)

CREATE INDEX ix_runs_namespace_key_agent_id_started_at_run_id
ON runs (namespace_key, agent_id, started_at, run_id)

CREATE INDEX ix_runs_namespace_key_parent_run_id_started_at_run_id
ON runs (namespace_key, parent_run_id, started_at, run_id) WHERE parent_run_id != ''

CREATE INDEX ix_runs_namespace_key_status_started_at_run_id
ON runs (namespace_key, status, started_at, run_id)

CREATE TABLE records (
    run_key BIGINT NOT NULL,
    position BIGINT NOT NULL,
    session_key BIGINT,
    session_position BIGINT,
    timestamp BIGINT NOT NULL,
    stored_at BIGINT NOT NULL,
    key_hash UUID NOT NULL,
    digest BYTEA NOT NULL,
    event_key TEXT COLLATE "C" NOT NULL,
    turn_id TEXT COLLATE "C" NOT NULL,
    type TEXT COLLATE "C" NOT NULL,
    payload BYTEA NOT NULL,
    CONSTRAINT pk_records PRIMARY KEY (run_key, position),
    CONSTRAINT uq_records_run_key_key_hash UNIQUE (run_key, key_hash),
    CONSTRAINT uq_records_session_key_session_position UNIQUE (session_key, session_position),
    CONSTRAINT ck_records_position CHECK (position >= 1),
    CONSTRAINT ck_records_session CHECK ((session_key IS NULL) = (session_position IS NULL)),
    CONSTRAINT ck_records_session_position CHECK (session_position >= 1),
    CONSTRAINT ck_records_event_key_length CHECK (octet_length(event_key) BETWEEN 1 AND 1024),
    CONSTRAINT ck_records_type_length CHECK (octet_length(type) BETWEEN 1 AND 1024),
    CONSTRAINT ck_records_turn_id_length CHECK (octet_length(turn_id) BETWEEN 0 AND 1024),
    CONSTRAINT ck_records_payload_length CHECK (octet_length(payload) BETWEEN 1 AND 8388608),
    CONSTRAINT ck_records_digest_length CHECK (octet_length(digest) BETWEEN 32 AND 32),
    CONSTRAINT fk_records_run_key FOREIGN KEY(run_key) REFERENCES runs (run_key)
)

CREATE TABLE run_labels (
    namespace_key BIGINT NOT NULL,
    label_hash UUID NOT NULL,
    started_at BIGINT NOT NULL,
    run_id TEXT COLLATE "C" NOT NULL,
    run_key BIGINT NOT NULL,
    CONSTRAINT pk_run_labels PRIMARY KEY (namespace_key, label_hash, started_at, run_id),
    CONSTRAINT fk_run_labels_run_key FOREIGN KEY(run_key) REFERENCES runs (run_key)
)

CREATE INDEX ix_run_labels_run_key
ON run_labels (run_key)

CREATE TABLE suspensions (
    run_key BIGINT NOT NULL,
    suspension_id TEXT COLLATE "C" NOT NULL,
    data BYTEA NOT NULL,
    CONSTRAINT pk_suspensions PRIMARY KEY (run_key),
    CONSTRAINT ck_suspensions_suspension_id_length CHECK (octet_length(suspension_id) BETWEEN 1 AND 1024),
    CONSTRAINT ck_suspensions_data_length CHECK (octet_length(data) BETWEEN 1 AND 8388608),
    CONSTRAINT fk_suspensions_run_key FOREIGN KEY(run_key) REFERENCES runs (run_key)
)"""

POSTGRESQL_GUARDS = """\
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
SQLITE_GUARDS = """\
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

SQLITE_SPELLING = (
    (r' COLLATE "C"', ""),
    (r"\bBIGSERIAL\b|\bBIGINT\b", "INTEGER"),
    (r"\bBYTEA\b|\bUUID\b", "BLOB"),
    (r"octet_length\((payload|data|digest|head_digest)\)", r"length(\1)"),
    (r"octet_length\((\w+)\)", r"length(CAST(\1 AS BLOB))"),
    (r" WITH \(fillfactor = 80\)", ""),
)


def upgrade() -> None:
    """Create everything."""
    connection = op.get_bind()
    if connection.dialect.name == "postgresql":
        # The driver would take a percent sign for the mark of a parameter.
        script = f"{SEQUENCES}\n\n{TABLES}\n\n{POSTGRESQL_GUARDS}".replace("%", "%%")
    else:
        script = f"{_for_sqlite(TABLES)}\n\n{SQLITE_GUARDS}"
    for statement in script.split("\n\n"):
        # Not op.execute(), which would take a colon for the mark of a parameter.
        connection.exec_driver_sql(statement)


def _for_sqlite(script: str) -> str:
    for pattern, replacement in SQLITE_SPELLING:
        script = re.sub(pattern, replacement, script)
    return script
