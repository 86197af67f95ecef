"""Requests from what is stored and what is new, and responses before a planner sees them."""

from __future__ import annotations

import pytest

from runhold_client.providers import Provider, Unencodable, prepare_request, validate_response
from runhold_client.providers.parts import Message, ThinkingPart, ToolUsePart
from tests.worker.providers.corpus import ALL, BYTES, assistant, result, text, use, user
from tests.worker.providers.sdks import bedrock_body, check_anthropic, check_openai

CHECKS = {"bedrock": bedrock_body, "anthropic": check_anthropic, "openai": check_openai}
providers = pytest.mark.parametrize("provider", ALL)


@providers
def test_a_request_holds_what_is_stored_and_then_what_is_new(provider: Provider) -> None:
    stored, delta = [user(text()), assistant(use())], [user(result())]
    prepared = prepare_request(provider, stored, delta)
    assert prepared.messages == (*stored, *delta)
    parameters = prepared.request.parameters()
    CHECKS[provider](parameters)
    assert parameters == prepare_request(provider, [*stored, *delta]).request.parameters()
    assert len(stored) == 2


NO_PAIRS = [
    ("a call at the end", [assistant(use())], "result_missing", (1, 0), "t1"),
    ("one of two results", [assistant(use("t1"), use("t2")), user(result("t1"))], "result_missing", (1, 1), "t2"),
    (
        "each result in a message of its own",
        [assistant(use("t1"), use("t2")), user(result("t1")), user(result("t2"))],
        "result_missing",
        (1, 1),
        "t2",
    ),
    ("a call in the middle", [assistant(use()), user(text()), assistant(text())], "result_missing", (1, 0), "t1"),
    ("a result too many", [assistant(use("t1")), user(result("t1"), result("t2"))], "result_unasked", (2, 1), "t2"),
    ("a result twice", [assistant(use("t1")), user(result("t1"), result("t1"))], "id_repeated", (2, 0), "t1"),
    ("an id twice", [assistant(use("t1"), use("t1")), user(result("t1"))], "id_repeated", (1, 0), "t1"),
    ("an empty id", [assistant(use("")), user(result(""))], "id_empty", (1, 0), ""),
    (
        "an id of an answered turn, open in a later one",
        [assistant(use("t1")), user(result("t1")), assistant(use("t1"))],
        "result_missing",
        (3, 0),
        "t1",
    ),
]


@providers
@pytest.mark.parametrize(("name", "messages", "rule", "place", "call"), NO_PAIRS, ids=[case[0] for case in NO_PAIRS])
def test_calls_without_their_results_are_not_sent(
    provider: Provider, name: str, messages: list[Message], rule: str, place: tuple[int, int], call: str
) -> None:
    with pytest.raises(Unencodable) as refused:
        prepare_request(provider, [user(text())], messages)
    error = refused.value
    assert (error.rule, (error.message_index, error.part_index), error.tool_use_id) == (rule, place, call)


@providers
def test_an_id_may_be_used_again_when_it_is_answered_again(provider: Provider) -> None:
    turn = [assistant(use("t1")), user(result("t1"))]
    prepare_request(provider, [user(text()), *turn, *turn])


@providers
def test_an_old_call_whose_input_fits_no_tool_of_today_is_sent_all_the_same(provider: Provider) -> None:
    old = [
        assistant(use("t1", '{"gone": []}')),
        user(result("t1", '"no such field"', is_error=True)),
        assistant(text()),
    ]
    CHECKS[provider](prepare_request(provider, [user(text()), *old], [user(text("next"))]).request.parameters())


@pytest.mark.parametrize("provider", ["bedrock", "anthropic"])
def test_with_thinking_a_message_that_calls_begins_with_it(provider: Provider) -> None:
    late = [user(text()), assistant(text(), ThinkingPart("", "c2ln"), use()), user(result())]
    prepare_request(provider, late)
    with pytest.raises(Unencodable) as refused:
        prepare_request(provider, late, thinking_enabled=True)
    assert (refused.value.rule, refused.value.message_index) == ("thinking_first", 1)
    for thinking in (ThinkingPart("", "c2ln"), ThinkingPart(redacted=BYTES)):
        first = [user(text()), assistant(thinking, text(""), use()), user(result()), assistant(text())]
        CHECKS[provider](prepare_request(provider, first, thinking_enabled=True).request.parameters())


@providers
def test_a_complete_response_passes(provider: Provider) -> None:
    validate_response(provider, assistant(text("Well.")))
    validate_response(provider, assistant(text(""), use("t1"), use("t2")), tools={"search"})


@providers
@pytest.mark.parametrize(
    ("response", "rule", "part_index"),
    [
        (user(text()), "response_role", -1),
        (Message("assistant", None), "response_empty", -1),
        (assistant(text("")), "response_empty", -1),
        (assistant(text(), result()), "tool_result_role", 1),
        (assistant(text(), use("")), "id_empty", 1),
        (assistant(use("t1"), use("t1")), "id_repeated", 1),
        (assistant(use("t1", "[]")), "input_object", 0),
        (assistant(use("t1", "{")), "input_object", 0),
        (assistant(use("t1", "")), "input_object", 0),
        (assistant(ToolUsePart("t1", "rm", "{}")), "tool_unknown", 0),
        (assistant(text(), use(thought_signature="c2ln")), "thought_signature", 1),
    ],
)
def test_a_response_that_could_not_be_gone_on_with_is_refused(
    provider: Provider, response: Message, rule: str, part_index: int
) -> None:
    with pytest.raises(Unencodable) as refused:
        validate_response(provider, response, tools={"search"})
    assert (refused.value.rule, refused.value.message_index, refused.value.part_index) == (rule, 0, part_index)


@pytest.mark.parametrize("provider", ["bedrock", "anthropic"])
def test_thinking_that_could_not_be_sent_back_is_refused_at_once(provider: Provider) -> None:
    validate_response(provider, assistant(ThinkingPart("", "c2ln"), use()), thinking_enabled=True)
    with pytest.raises(Unencodable, match="thinking_unsigned"):
        validate_response(provider, assistant(ThinkingPart("hm"), use()))
    with pytest.raises(Unencodable, match="thinking_first"):
        validate_response(provider, assistant(text(), use()), thinking_enabled=True)
