"""From what is stored to what a provider takes, and from what it answers to what a planner may see: both checked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, TypeAlias, TypeVar, overload

from runhold_client.providers.anthropic import AnthropicRequest, encode_anthropic
from runhold_client.providers.bedrock import BedrockRequest, encode_bedrock
from runhold_client.providers.checks import check_pairs, check_thinking_first
from runhold_client.providers.encoding import Place, is_json_object
from runhold_client.providers.openai import OpenAIRequest, encode_openai
from runhold_client.providers.parts import CitationsPart, Message, TextPart, ThinkingPart, ToolUsePart

Provider: TypeAlias = Literal["bedrock", "anthropic", "openai"]
Request = TypeVar("Request", BedrockRequest, AnthropicRequest, OpenAIRequest)


@dataclass(frozen=True, slots=True)
class PreparedRequest(Generic[Request]):
    """A transcript that is ready for a provider."""

    messages: tuple[Message, ...]
    """The complete transcript: what was stored, then what is new."""
    request: Request
    """It as the provider takes it."""


@overload
def prepare_request(
    provider: Literal["bedrock"],
    stored: Sequence[Message],
    delta: Sequence[Message] = ...,
    *,
    thinking_enabled: bool = ...,
    tool_names: Mapping[str, str] | None = ...,
) -> PreparedRequest[BedrockRequest]: ...


@overload
def prepare_request(
    provider: Literal["anthropic"],
    stored: Sequence[Message],
    delta: Sequence[Message] = ...,
    *,
    thinking_enabled: bool = ...,
    tool_names: Mapping[str, str] | None = ...,
) -> PreparedRequest[AnthropicRequest]: ...


@overload
def prepare_request(
    provider: Literal["openai"],
    stored: Sequence[Message],
    delta: Sequence[Message] = ...,
    *,
    thinking_enabled: bool = ...,
    tool_names: Mapping[str, str] | None = ...,
) -> PreparedRequest[OpenAIRequest]: ...


def prepare_request(
    provider: Provider,
    stored: Sequence[Message],
    delta: Sequence[Message] = (),
    *,
    thinking_enabled: bool = False,
    tool_names: Mapping[str, str] | None = None,
) -> PreparedRequest[BedrockRequest] | PreparedRequest[AnthropicRequest] | PreparedRequest[OpenAIRequest]:
    """Build the complete transcript from what is stored and what is new, check it, and write it as a request.

    Args:
        provider: whose request it becomes.
        stored: the run's transcript so far, as it was replayed.
        delta: messages that are not stored yet; they come behind.
        thinking_enabled: whether the request asks for thinking; then Bedrock and Anthropic want it first in messages
            that call tools.
        tool_names: what to send for a tool's stored name; others are sent as they are.

    Raises: Unencodable when calls and results do not pair, thinking does not come first, or the provider cannot carry a
    part; the index is that of the complete transcript. Nothing is changed to make it fit.
    """
    messages = (*stored, *delta)
    check_pairs(messages, provider)
    if thinking_enabled and provider != "openai":
        check_thinking_first(messages, provider)
    if provider == "bedrock":
        return PreparedRequest(messages, encode_bedrock(messages, tool_names=tool_names))
    if provider == "anthropic":
        return PreparedRequest(messages, encode_anthropic(messages, tool_names=tool_names))
    return PreparedRequest(messages, encode_openai(messages, tool_names=tool_names))


def validate_response(
    provider: Provider,
    response: Message,
    *,
    tools: Collection[str] | None = None,
    thinking_enabled: bool = False,
    tool_names: Mapping[str, str] | None = None,
) -> None:
    """Check a complete response before a planner sees it and before it is stored.

    It is a message of the assistant, says or calls something, calls each tool under an id of its own with a JSON
    object, and can be sent back to the provider as it is.

    Args:
        provider: who answered.
        response: what was answered, decoded.
        tools: the stored names of the tools that were offered; a call of another is an error.
        thinking_enabled: whether thinking was asked for; see ``prepare_request``.
        tool_names: as for ``prepare_request``.

    Raises: Unencodable, with message index 0.
    """
    place = Place(provider, 0)
    if response.role != "assistant":
        raise place.error("response_role", f"a response is a message of the assistant, not of the {response.role}")
    seen: set[str] = set()
    says = False
    for index, part in enumerate(response.parts or ()):
        match part:
            case ToolUsePart():
                _check_call(part, place.at(index), seen, tools)
                says = True
            case TextPart() | CitationsPart():
                says = says or part.text != ""
            case ThinkingPart():
                pass
            case _:
                raise place.at(index).error(f"{part.kind}_role", f"no response holds a part of kind {part.kind}")
    if not says:
        raise place.error("response_empty", "the response neither says nor calls anything")
    if thinking_enabled and provider != "openai":
        check_thinking_first([response], provider)
    _ENCODERS[provider]([response], tool_names=tool_names)


_ENCODERS: Mapping[str, Callable[..., object]] = {
    "bedrock": encode_bedrock,
    "anthropic": encode_anthropic,
    "openai": encode_openai,
}


def _check_call(part: ToolUsePart, place: Place, seen: set[str], tools: Collection[str] | None) -> None:
    if not part.id:
        raise place.error("id_empty", "the id of a call is empty")
    if part.id in seen:
        raise place.error("id_repeated", f"the id {part.id!r} stands twice in one message", part.id)
    seen.add(part.id)
    if tools is not None and part.name not in tools:
        raise place.error("tool_unknown", f"no tool named {part.name!r} was offered", part.id)
    if not is_json_object(part.input):
        raise place.error("input_object", "the input of a call is a JSON object", part.id)
