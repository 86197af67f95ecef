"""Bodies of millions of values: they are refused without being read, in little memory and time."""

from __future__ import annotations

import time
import tracemalloc

import pytest

from runhold.api.json_body import parse_body
from runhold.domain.errors import ContractError, InvalidCommand, MalformedRequest
from runhold.domain.limits import JSON_VALUES

SIZE = 1024 * 1024
MEMBERS = {
    "numbers": "1,",
    "empty lists": "[],",
    "empty objects": "{},",
    "short texts": '"a",',
    "objects with a name twice": '{"":0,"":0},',
}


def filled(begin: str, member: str, end: str) -> bytes:
    return (begin + member * ((SIZE - len(begin) - len(end)) // len(member)) + end).encode()


def refusal(body: bytes) -> ContractError:
    """Why a body is refused; fails when that takes much time or memory."""
    tracemalloc.start()
    begun = time.process_time()
    with pytest.raises(ContractError) as refused:
        parse_body(body)
    took = time.process_time() - begun
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert took < 10
    assert peak < 8 * len(body)
    return refused.value


@pytest.mark.parametrize("member", MEMBERS.values(), ids=list(MEMBERS))
@pytest.mark.parametrize("begin", ['{"a":0,"a":[', '{"commands":['])
def test_millions_of_values_are_refused_unread(begin: str, member: str) -> None:
    assert isinstance(refusal(filled(begin, member, "0]}")), InvalidCommand)
    assert isinstance(refusal(filled(begin, member, ",}")), MalformedRequest)
    assert isinstance(refusal(filled(begin, member, "")), MalformedRequest)


@pytest.mark.parametrize("labels", ["", '{"run":{"labels":'])
def test_millions_of_names_are_refused_unread(labels: str) -> None:
    names = ",".join(f'"{number:x}":""' for number in range(JSON_VALUES + 1))
    assert isinstance(refusal((labels + f"{{{names}}}" + "}" * labels.count("{")).encode()), InvalidCommand)


@pytest.mark.parametrize("body", ["[" * SIZE, '{"a":' * (SIZE // 5)])
def test_nesting_without_end_is_refused_unread(body: str) -> None:
    assert isinstance(refusal(body.encode()), InvalidCommand)


def test_as_many_values_as_any_request_can_hold_are_read() -> None:
    label = ",".join(f'"{number}":"v"' for number in range(256))
    item = (
        '{"operation":"start_root_run","body":{"run":{"labels":{'
        + label
        + '},"run_id":"r"},"started":{},"canceled":{}}}'
    )
    assert len(parse_body(f'{{"commands":[{",".join([item] * 256)}]}}'.encode())["commands"]) == 256
    assert parse_body(b'{"payload":"' + b"[{," * JSON_VALUES + b'"}')
