"""The messages and parts of a transcript, decoded."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal, TypeAlias


@dataclass(frozen=True, slots=True)
class ThinkingPart:
    """What a model thought: signed text, or redacted bytes."""

    kind: ClassVar[str] = "thinking"
    text: str = ""
    signature: str = ""
    redacted: bytes | None = None
    index: int = 0
    final: bool = False


@dataclass(frozen=True, slots=True)
class TextPart:
    """Text."""

    kind: ClassVar[str] = "text"
    text: str


@dataclass(frozen=True, slots=True)
class ImagePart:
    """An image."""

    kind: ClassVar[str] = "image"
    format: str
    bytes: bytes


@dataclass(frozen=True, slots=True)
class DocumentPart:
    """A document; exactly one of its four sources is given."""

    kind: ClassVar[str] = "document"
    name: str
    format: str = ""
    bytes: bytes | None = None
    text: str | None = None
    chunks: tuple[str, ...] | None = None
    uri: str | None = None
    context: str = ""
    cite: bool = False


@dataclass(frozen=True, slots=True)
class Span:
    """A place in a document."""

    document_index: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Location:
    """Where a citation points; one of the three."""

    document_char: Span | None = None
    document_chunk: Span | None = None
    document_page: Span | None = None


@dataclass(frozen=True, slots=True)
class Citation:
    """One source of a cited text."""

    title: str = ""
    source: str = ""
    location: Location | None = None
    source_content: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CitationsPart:
    """Text with its sources."""

    kind: ClassVar[str] = "citations"
    text: str
    citations: tuple[Citation, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolUsePart:
    """A call of a tool; ``input`` is its JSON text."""

    kind: ClassVar[str] = "tool_use"
    id: str
    name: str
    input: str
    thought_signature: str = ""


@dataclass(frozen=True, slots=True)
class ToolResultPart:
    """What a call gave; ``content`` is its JSON text."""

    kind: ClassVar[str] = "tool_result"
    tool_use_id: str
    content: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class CacheCheckpointPart:
    """The end of what a provider may cache."""

    kind: ClassVar[str] = "cache_checkpoint"


Part: TypeAlias = (
    ThinkingPart
    | TextPart
    | ImagePart
    | DocumentPart
    | CitationsPart
    | ToolUsePart
    | ToolResultPart
    | CacheCheckpointPart
)


@dataclass(frozen=True, slots=True)
class Message:
    """A message."""

    role: Literal["user", "assistant", "system"]
    parts: tuple[Part, ...] | None = field(default=())
