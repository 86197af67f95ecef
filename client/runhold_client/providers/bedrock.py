"""Amazon Bedrock Converse: a transcript as the ``messages`` and ``system`` of its request.

Everything keeps its place. Empty text parts (``""``) are left out, as the provider takes none, and with them a message
that holds nothing else. The blocks are those of botocore, whose own validator the tests ask.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

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

PROVIDER = "bedrock"
DOCUMENT_FORMATS = frozenset({"pdf", "csv", "doc", "docx", "xls", "xlsx", "html", "txt", "md"})
CACHE_POINT: Block = {"cachePoint": {"type": "default"}}


@dataclass(frozen=True, slots=True)
class BedrockRequest:
    """What a transcript makes of a Converse request: ``client.converse(modelId=…, **request.parameters())``."""

    messages: list[Block]
    system: list[Block]

    def parameters(self) -> Block:
        """The two as keyword arguments; ``system`` only when there is one."""
        return {"messages": self.messages, **({"system": self.system} if self.system else {})}


def encode_bedrock(messages: Sequence[Message], *, tool_names: Mapping[str, str] | None = None) -> BedrockRequest:
    """Write a transcript as a Converse request.

    System messages at the head become ``system``; a later one keeps its place among the messages.

    Args: tool_names says what to send for a tool's stored name; others are sent as they are.

    Raises: Unencodable, naming the place and the rule, when Converse cannot carry a part as it is, or when there is no
    message of a user or an assistant.
    """
    encoder = _Encoder(ToolWords(tool_names or {}))
    request = BedrockRequest([], [])
    for index, message in enumerate(messages):
        blocks = encoder.message(message, Place(PROVIDER, index))
        if not blocks:
            continue
        if message.role == "system" and not request.messages:
            request.system.extend(blocks)
        else:
            request.messages.append({"role": message.role, "content": blocks})
    if not any(message["role"] != "system" for message in request.messages):
        raise Place(PROVIDER).error("no_conversation", "there is no message of a user or an assistant")
    return request


@dataclass
class _Encoder:
    words: ToolWords
    document_names: set[str] = field(default_factory=set)

    def message(self, message: Message, place: Place) -> list[Block]:
        blocks: list[Block] = []
        for index, part in enumerate(message.parts or ()):
            block = self.part(part, message.role, place.at(index))
            if block is not None:
                blocks.append(block)
        return blocks

    def part(self, part: Part, role: str, place: Place) -> Block | None:
        allowed = _ROLES[type(part)]
        if role not in allowed:
            raise place.error(
                f"{part.kind}_role", f"a part of kind {part.kind} cannot stand in a message of the {role}"
            )
        match part:
            case TextPart():
                return {"text": place.text(part.text)} if part.text else None
            case ThinkingPart():
                return _thinking(part, place)
            case ImagePart():
                return {"image": {"format": part.format, "source": {"bytes": part.bytes}}}
            case DocumentPart():
                return self.document(part, place)
            case CitationsPart():
                return _citations(part, place)
            case ToolUsePart():
                return self.tool_use(part, place)
            case ToolResultPart():
                return self.tool_result(part, place)
            case CacheCheckpointPart():
                return CACHE_POINT

    def document(self, part: DocumentPart, place: Place) -> Block:
        document: Block = {"name": self.document_name(part.name)}
        if part.format:
            if part.format not in DOCUMENT_FORMATS:
                raise place.error("document_format", f"Converse knows no document format {part.format!r}")
            document["format"] = part.format
        document["source"] = _document_source(part, place)
        if part.context:
            document["context"] = place.text(part.context)
        if part.cite:
            document["citations"] = {"enabled": True}
        return {"document": document}

    def document_name(self, stored: str) -> str:
        """A name in the provider's alphabet that no other document of the request has."""
        safe = re.sub(r"[^a-zA-Z0-9()\[\]-]+", " ", stored).strip()[:190].rstrip() or "document"
        name, number = safe, 1
        while name in self.document_names:
            number += 1
            name = f"{safe} ({number})"
        self.document_names.add(name)
        return name

    def tool_use(self, part: ToolUsePart, place: Place) -> Block:
        if part.thought_signature:
            raise place.error("thought_signature", "Converse carries no thought signature", part.id)
        return {
            "toolUse": {
                "toolUseId": self.words.id(part.id),
                "name": self.words.name(part.name, place, part.id),
                "input": exact_json(part.input, place, part.id),
            }
        }

    def tool_result(self, part: ToolResultPart, place: Place) -> Block:
        text = text_of(part.content)
        if text is not None:
            content: Block = {"text": place.text(text, part.tool_use_id)}
        else:
            content = {"json": exact_json(part.content, place, part.tool_use_id)}
        result: Block = {"toolUseId": self.words.id(part.tool_use_id), "content": [content]}
        if part.is_error:
            result["status"] = "error"
        return {"toolResult": result}


_ROLES: dict[type[Part], tuple[str, ...]] = {
    TextPart: ("user", "assistant", "system"),
    CacheCheckpointPart: ("user", "assistant", "system"),
    ThinkingPart: ("assistant",),
    ImagePart: ("user",),
    DocumentPart: ("user",),
    CitationsPart: ("assistant",),
    ToolUsePart: ("assistant",),
    ToolResultPart: ("user",),
}


def _thinking(part: ThinkingPart, place: Place) -> Block:
    if part.redacted and (part.text or part.signature):
        raise place.error("thinking_both", "thinking is either signed text or redacted bytes, not both")
    if part.redacted:
        return {"reasoningContent": {"redactedContent": part.redacted}}
    if not part.signature:
        raise place.error("thinking_unsigned", "thinking without a signature cannot be sent back")
    return {"reasoningContent": {"reasoningText": {"text": place.text(part.text), "signature": part.signature}}}


def _document_source(part: DocumentPart, place: Place) -> Block:
    if part.bytes is not None:
        if not part.format:
            raise place.error("document_format", "a document of bytes needs its format")
        return {"bytes": part.bytes}
    if part.text is not None:
        return {"text": place.text(part.text)}
    if part.chunks is not None:
        return {"content": [{"text": place.text(chunk)} for chunk in part.chunks]}
    uri = part.uri or ""
    if not uri.startswith("s3://"):
        raise place.error("document_uri", "Converse reads documents from s3:// only")
    if part.cite:
        raise place.error("document_uri_citations", "Converse cites no document that it reads from s3://")
    return {"s3Location": {"uri": uri}}


def _citations(part: CitationsPart, place: Place) -> Block:
    return {
        "citationsContent": {
            "content": [{"text": place.text(part.text)}],
            "citations": [_citation(citation, place) for citation in part.citations],
        }
    }


def _citation(citation: Citation, place: Place) -> Block:
    location = citation.location
    kinds = {
        "documentChar": location and location.document_char,
        "documentChunk": location and location.document_chunk,
        "documentPage": location and location.document_page,
    }
    given = {kind: span for kind, span in kinds.items() if span}
    if len(given) != 1:
        raise place.error("citation_location", "a citation needs exactly one location")
    block: Block = {
        "location": {
            kind: {"documentIndex": span.document_index, "start": span.start, "end": span.end}
            for kind, span in given.items()
        }
    }
    if citation.title:
        block["title"] = place.text(citation.title)
    if citation.source:
        block["source"] = place.text(citation.source)
    if citation.source_content:
        block["sourceContent"] = [{"text": place.text(text)} for text in citation.source_content]
    return block
