"""A problem's code becomes the exception of that name; nothing else of the document decides."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from runhold_client import (
    ERRORS,
    AccessError,
    ContractError,
    EventConflict,
    HttpStore,
    RetryPolicy,
    RunNotFound,
    StoreError,
    TemporaryError,
)
from runhold_client import errors as family
from runhold_client.refusals import problem_error
from tests.client.faulty_server import faulty_server, problem
from tests.conformance.statuses import STATUS

ONCE = RetryPolicy(attempts=1)


def all_classes(base: type[StoreError]) -> Iterator[type[StoreError]]:
    for child in base.__subclasses__():
        yield child
        yield from all_classes(child)


def test_the_family_holds_exactly_the_codes_of_the_contract() -> None:
    assert ERRORS.keys() == STATUS.keys()


@pytest.mark.parametrize("code", STATUS)
def test_each_code_is_the_exception_of_its_name(code: str) -> None:
    status = STATUS[code]
    permanent = status not in (401, 403, 429, 500, 503)
    document = problem(status, code, permanent=permanent, more=1)
    with (
        faulty_server([document]) as server,
        HttpStore(server.url, retries=ONCE) as store,
        pytest.raises(StoreError) as raised,
    ):
        store.load_run("r")
    error = raised.value
    name = "InternalError" if code == "internal" else code.title().replace("_", "")
    assert type(error).__name__ == name
    assert error.problem_code == type(error).code == code
    assert error.detail == "told by the test"
    assert error.problem["more"] == 1
    kind = ContractError if permanent else AccessError if status in (401, 403) else TemporaryError
    assert isinstance(error, kind)


def test_every_exception_is_told_what_it_means_and_is_public() -> None:
    import runhold_client

    for kind in all_classes(StoreError):
        assert kind.__doc__, kind
        assert getattr(runhold_client, kind.__name__) is getattr(family, kind.__name__) is kind


@pytest.mark.parametrize(
    ("status", "permanent", "kind"),
    [
        (409, True, ContractError),
        (422, True, ContractError),
        (404, True, ContractError),
        (503, False, TemporaryError),
        (409, False, TemporaryError),
        (403, False, AccessError),
        (418, None, ContractError),
        (599, None, TemporaryError),
    ],
)
def test_an_unknown_code_is_told_by_whether_it_is_permanent(
    status: int, permanent: bool | None, kind: type[StoreError]
) -> None:
    document = {"code": "a_code_of_tomorrow", "detail": "d"}
    error = problem_error(status, document if permanent is None else {**document, "permanent": permanent})
    assert isinstance(error, kind)
    assert error.problem_code == "a_code_of_tomorrow"
    assert type(error) is ContractError or not isinstance(error, ContractError)


def test_an_event_conflict_tells_which_record_and_which_fields_differ() -> None:
    document = problem(409, "event_conflict", permanent=True, run_id="r", event_key="k", differs=["payload", "type"])
    with faulty_server([document]) as server, HttpStore(server.url) as store, pytest.raises(EventConflict) as raised:
        store.load_run("r")
    assert (raised.value.run_id, raised.value.event_key) == ("r", "k")
    assert raised.value.differs == ("payload", "type")


@pytest.mark.parametrize(
    "document",
    [
        b"not json",
        b"[]",
        b'"run_not_found"',
        b'{"code": 7}',
        b'{"code": ["run_not_found"]}',
        b"\xff\xfe",
        b"[" * 100_000,
    ],
)
def test_a_broken_problem_document_is_told_by_its_status(document: bytes) -> None:
    head = b"HTTP/1.1 404 x\r\nContent-Type: application/problem+json\r\nContent-Length: %d\r\n\r\n" % len(document)
    with (
        faulty_server([head + document]) as server,
        HttpStore(server.url) as store,
        pytest.raises(ContractError) as raised,
    ):
        store.load_run("r")
    assert not isinstance(raised.value, RunNotFound)
    assert raised.value.detail == "status 404"
