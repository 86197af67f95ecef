"""Typed payloads are decoded strictly: what they allow, and what they refuse."""

from __future__ import annotations

import pytest

from runhold.domain.payloads import (
    ChildRunLinked,
    PayloadError,
    RunCompleted,
    RunStarted,
    RunSuspended,
    decode_cancellation_intent,
    decode_child_run_linked,
    decode_run_completed,
    decode_run_started,
    decode_run_suspended,
)

FAILURE = '"failure":{"message":"m","kind":"k"}'


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        ("{}", RunStarted("", "", {})),
        (' { "Labels" : null , "ParentRunID" : null } ', RunStarted("", "", {})),
        ('{"ParentRunID":"p","PredecessorRunID":"q","Labels":{"a":"b"}}', RunStarted("p", "q", {"a": "b"})),
        ('{"ParentRunID":"\\ud800x\\udc00"}', RunStarted("\ufffdx\ufffd", "", {})),
        ('{"ParentRunID":"\\ud83c\\udf31"}', RunStarted("\U0001f331", "", {})),
        ('{"Labels":{"\\udfff":"\\u0000"}}', RunStarted("", "", {"\ufffd": "\0"})),
    ],
)
def test_run_started_is_read(payload: str, expected: RunStarted) -> None:
    assert decode_run_started(payload) == expected


@pytest.mark.parametrize(
    "payload",
    [
        "null",
        "[]",
        '"x"',
        "1",
        '{"parentRunID":"p"}',
        '{"ParentRunId":"p"}',
        '{"Other":null}',
        '{"ParentRunID":"p","ParentRunID":"p"}',
        '{"ParentRunID":1}',
        '{"Labels":{"a":null}}',
        '{"Labels":{"a":1}}',
        '{"Labels":[]}',
        '{"Labels":{"a":"x","a":"x"}}',
        # Both names read as U+FFFD.
        '{"Labels":{"\\ud800":"x","\\udc00":"x"}}',
        "{} {}",
        "NaN",
    ],
)
def test_what_is_no_run_started_is_refused(payload: str) -> None:
    with pytest.raises(PayloadError):
        decode_run_started(payload)


def test_child_run_linked_is_read() -> None:
    payload = '{"ToolName":"t","ToolCallID":"c","ChildRunID":"r","ChildAgentID":"a"}'
    assert decode_child_run_linked(payload) == ChildRunLinked("t", "c", "r", "a")
    assert decode_child_run_linked('{"ToolName":null}') == ChildRunLinked("", "", "", "")
    for refused in ('{"Tool":"t"}', '{"ToolName":["t"]}', '{"ToolName":true}'):
        with pytest.raises(PayloadError):
            decode_child_run_linked(refused)


@pytest.mark.parametrize("count", ["0", "-0", "7", "-7", "9223372036854775807", "-9223372036854775808"])
def test_a_count_is_an_integer_of_64_bits(count: str) -> None:
    found = decode_run_suspended(f'{{"SuspensionID":"s","Version":"v","PendingCount":{count},"RequiredTools":["a"]}}')
    assert found == RunSuspended("s", "v", int(count), ["a"])


@pytest.mark.parametrize(
    "fields",
    [
        '"PendingCount":9223372036854775808',
        '"PendingCount":-9223372036854775809',
        '"PendingCount":' + "1" * 5_000,
        '"PendingCount":1.0',
        '"PendingCount":1e2',
        '"PendingCount":"1"',
        '"PendingCount":true',
        '"PendingCount":01',
        '"RequiredTools":[null]',
        '"RequiredTools":"a"',
        '"RequiredTools":{}',
    ],
)
def test_what_is_no_run_suspended_is_refused(fields: str) -> None:
    with pytest.raises(PayloadError):
        decode_run_suspended("{" + fields + "}")


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        ('{"status":"success","phase":"completed"}', RunCompleted("success", "completed", {}, "")),
        (
            '{"status":"success","phase":"planning","failure":null,"cancellation":null,"labels":{"a":"b"}}',
            RunCompleted("success", "planning", {"a": "b"}, ""),
        ),
        ('{"status":"failed","phase":"failed",' + FAILURE + "}", RunCompleted("failed", "failed", {}, "")),
        (
            (
                '{"status":"failed","failure":{"message":"m","debug_message":"d","provider":"p","operation":"o",'
                '"kind":"k","code":"c","http_status":503,"retryable":true}}'
            ),
            RunCompleted("failed", "", {}, ""),
        ),
        (
            '{"status":"canceled","phase":"canceled","cancellation":{"reason":"r"}}',
            RunCompleted("canceled", "canceled", {}, "r"),
        ),
    ],
)
def test_run_completed_is_read(payload: str, expected: RunCompleted) -> None:
    assert decode_run_completed(payload) == expected


@pytest.mark.parametrize(
    "payload",
    [
        "{}",
        '{"status":"done","phase":"completed"}',
        '{"status":"success","phase":"finished"}',
        '{"status":"success","failure":{}}',
        '{"status":"success",' + FAILURE + "}",
        '{"status":"success","cancellation":{}}',
        '{"status":"failed"}',
        '{"status":"failed","failure":{"message":"m"}}',
        '{"status":"failed","failure":{"kind":"k"}}',
        '{"status":"failed",' + FAILURE + ',"cancellation":{"reason":"r"}}',
        '{"status":"failed","failure":{"message":"m","kind":"k","retryable":"yes"}}',
        '{"status":"failed","failure":{"message":"m","kind":"k","http_status":1.5}}',
        '{"status":"failed","failure":{"message":"m","kind":"k","other":1}}',
        '{"status":"failed","failure":{"message":"m","message":"m","kind":"k"}}',
        '{"status":"canceled"}',
        '{"status":"canceled","cancellation":{}}',
        '{"status":"canceled","cancellation":{"reason":""}}',
        '{"status":"canceled","cancellation":{"reason":"r"},' + FAILURE + "}",
        '{"status":"canceled","cancellation":{"reason":"r","by":"me"}}',
        '{"status":"success","status":"failed"}',
    ],
)
def test_what_is_no_run_completed_is_refused(payload: str) -> None:
    with pytest.raises(PayloadError):
        decode_run_completed(payload)


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        ('{"reason":"r"}', "r"),
        ('{"by":{"a":1,"a":2},"by":[1e999],"reason":"r"}', "r"),
        ('{"reason":null}', ""),
        ("{}", ""),
        ('{"Reason":"x"}', ""),
        ('{"reason":"\\ud800"}', "\ufffd"),
    ],
)
def test_only_the_reason_of_a_cancellation_intent_is_read(payload: str, reason: str) -> None:
    assert decode_cancellation_intent(payload) == reason


@pytest.mark.parametrize("payload", ["null", "[]", '"reason"', '{"reason":"r","reason":"r"}', '{"reason":1}'])
def test_what_is_no_cancellation_intent_is_refused(payload: str) -> None:
    with pytest.raises(PayloadError):
        decode_cancellation_intent(payload)


def test_a_refusal_quotes_nothing_of_the_payload() -> None:
    for payload in ('{"secret":1}', '{"ParentRunID":{"secret":1}}', '{"Labels":{"secret":2}}'):
        with pytest.raises(PayloadError) as refused:
            decode_run_started(payload)
        assert "secret" not in str(refused.value)
