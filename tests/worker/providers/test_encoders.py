"""Every case of the corpus by every provider: what the vendor's own package says, order, and precise refusals."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from runhold_client.providers.anthropic import encode_anthropic
from runhold_client.providers.bedrock import encode_bedrock
from runhold_client.providers.errors import Unencodable
from runhold_client.providers.openai import encode_openai
from runhold_client.providers.parts import (
    CacheCheckpointPart,
    CitationsPart,
    DocumentPart,
    ImagePart,
    Message,
    Part,
    TextPart,
    ThinkingPart,
    ToolResultPart,
    ToolUsePart,
)
from tests.worker.providers.corpus import (
    ALL,
    BYTES,
    CASES,
    CHECKPOINT,
    Case,
    assistant,
    cited,
    document,
    result,
    system,
    text,
    use,
    user,
)
from tests.worker.providers.sdks import bedrock_body, check_anthropic, check_openai

ENCODERS: dict[str, Callable[..., Any]] = {
    "bedrock": encode_bedrock,
    "anthropic": encode_anthropic,
    "openai": encode_openai,
}
CHECKS: dict[str, Callable[[Any], Any]] = {
    "bedrock": bedrock_body,
    "anthropic": check_anthropic,
    "openai": check_openai,
}
Token = tuple[str, Any]


@pytest.mark.parametrize("provider", ALL)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_transcript_is_carried_whole_and_in_order_or_refused_by_name(case: Case, provider: str) -> None:
    encode = ENCODERS[provider]
    if provider in case.refused:
        with pytest.raises(Unencodable) as refused:
            encode(case.messages)
        error = refused.value
        assert (error.provider, error.rule) == (provider, case.refused[provider])
        assert (error.message_index, error.part_index) == case.place
        assert error.rule in str(error)
        return
    parameters = encode(case.messages).parameters()
    CHECKS[provider](parameters)
    assert list(TOKENS[provider](parameters)) == list(_wanted(case.messages))


# What stands where: one token for each part, from the transcript and from each provider's request.


def _wanted(messages: Sequence[Message]) -> Iterator[Token]:
    for message in messages:
        for part in message.parts or ():
            if not isinstance(part, TextPart) or part.text:
                yield _token(part)


def _token(part: Part) -> Token:
    match part:
        case TextPart():
            return "text", part.text
        case ThinkingPart():
            return "thinking", (part.text, part.redacted)
        case ImagePart():
            return "image", (part.format, part.bytes)
        case DocumentPart():
            return "document", part.bytes or part.text or part.chunks or part.uri
        case CitationsPart():
            return "citations", (part.text, len(part.citations))
        case ToolUsePart():
            return "call", json.loads(part.input)
        case ToolResultPart():
            return "result", (json.loads(part.content), part.is_error)
        case CacheCheckpointPart():
            return "cache", None


def _bedrock_tokens(parameters: Any) -> Iterator[Token]:
    blocks = [*parameters.get("system", []), *(block for m in parameters["messages"] for block in m["content"])]
    for block in blocks:
        ((kind, value),) = block.items()
        match kind:
            case "text":
                yield "text", value
            case "reasoningContent":
                yield "thinking", (value.get("reasoningText", {}).get("text", ""), value.get("redactedContent"))
            case "image":
                yield "image", (value["format"], value["source"]["bytes"])
            case "document":
                ((source, content),) = value["source"].items()
                if source == "content":
                    content = tuple(chunk["text"] for chunk in content)
                yield "document", content["uri"] if source == "s3Location" else content
            case "citationsContent":
                yield "citations", (value["content"][0]["text"], len(value["citations"]))
            case "toolUse":
                yield "call", value["input"]
            case "toolResult":
                yield "result", (next(iter(value["content"][0].values())), value.get("status") == "error")
            case "cachePoint":
                yield "cache", None


def _anthropic_tokens(parameters: Any) -> Iterator[Token]:
    blocks = [*parameters.get("system", []), *(block for m in parameters["messages"] for block in m["content"])]
    for block in blocks:
        match block["type"]:
            case "text" if "citations" in block:
                yield "citations", (block["text"], len(block["citations"]))
            case "text":
                yield "text", block["text"]
            case "thinking":
                yield "thinking", (block["thinking"], None)
            case "redacted_thinking":
                yield "thinking", ("", base64.b64decode(block["data"]))
            case "image":
                source = block["source"]
                yield "image", (source["media_type"].removeprefix("image/"), base64.b64decode(source["data"]))
            case "document":
                yield "document", _anthropic_source(block["source"])
            case "tool_use":
                yield "call", block["input"]
            case "tool_result":
                yield "result", (_loads(block["content"]), block.get("is_error", False))
        if "cache_control" in block:
            yield "cache", None


def _anthropic_source(source: Any) -> Any:
    match source["type"]:
        case "content":
            return tuple(chunk["text"] for chunk in source["content"])
        case "base64":
            return base64.b64decode(source["data"])
        case _:
            return source.get("data") or source.get("url")


def _openai_tokens(parameters: Any) -> Iterator[Token]:
    for item in parameters["input"]:
        match item["type"]:
            case "message" if isinstance(item["content"], str):
                yield "text", item["content"]
            case "message":
                for block in item["content"]:
                    yield _openai_content(block)
                    if "prompt_cache_breakpoint" in block:
                        yield "cache", None
            case "reasoning":
                yield "thinking", (item["summary"][0]["text"], None)
            case "function_call":
                yield "call", json.loads(item["arguments"])
            case "function_call_output":
                output = item["output"]
                if isinstance(output, list):
                    output = output[0]["text"]
                value = _loads(output)
                is_error = isinstance(value, dict) and "is_error" in value
                yield "result", (value["content"], True) if is_error else (value, False)
                if isinstance(item["output"], list):
                    yield "cache", None


def _openai_content(block: Any) -> Token:
    if block["type"] == "input_text":
        return "text", block["text"]
    head, _, data = (block.get("image_url") or block.get("file_data") or block["file_url"]).partition(";base64,")
    if block["type"] == "input_image":
        return "image", (head.removeprefix("data:image/"), base64.b64decode(data))
    if "file_url" in block:
        return "document", head
    content = base64.b64decode(data)
    return "document", content.decode() if head == "data:text/plain" else content


def _loads(content: str) -> Any:
    try:
        return json.loads(content)
    except ValueError:
        return content


TOKENS = {"bedrock": _bedrock_tokens, "anthropic": _anthropic_tokens, "openai": _openai_tokens}


# What the tokens do not say.


def _ids(provider: str, parameters: Any) -> list[str]:
    found = json.dumps(parameters, default=lambda data: base64.b64encode(data).decode())
    names = {"bedrock": "toolUseId", "anthropic": "(id|tool_use_id)", "openai": "call_id"}
    return [match[-1] for match in re.findall(rf'()"{names[provider]}": "([^"]+)"', found)]


@pytest.mark.parametrize("provider", ALL)
def test_ids_are_mapped_the_same_on_both_sides_and_in_later_requests(provider: str) -> None:
    turn = (
        assistant(use("call/1 ü"), use("x" * 200), use("plain-1_A")),
        user(*map(result, ("call/1 ü", "x" * 200, "plain-1_A"))),
    )
    first = _ids(provider, ENCODERS[provider]((user(text()), *turn)).parameters())
    assert first[:3] == first[3:]
    assert len(set(first)) == 3
    assert first[2] == "plain-1_A"
    assert all(len(one) <= 64 and one.isascii() and " " not in one for one in first)
    later = _ids(
        provider, ENCODERS[provider]((user(text()), *turn, assistant(text()), user(text()), *turn)).parameters()
    )
    assert later == first * 2


@pytest.mark.parametrize("provider", ALL)
def test_names_of_tools_are_the_applications_to_choose(provider: str) -> None:
    messages = (user(text()), assistant(text(), ToolUsePart("t1", "svc.search", "{}")), user(result()))
    with pytest.raises(Unencodable) as refused:
        ENCODERS[provider](messages)
    assert (refused.value.rule, refused.value.tool_use_id) == ("tool_name", "t1")
    parameters = ENCODERS[provider](messages, tool_names={"svc.search": "svc_search"}).parameters()
    CHECKS[provider](parameters)
    assert '"svc_search"' in json.dumps(parameters)


@pytest.mark.parametrize("provider", ["bedrock", "anthropic"])
@pytest.mark.parametrize(
    "arguments",
    [
        '{"n": 0.1000000000000000055}',
        '{"n": 1e400}',
        f'{{"n": {"9" * 5000}}}',
        '{"n": 1, "n": 2}',
        '{"n":' + "[" * 400_000,
    ],
    ids=["rounded", "infinite", "long", "doubled", "deep"],
)
def test_json_that_would_change_on_the_way_is_refused(provider: str, arguments: str) -> None:
    with pytest.raises(Unencodable) as refused:
        ENCODERS[provider]((user(text()), assistant(use("t1", arguments)), user(result())))
    assert (refused.value.rule, refused.value.message_index, refused.value.tool_use_id) == ("inexact_json", 1, "t1")


def test_json_that_goes_as_text_keeps_every_byte() -> None:
    odd = ' {"n": 0.1000000000000000055, "n": 1e400} '
    (_, call, output) = encode_openai((user(text()), assistant(use("t1", odd)), user(result("t1", odd)))).input
    assert (call["arguments"], output["output"]) == (odd, odd)
    request = encode_anthropic((user(text()), assistant(use()), user(result("t1", odd))))
    assert request.messages[-1]["content"][0]["content"] == odd


def test_numbers_reach_bedrock_as_they_were_meant() -> None:
    arguments = '{"a": 12.50, "b": 1e3, "c": -0.0, "d": 123456789012345678901234567890}'
    request = encode_bedrock((user(text()), assistant(use("t1", arguments)), user(result())))
    body = bedrock_body(request.parameters())
    assert body["messages"][1]["content"][0]["toolUse"]["input"] == json.loads(arguments)


def test_signatures_and_redacted_bytes_reach_the_provider_bit_for_bit() -> None:
    signature = base64.b64encode(BYTES).decode()
    messages = (
        user(text()),
        assistant(ThinkingPart("", signature), ThinkingPart(redacted=BYTES), use()),
        user(result()),
    )
    signed, redacted, _ = encode_bedrock(messages).messages[1]["content"]
    assert signed == {"reasoningContent": {"reasoningText": {"text": "", "signature": signature}}}
    assert redacted == {"reasoningContent": {"redactedContent": BYTES}}
    signed, redacted, _ = encode_anthropic(messages).messages[1]["content"]
    assert signed == {"type": "thinking", "thinking": "", "signature": signature}
    assert redacted == {"type": "redacted_thinking", "data": signature}


def test_documents_have_safe_names_that_no_two_share() -> None:
    names = ["report.pdf", "report pdf", "report  pdf", "", "../ü", "x" * 300, "x" * 299, "a (1) [b]-c"]
    request = encode_bedrock((user(*(document(name=name, text="x") for name in names), text()),))
    bedrock_body(request.parameters())
    sent = [block["document"]["name"] for block in request.messages[0]["content"][:-1]]
    assert len(set(sent)) == len(names)
    assert all(1 <= len(name) <= 200 and "  " not in name and name.isascii() for name in sent)
    assert sent[0] == "report pdf"
    assert sent[-1] == "a (1) [b]-c"


def test_system_messages_at_the_head_are_the_system_and_later_ones_stay_where_they_are() -> None:
    messages = (
        system(text("one"), CHECKPOINT),
        system(text("two")),
        user(text()),
        system(text("three")),
        assistant(text()),
    )
    bedrock = encode_bedrock(messages)
    assert bedrock.system == [{"text": "one"}, {"cachePoint": {"type": "default"}}, {"text": "two"}]
    anthropic = encode_anthropic(messages)
    assert [block["text"] for block in anthropic.system] == ["one", "two"]
    for request in (bedrock, anthropic):
        assert [message["role"] for message in request.messages] == ["user", "system", "assistant"]
    assert [item["role"] for item in encode_openai(messages).input] == [
        "system",
        "system",
        "user",
        "system",
        "assistant",
    ]


def test_a_checkpoint_marks_the_block_before_it_and_never_thinking() -> None:
    request = encode_anthropic((system(text("one")), system(CHECKPOINT), user(text("a"), text(""), CHECKPOINT)))
    assert request.system == [{"type": "text", "text": "one", "cache_control": {"type": "ephemeral"}}]
    assert request.messages[0]["content"] == [{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}]
    with pytest.raises(Unencodable) as refused:
        encode_anthropic((user(text()), assistant(ThinkingPart("", "c2ln"), CHECKPOINT, use()), user(result())))
    assert refused.value.rule == "cache_checkpoint_thinking"


def test_citations_say_where_in_which_document() -> None:
    messages = (user(text()), assistant(cited(source="s3://b/r", source_content=("as it", " says"))))
    ((block,),) = [message["content"] for message in encode_bedrock(messages).messages[1:]]
    assert block["citationsContent"]["citations"] == [
        {
            "location": {"documentChar": {"documentIndex": 0, "start": 3, "end": 9}},
            "title": "report",
            "source": "s3://b/r",
            "sourceContent": [{"text": "as it"}, {"text": " says"}],
        }
    ]


def test_nothing_is_changed_in_the_transcript() -> None:
    for case in CASES:
        before = repr(case.messages)
        for provider in ALL:
            if provider not in case.refused:
                assert ENCODERS[provider](case.messages).parameters() == ENCODERS[provider](case.messages).parameters()
        assert repr(case.messages) == before
