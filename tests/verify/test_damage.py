"""Every kind of damage is noticed, and named by its row and its rule; what is sound is never named."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from runhold.verify.findings import Finding, Rule
from tests.store.conftest import Sql
from tests.verify.conftest import Damage, fill, findings

Where = tuple[str, str, str, int]
"""Rule, session, run, position."""


CASES: dict[str, tuple[list[str], list[Where]]] = {
    "a changed payload": (
        ["UPDATE records SET payload = CAST('{\"note\":1}' AS {bytes}) WHERE run_key = {run:r} AND position = 2"],
        [("digest", "s", "r", 2)],
    ),
    "a changed time": (
        ["UPDATE records SET timestamp = timestamp + 1 WHERE run_key = {run:r} AND position = 4"],
        [("digest", "s", "r", 4)],
    ),
    "a changed time of storing": (
        ["UPDATE records SET stored_at = stored_at - 1 WHERE run_key = {run:o} AND position = 3"],
        [("digest", "", "o", 3)],
    ),
    "a changed turn": (
        ["UPDATE records SET turn_id = 'other' WHERE run_key = {run:r} AND position = 2"],
        [("digest", "s", "r", 2)],
    ),
    "a changed type": (
        ["UPDATE records SET type = 'usage' WHERE run_key = {run:r} AND position = 2"],
        [("digest", "s", "r", 2)],
    ),
    "a renamed record": (
        ["UPDATE records SET event_key = 'other' WHERE run_key = {run:r} AND position = 2"],
        [("key_hash", "s", "r", 2), ("digest", "s", "r", 2)],
    ),
    "a changed digest": (
        ["UPDATE records SET digest = {zeros} WHERE run_key = {run:r} AND position = 2"],
        [("digest", "s", "r", 2), ("digest", "s", "r", 3)],
    ),
    "a record removed from the middle": (
        ["DELETE FROM records WHERE run_key = {run:o} AND position = 3"],
        [("position", "", "o", 4), ("digest", "", "o", 4)],
    ),
    "a record of a session removed": (
        ["DELETE FROM records WHERE run_key = {run:r} AND position = 2"],
        [("session_position", "s", "", 0), ("position", "s", "r", 3), ("digest", "s", "r", 3)],
    ),
    "a record cut off": (
        ["DELETE FROM records WHERE run_key = {run:o} AND position = 4"],
        [("count", "", "o", 0), ("status", "", "o", 0)],
    ),
    "a record cut off, and the counter with it": (
        [
            "DELETE FROM records WHERE run_key = {run:o} AND position = 4",
            "UPDATE runs SET record_count = 3 WHERE run_key = {run:o}",
        ],
        [("head_digest", "", "o", 0), ("status", "", "o", 0)],
    ),
    "two records that changed places": (
        [
            "UPDATE records SET position = 99 WHERE run_key = {run:r} AND position = 4",
            "UPDATE records SET position = 4 WHERE run_key = {run:r} AND position = 5",
            "UPDATE records SET position = 5 WHERE run_key = {run:r} AND position = 99",
        ],
        [("digest", "s", "r", 4), ("digest", "s", "r", 5), ("head_digest", "s", "r", 0)],
    ),
    "a record moved to another session": (
        ["UPDATE records SET session_key = {session:gone} WHERE run_key = {run:r} AND position = 2"],
        [("seal", "gone", "", 0), ("session_position", "s", "", 0), ("owner", "s", "r", 2)],
    ),
    "a run's counter": (
        ["UPDATE runs SET record_count = record_count + 1 WHERE run_key = {run:o}"],
        [("count", "", "o", 0)],
    ),
    "a session's counter of records": (
        ["UPDATE sessions SET record_count = record_count + 1 WHERE session_id = 's'"],
        [("count", "s", "", 0)],
    ),
    "a session's counter of starts": (
        ["UPDATE sessions SET run_count = run_count + 1 WHERE session_id = 's'"],
        [("count", "s", "", 0)],
    ),
    "a run's place in the order of starts": (
        ["UPDATE runs SET session_ordinal = 99 WHERE run_key = {run:late}"],
        [("order_of_starts", "s", "", 0), ("count", "s", "", 0)],
    ),
    "a head digest": (
        ["UPDATE runs SET head_digest = {zeros} WHERE run_key = {run:o}"],
        [("head_digest", "", "o", 0)],
    ),
    "a running run that is said to have completed": (
        ["UPDATE runs SET status = 'completed' WHERE run_key = {run:r}"],
        [("status", "s", "r", 0)],
    ),
    "a completed run that is said to run": (
        ["UPDATE runs SET status = 'running' WHERE run_key = {run:o}"],
        [("status", "", "o", 0)],
    ),
    "a failed run that is said to have completed": (
        ["UPDATE runs SET status = 'completed' WHERE run_key = {run:fails}"],
        [("status", "s", "fails", 0)],
    ),
    "a run's agent": (
        ["UPDATE runs SET agent_id = 'b' WHERE run_key = {run:r/child}"],
        [("link", "s", "r", 3), ("digest", "s", "r/child", 1)],
    ),
    "a cancellation's reason": (
        ["UPDATE runs SET cancellation_reason = 'other' WHERE run_key = {run:asked}"],
        [("cancellation", "s", "asked", 0)],
    ),
    "a cancellation that nobody asked for": (
        ["UPDATE runs SET cancellation_reason = 'because' WHERE run_key = {run:r}"],
        [("cancellation", "s", "r", 0)],
    ),
    "an engine's cancellation turned into a stop": (
        ["UPDATE runs SET start_outcome = 'stop', cancellation_reason = 'session_ended' WHERE run_key = {run:engine}"],
        [("cancellation", "s", "engine", 0)],
    ),
    "a checkpoint removed": (
        ["DELETE FROM suspensions WHERE run_key = {run:waits}"],
        [("checkpoint", "s", "waits", 0)],
    ),
    "a checkpoint renamed": (
        ["UPDATE suspensions SET suspension_id = 'other' WHERE run_key = {run:waits}"],
        [("checkpoint", "s", "waits", 0)],
    ),
    "a checkpoint of a run that goes on": (
        ["INSERT INTO suspensions (run_key, suspension_id, data) VALUES ({run:r}, 'p', {zeros})"],
        [("checkpoint", "s", "r", 0)],
    ),
    "a child that names another parent": (
        ["UPDATE runs SET parent_run_id = 'more' WHERE run_key = {run:r/child}"],
        [("link", "s", "r", 3), ("start", "s", "r/child", 1), ("parent", "s", "r/child", 0)],
    ),
    "a child that is linked by another record": (
        ["UPDATE runs SET link_position = 2 WHERE run_key = {run:r/child}"],
        [("link", "s", "r", 3), ("parent", "s", "r/child", 0)],
    ),
    "a child without its parent": (
        [
            "DELETE FROM records WHERE run_key = {run:o}",
            "DELETE FROM runs WHERE run_key = {run:o}",
        ],
        [("parent", "", "o/child", 0)],
    ),
    "a parent without its child": (
        [
            "DELETE FROM records WHERE run_key = {run:o/child}",
            "DELETE FROM runs WHERE run_key = {run:o/child}",
        ],
        [("link", "", "o", 2)],
    ),
    "a predecessor that is not suspended": (
        ["UPDATE runs SET predecessor_run_id = 'fails' WHERE run_key = {run:more}"],
        [("start", "s", "more", 1), ("predecessor", "s", "more", 0)],
    ),
    "a predecessor that does not exist": (
        ["UPDATE runs SET predecessor_run_id = 'nobody' WHERE run_key = {run:more}"],
        [("start", "s", "more", 1), ("predecessor", "s", "more", 0)],
    ),
    "a predecessor of another agent": (
        ["UPDATE runs SET agent_id = 'b' WHERE run_key = {run:waits}"],
        [("digest", "s", "waits", 1), ("digest", "s", "waits", 2), ("predecessor", "s", "more", 0)],
    ),
    "a start's time": (
        ["UPDATE runs SET started_at = started_at + 1 WHERE run_key = {run:more}"],
        [("start", "s", "more", 1)],
    ),
    "a run's labels": (
        ['UPDATE runs SET labels = \'{{"team":"blue"}}\' WHERE run_key = {run:r}'],
        [("start", "s", "r", 1), ("labels", "s", "r", 0)],
    ),
    "labels that are spelled otherwise": (
        ["UPDATE runs SET labels = replace(labels, ',', ', ') WHERE run_key = {run:r}"],
        [("labels", "s", "r", 0)],
    ),
    "a label by which a run is found": (
        ["DELETE FROM run_labels WHERE run_key = {run:r} AND started_at > 0"],
        [("labels", "s", "r", 0)],
    ),
    "a label on a run that has none": (
        [
            (
                "INSERT INTO run_labels (namespace_key, label_hash, started_at, run_id, run_key)"
                " SELECT namespace_key, label_hash, started_at, 'more', {run:more} FROM run_labels LIMIT 1"
            )
        ],
        [("labels", "s", "more", 0)],
    ),
    "a hash by which a record is found": (
        [
            (
                "UPDATE records SET key_hash = (SELECT label_hash FROM run_labels LIMIT 1)"
                " WHERE run_key = {run:r} AND position = 2"
            )
        ],
        [("key_hash", "s", "r", 2)],
    ),
    "a payload that is no text": (
        ["UPDATE records SET payload = {no_text} WHERE run_key = {run:o} AND position = 3"],
        [("unreadable", "", "o", 3), ("position", "", "o", 4), ("digest", "", "o", 4)],
    ),
    "a status that there is not": (
        ["UPDATE runs SET status = 'sleeping' WHERE run_key = {run:o/child}"],
        [("link", "", "o", 2), ("unreadable", "", "o/child", 0)],
    ),
    "a session's status that there is not": (
        ["UPDATE sessions SET status = 'sleeping' WHERE session_id = 'gone'"],
        [("unreadable", "gone", "", 0)],
    ),
    "a seal over a session that still holds its runs": (
        ["UPDATE sessions SET status = 'purged' WHERE session_id = 's'"],
        [("seal", "s", "", 0)],
    ),
    "a seal over a run that still holds its records": (
        ["UPDATE runs SET status = 'purged' WHERE run_key = {run:o/child}"],
        [("seal", "", "o/child", 0)],
    ),
    "a run of another namespace": (
        [
            "INSERT INTO namespaces (namespace_key, name) VALUES (77, 'other')",
            "UPDATE runs SET namespace_key = 77 WHERE run_key = {run:fails}",
        ],
        [("owner", "s", "fails", 0)],
    ),
}
"""What is done, and what must be told of it; a rule may be told of the same row more than once."""

PAYLOADS: dict[str, tuple[str, str, int, Where]] = {
    "a typed payload with a name that it has not": ("o", '{"ParentRunID":"","Extra":1}', 1, ("payload", "", "o", 1)),
    "a typed payload that gives a name twice": (
        "o",
        '{"status":"success","status":"success","phase":"completed"}',
        4,
        ("payload", "", "o", 4),
    ),
    "a payload that is no JSON": ("o", "{", 3, ("payload", "", "o", 3)),
    "an end in another phase": ("o", '{"status":"success","phase":"planning"}', 4, ("status", "", "o", 0)),
    "an end that says something else": (
        "o",
        '{"status":"canceled","phase":"canceled","cancellation":{"reason":"engine_canceled"}}',
        4,
        ("status", "", "o", 0),
    ),
    "an end with labels of its own": (
        "o",
        '{"status":"success","phase":"completed","labels":{"a":"b"}}',
        4,
        ("labels", "", "o", 0),
    ),
    "a link to nobody": (
        "o",
        '{"ToolName":"t","ToolCallID":"c","ChildRunID":"nobody","ChildAgentID":"a"}',
        2,
        ("link", "", "o", 2),
    ),
    "an intent with another reason": ("asked", '{"reason":"other"}', 2, ("cancellation", "s", "asked", 0)),
    "a suspension with another checkpoint": ("waits", '{"SuspensionID":"q"}', 2, ("checkpoint", "s", "waits", 0)),
}
"""Run, payload and position: damage whose digests were computed anew, so that the rules alone can tell."""


def places(found: Iterable[Finding]) -> set[Where]:
    return {(finding.rule.value, finding.session_id, finding.run_id, finding.position) for finding in found}


def spelled(statement: str, sql: Sql) -> str:
    words = {
        "{bytes}": "bytea" if sql.is_postgresql else "BLOB",
        "{zeros}": "decode(repeat('00', 32), 'hex')" if sql.is_postgresql else "zeroblob(32)",
        "{no_text}": "'\\xff'" if sql.is_postgresql else "x'ff'",
        "{{": "{",
        "}}": "}",
    }
    for word, meaning in words.items():
        statement = statement.replace(word, meaning)
    return statement


def test_nothing_is_found_where_nothing_is_wrong(filled: str) -> None:
    assert findings(filled) == []


@pytest.mark.parametrize("name", CASES)
def test_damage_is_named_by_its_row_and_rule(name: str, filled: str, sql: Sql, damage: Damage) -> None:
    statements, expected = CASES[name]
    for statement in statements:
        damage(spelled(statement, sql))
    assert places(findings(filled)) == set(expected)


@pytest.mark.parametrize("name", PAYLOADS)
def test_damage_whose_digests_were_forged_is_found_by_the_rules(
    name: str, filled: str, sql: Sql, damage: Damage
) -> None:
    run_id, payload, position, expected = PAYLOADS[name]
    damage(
        f"UPDATE records SET payload = ? WHERE run_key = {{run:{run_id}}} AND position = {position}", payload.encode()
    )
    damage.digest_anew(run_id)
    found = places(findings(filled))
    assert expected in found
    assert not {place for place in found if place[0] in ("digest", "head_digest")}


def test_without_the_key_nobody_forges(sql: Sql, database_url: str) -> None:
    fill(database_url, b"secret")
    assert findings(database_url, b"secret") == []
    damage = Damage(sql)
    damage("UPDATE records SET turn_id = 'other' WHERE run_key = {run:o} AND position = 3")
    damage.digest_anew("o")
    told = [finding for finding in findings(database_url, b"secret") if finding.rule is Rule.DIGEST]
    assert [(finding.run_id, finding.position) for finding in told] == [("o", 1), ("o", 2), ("o", 3), ("o", 4)]
    # Who has the key can: then it is what the service itself would have stored.
    damage.digest_anew("o", b"secret")
    assert findings(database_url, b"secret") == []


def test_a_record_that_was_put_in_is_named(filled: str, sql: Sql, damage: Damage) -> None:
    columns = "run_key, position, session_key, session_position, timestamp, stored_at, key_hash, digest, event_key"
    chosen = "run_key, 5, session_key, session_position, timestamp, stored_at, {hash}, digest, 'forged'"
    hashed = "CAST('{00000000-0000-0000-0000-000000000001}' AS uuid)" if sql.is_postgresql else "zeroblob(16)"
    damage(
        f"INSERT INTO records ({columns}, turn_id, type, payload) SELECT {chosen.replace('{hash}', hashed)}, turn_id,"
        " type, payload FROM records WHERE run_key = {run:o} AND position = 3"
    )
    assert places(findings(filled)) == {
        ("key_hash", "", "o", 5),
        ("digest", "", "o", 5),
        ("count", "", "o", 0),
        ("status", "", "o", 0),
    }
