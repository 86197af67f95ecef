"""OpenAI Responses: a transcript as the ``input`` of its request.

Everything keeps its place. Consecutive contents of one message of a user share an item; each text of an assistant, each
call, result and reasoning is an item of its own. Empty text parts (``""``) are left out. The items are those of the
vendor's SDK, whose own types the tests ask.

A tool result that is an error has no sign of its own in Responses: it is sent as ``{"is_error":true,"content":…}``.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from runhold_client.providers.encoding import Block, Place, ToolWords, text_of
from runhold_client.providers.parts import (
    CacheCheckpointPart,
    DocumentPart,
    ImagePart,
    Message,
    Part,
    TextPart,
    ThinkingPart,
    ToolResultPart,
    ToolUsePart,
)

PROVIDER = "openai"
MEDIA_TYPES = {
    "pdf": "application/pdf",
    "csv": "text/csv",
    "doc": "application/msword",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "xls": "application/vnd.ms-excel",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "html": "text/html",
    "txt": "text/plain",
    "md": "text/markdown",
}


@dataclass(frozen=True, slots=True)
class OpenAIRequest:
    """The part of a Responses request that a transcript makes: ``client.responses.create(…, **request.parameters())``.

    Reasoning is sent back as it came, so ask with ``store=False`` and ``include=["reasoning.encrypted_content"]``.
    """

    input: list[Block]

    def parameters(self) -> Block:
        """It as a keyword argument."""
        return {"input": self.input}


def reasoning_signature(reasoning_id: str, encrypted_content: str) -> str:
    """The signature under which a reasoning item of Responses is kept as a thinking part; its summary is the text."""
    return json.dumps({"encrypted_content": encrypted_content, "id": reasoning_id}, separators=(",", ":"))


def encode_openai(messages: Sequence[Message], *, tool_names: Mapping[str, str] | None = None) -> OpenAIRequest:
    """Write a transcript as the input of a Responses request.

    Thinking parts must hold what ``reasoning_signature`` made. A cache checkpoint marks the block before it.

    Args: tool_names says what to send for a tool's stored name; others are sent as they are.

    Raises: Unencodable, naming the place and the rule, when Responses cannot carry a part as it is, or when there is no
    message of a user or an assistant.
    """
    encoder = _Encoder(ToolWords(tool_names or {}))
    conversation = False
    for index, message in enumerate(messages):
        count = len(encoder.items)
        encoder.message(message, Place(PROVIDER, index))
        conversation = conversation or (message.role != "system" and len(encoder.items) > count)
    if not conversation:
        raise Place(PROVIDER).error("no_conversation", "there is no message of a user or an assistant")
    return OpenAIRequest(encoder.items)


@dataclass
class _Encoder:
    words: ToolWords
    items: list[Block] = field(default_factory=list)

    def message(self, message: Message, place: Place) -> None:
        made: list[Block] = []
        for index, part in enumerate(message.parts or ()):
            at = place.at(index)
            if message.role not in _ROLES.get(type(part), ()):
                detail = f"Responses has no place for a part of kind {part.kind} in a message of the {message.role}"
                raise at.error(f"{part.kind}_role", detail)
            if isinstance(part, CacheCheckpointPart):
                _mark_cached(made[-1:], at)
                continue
            item = self.item(part, message.role, at)
            if item is None:
                continue
            if made and _has_contents(made[-1]) and _has_contents(item):
                made[-1]["content"].extend(item["content"])
            else:
                made.append(item)
        self.items.extend(made)

    def item(self, part: Part, role: str, place: Place) -> Block | None:
        """The item that a part is by itself; consecutive contents of one message then share theirs."""
        match part:
            case TextPart():
                if not part.text:
                    return None
                text = place.text(part.text)
                content = text if role == "assistant" else [{"type": "input_text", "text": text}]
                return {"type": "message", "role": role, "content": content}
            case ImagePart():
                url = _data_url(f"image/{part.format}", part.bytes)
                return {
                    "type": "message",
                    "role": role,
                    "content": [{"type": "input_image", "detail": "auto", "image_url": url}],
                }
            case DocumentPart():
                return {"type": "message", "role": role, "content": [_file(part, place)]}
            case ThinkingPart():
                return _reasoning(part, place)
            case ToolUsePart():
                return self.tool_use(part, place)
            case ToolResultPart():
                return self.tool_result(part, place)
            case _:
                return None

    def tool_use(self, part: ToolUsePart, place: Place) -> Block:
        if part.thought_signature:
            raise place.error("thought_signature", "Responses carries no thought signature", part.id)
        return {
            "type": "function_call",
            "call_id": self.words.id(part.id),
            "name": self.words.name(part.name, place, part.id),
            "arguments": place.text(part.input, part.id),
        }

    def tool_result(self, part: ToolResultPart, place: Place) -> Block:
        text = text_of(part.content)
        output = part.content if text is None else text
        if part.is_error:
            output = f'{{"is_error":true,"content":{part.content}}}'
        return {
            "type": "function_call_output",
            "call_id": self.words.id(part.tool_use_id),
            "output": place.text(output, part.tool_use_id),
        }


_ROLES: dict[type[Part], tuple[str, ...]] = {
    TextPart: ("user", "assistant", "system"),
    CacheCheckpointPart: ("user", "assistant", "system"),
    ThinkingPart: ("assistant",),
    ImagePart: ("user",),
    DocumentPart: ("user",),
    ToolUsePart: ("assistant",),
    ToolResultPart: ("user",),
}


def _has_contents(item: Block) -> bool:
    return item["type"] == "message" and isinstance(item["content"], list)


def _mark_cached(before: list[Block], place: Place) -> None:
    breakpoint_ = {"mode": "explicit"}
    match before:
        case [{"type": "message", "content": list() as content}]:
            content[-1]["prompt_cache_breakpoint"] = breakpoint_
        case [{"type": "function_call_output", "output": str() as output} as item]:
            item["output"] = [{"type": "input_text", "text": output, "prompt_cache_breakpoint": breakpoint_}]
        case _:
            detail = "a cache checkpoint marks content of a user or the system, or a tool's result, right before it"
            raise place.error("cache_checkpoint_place", detail)


def _data_url(media_type: str, data: bytes) -> str:
    return f"data:{media_type};base64,{base64.b64encode(data).decode('ascii')}"


def _file(part: DocumentPart, place: Place) -> Block:
    if part.cite or part.context:
        raise place.error("document_citations", "Responses takes neither citations nor a context with a file")
    if part.chunks is not None:
        raise place.error("document_chunks", "Responses takes no document of chunks")
    if part.uri is not None:
        if not part.uri.startswith("https://"):
            raise place.error("document_uri", "Responses reads files from https:// only")
        return {"type": "input_file", "file_url": part.uri, "filename": place.text(part.name)}
    media_type = MEDIA_TYPES.get(part.format or ("txt" if part.text is not None else ""))
    if media_type is None:
        raise place.error("document_format", f"the media type of the format {part.format!r} is not known")
    data = place.text(part.text).encode() if part.text is not None else part.bytes or b""
    return {"type": "input_file", "filename": place.text(part.name), "file_data": _data_url(media_type, data)}


def _reasoning(part: ThinkingPart, place: Place) -> Block:
    if part.redacted:
        raise place.error("thinking_redacted", "Responses takes no redacted thinking of another provider")
    try:
        made = json.loads(part.signature)
        reasoning_id, encrypted = made["id"], made["encrypted_content"]
    except (ValueError, TypeError, KeyError):
        raise place.error("thinking_foreign", "the thinking is not a reasoning item of Responses") from None
    summary = [{"type": "summary_text", "text": place.text(part.text)}] if part.text else []
    return {"type": "reasoning", "id": reasoning_id, "summary": summary, "encrypted_content": encrypted}
