"""Anthropic Messages: a transcript as the ``messages`` and ``system`` of its request.

Everything keeps its place. Empty text parts (``""``) are left out, as the provider takes none, and with them a message
that holds nothing else. The blocks are those of the vendor's SDK, whose own types the tests ask.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from runhold_client.providers.encoding import Block, Place, ToolWords, exact_json, text_of
from runhold_client.providers.parts import (
    CacheCheckpointPart,
    Citation,
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

PROVIDER = "anthropic"


@dataclass(frozen=True, slots=True)
class AnthropicRequest:
    """What a transcript makes of a Messages request: ``client.messages.create(…, **request.parameters())``."""

    messages: list[Block]
    system: list[Block]

    def parameters(self) -> Block:
        """The two as keyword arguments; ``system`` only when there is one."""
        return {"messages": self.messages, **({"system": self.system} if self.system else {})}


def encode_anthropic(messages: Sequence[Message], *, tool_names: Mapping[str, str] | None = None) -> AnthropicRequest:
    """Write a transcript as a Messages request.

    System messages at the head become ``system``; a later one keeps its place among the messages. A cache checkpoint
    marks the block before it.

    Args: tool_names says what to send for a tool's stored name; others are sent as they are.

    Raises: Unencodable, naming the place and the rule, when Messages cannot carry a part as it is, or when there is no
    message of a user or an assistant.
    """
    encoder = _Encoder(ToolWords(tool_names or {}))
    request = AnthropicRequest([], [])
    for index, message in enumerate(messages):
        place = Place(PROVIDER, index)
        at_head = message.role == "system" and not request.messages
        blocks = encoder.message(message, place, request.system if at_head else [])
        if at_head:
            request.system.extend(blocks)
        elif blocks:
            request.messages.append({"role": message.role, "content": blocks})
    if not any(message["role"] != "system" for message in request.messages):
        raise Place(PROVIDER).error("no_conversation", "there is no message of a user or an assistant")
    return request


@dataclass
class _Encoder:
    words: ToolWords

    def message(self, message: Message, place: Place, before: list[Block]) -> list[Block]:
        """The blocks of a message; ``before`` holds those that a checkpoint at its start may mark."""
        blocks: list[Block] = []
        for index, part in enumerate(message.parts or ()):
            at = place.at(index)
            if isinstance(part, CacheCheckpointPart):
                _mark_cached((blocks or before)[-1:], at)
                continue
            block = self.part(part, message.role, at)
            if block is not None:
                blocks.append(block)
        return blocks

    def part(self, part: Part, role: str, place: Place) -> Block | None:
        if role not in _ROLES[type(part)]:
            raise place.error(
                f"{part.kind}_role", f"a part of kind {part.kind} cannot stand in a message of the {role}"
            )
        match part:
            case TextPart():
                return {"type": "text", "text": place.text(part.text)} if part.text else None
            case ThinkingPart():
                return _thinking(part, place)
            case ImagePart():
                source = {"type": "base64", "media_type": f"image/{part.format}", "data": _base64(part.bytes)}
                return {"type": "image", "source": source}
            case DocumentPart():
                return _document(part, place)
            case CitationsPart():
                citations = [_citation(citation, place) for citation in part.citations]
                return {"type": "text", "text": place.text(part.text), "citations": citations}
            case ToolUsePart():
                return self.tool_use(part, place)
            case ToolResultPart():
                return self.tool_result(part, place)
            case _:
                return None

    def tool_use(self, part: ToolUsePart, place: Place) -> Block:
        if part.thought_signature:
            raise place.error("thought_signature", "Messages carries no thought signature", part.id)
        return {
            "type": "tool_use",
            "id": self.words.id(part.id),
            "name": self.words.name(part.name, place, part.id),
            "input": exact_json(part.input, place, part.id),
        }

    def tool_result(self, part: ToolResultPart, place: Place) -> Block:
        # What is not a text goes as its JSON text, byte for byte.
        text = text_of(part.content)
        content = place.text(part.content if text is None else text, part.tool_use_id)
        block: Block = {"type": "tool_result", "tool_use_id": self.words.id(part.tool_use_id), "content": content}
        if part.is_error:
            block["is_error"] = True
        return block


_ROLES: dict[type[Part], tuple[str, ...]] = {
    TextPart: ("user", "assistant", "system"),
    ThinkingPart: ("assistant",),
    ImagePart: ("user",),
    DocumentPart: ("user",),
    CitationsPart: ("assistant",),
    ToolUsePart: ("assistant",),
    ToolResultPart: ("user",),
}


def _mark_cached(before: list[Block], place: Place) -> None:
    if not before:
        raise place.error("cache_checkpoint_first", "a cache checkpoint marks the block before it, and there is none")
    if before[0]["type"] in ("thinking", "redacted_thinking"):
        raise place.error("cache_checkpoint_thinking", "thinking cannot end a cached part of a request")
    before[0]["cache_control"] = {"type": "ephemeral"}


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _thinking(part: ThinkingPart, place: Place) -> Block:
    if part.redacted and (part.text or part.signature):
        raise place.error("thinking_both", "thinking is either signed text or redacted bytes, not both")
    if part.redacted:
        return {"type": "redacted_thinking", "data": _base64(part.redacted)}
    if not part.signature:
        raise place.error("thinking_unsigned", "thinking without a signature cannot be sent back")
    return {"type": "thinking", "thinking": place.text(part.text), "signature": part.signature}


def _document(part: DocumentPart, place: Place) -> Block:
    block: Block = {"type": "document", "source": _document_source(part, place), "title": place.text(part.name)}
    if part.context:
        block["context"] = place.text(part.context)
    if part.cite:
        block["citations"] = {"enabled": True}
    return block


def _document_source(part: DocumentPart, place: Place) -> Block:
    if part.text is not None:
        return {"type": "text", "media_type": "text/plain", "data": place.text(part.text)}
    if part.chunks is not None:
        return {"type": "content", "content": [{"type": "text", "text": place.text(chunk)} for chunk in part.chunks]}
    if part.format != "pdf":
        raise place.error("document_format", "of bytes and of a URL, Messages takes PDF only")
    if part.bytes is not None:
        return {"type": "base64", "media_type": "application/pdf", "data": _base64(part.bytes)}
    uri = part.uri or ""
    if not uri.startswith("https://"):
        raise place.error("document_uri", "Messages reads documents from https:// only")
    return {"type": "url", "url": uri}


def _citation(citation: Citation, place: Place) -> Block:
    if citation.source:
        raise place.error("citation_source", "Messages carries no source of a citation beside its document")
    location = citation.location
    spans = {
        ("char_location", "start_char_index", "end_char_index"): location and location.document_char,
        ("content_block_location", "start_block_index", "end_block_index"): location and location.document_chunk,
        ("page_location", "start_page_number", "end_page_number"): location and location.document_page,
    }
    given = [(names, span) for names, span in spans.items() if span]
    if len(given) != 1:
        raise place.error("citation_location", "a citation needs exactly one location")
    (kind, start, end), span = given[0]
    return {
        "type": kind,
        "cited_text": place.text("".join(citation.source_content)),
        "document_index": span.document_index,
        "document_title": citation.title or None,
        start: span.start,
        end: span.end,
    }
