"""Transcripts with everything that a provider may have to carry."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from runhold_client.providers.openai import reasoning_signature
from runhold_client.providers.parts import (
    CacheCheckpointPart,
    Citation,
    CitationsPart,
    DocumentPart,
    ImagePart,
    Location,
    Message,
    Part,
    Span,
    TextPart,
    ThinkingPart,
    ToolResultPart,
    ToolUsePart,
)

BYTES = bytes(range(256))
ALL = ("bedrock", "anthropic", "openai")


def user(*parts: Part) -> Message:
    return Message("user", parts)


def assistant(*parts: Part) -> Message:
    return Message("assistant", parts)


def system(*parts: Part) -> Message:
    return Message("system", parts)


def text(said: str = "hello") -> TextPart:
    return TextPart(said)


def use(call_id: str = "t1", arguments: str = '{"q": 1}', **more: Any) -> ToolUsePart:
    return ToolUsePart(call_id, "search", arguments, **more)


def result(call_id: str = "t1", content: str = '{"a":1}', **more: Any) -> ToolResultPart:
    return ToolResultPart(call_id, content, **more)


def document(**more: Any) -> DocumentPart:
    return DocumentPart(**{"name": "report", **more})


def cited(**more: Any) -> CitationsPart:
    location = Location(document_char=Span(0, 3, 9))
    return CitationsPart("as it says", (Citation(**{"title": "report", "location": location, **more}),))


CHECKPOINT = CacheCheckpointPart()


@dataclass(frozen=True)
class Case:
    """A transcript, and the rule by which each provider refuses it, for those that do."""

    name: str
    messages: tuple[Message, ...]
    refused: dict[str, str] = field(default_factory=dict)
    place: tuple[int, int] = (0, 0)


CASES = [
    Case("a question", (user(text()),)),
    Case("a system head and a later system message", (system(text("be kind")), user(text()), system(text("be brief")))),
    Case(
        "parallel calls",
        (
            user(text()),
            assistant(text("I look."), use("t1"), use("t2", '{"deep": {"n": [1, 2.50, -0.0, 1e3, null, true]}}')),
            user(result("t1"), result("t2", "[1, 2]"), text("and then?")),
            assistant(text("Well.")),
        ),
    ),
    Case(
        "an id that is used again in a later turn",
        (user(text()), assistant(use()), user(result()), assistant(use()), user(result("t1", '"twice"'))),
    ),
    Case(
        "ids outside the alphabet of a provider",
        (user(text()), assistant(use("call/1 ü"), use("x" * 200)), user(result("call/1 ü"), result("x" * 200))),
    ),
    Case(
        "signed thinking, text empty",
        (user(text()), assistant(ThinkingPart("", "c2ln"), use()), user(result())),
        {"openai": "thinking_foreign"},
        (1, 0),
    ),
    Case(
        "redacted thinking",
        (user(text()), assistant(ThinkingPart(redacted=BYTES), text("so"), use()), user(result())),
        {"openai": "thinking_redacted"},
        (1, 0),
    ),
    Case(
        "reasoning of Responses",
        (user(text()), assistant(ThinkingPart("I wonder.", reasoning_signature("rs_1", "Z0FB")), text("so"))),
    ),
    Case(
        "thinking that is not signed",
        (user(text()), assistant(ThinkingPart("I wonder."))),
        {"bedrock": "thinking_unsigned", "anthropic": "thinking_unsigned", "openai": "thinking_foreign"},
        (1, 0),
    ),
    Case(
        "thinking that is signed and redacted",
        (user(text()), assistant(ThinkingPart("I wonder.", "c2ln", BYTES))),
        {"bedrock": "thinking_both", "anthropic": "thinking_both", "openai": "thinking_redacted"},
        (1, 0),
    ),
    Case("images", (user(*(ImagePart(kind, BYTES) for kind in ("png", "jpeg", "gif", "webp")), text()),)),
    Case("a document of bytes", (user(document(format="pdf", bytes=BYTES), text()),)),
    Case(
        "a document of bytes that is no PDF",
        (user(text(), document(format="docx", bytes=BYTES)),),
        {"anthropic": "document_format"},
        (0, 1),
    ),
    Case(
        "a document of bytes in an unknown format",
        (user(document(format="odt", bytes=BYTES), text()),),
        dict.fromkeys(ALL, "document_format"),
    ),
    Case("a document of text", (user(document(text="once"), document(text="twice", format="txt"), text()),)),
    Case("a document of chunks", (user(document(chunks=("one", "two")), text()),), {"openai": "document_chunks"}),
    Case(
        "a document in S3",
        (user(document(format="pdf", uri="s3://bucket/report.pdf"), text()),),
        {"anthropic": "document_uri", "openai": "document_uri"},
    ),
    Case(
        "a document on the web",
        (user(document(format="pdf", uri="https://example.com/report.pdf"), text()),),
        {"bedrock": "document_uri"},
    ),
    Case(
        "a document to cite from",
        (user(document(text="once", context="a tale", cite=True), text()),),
        {"openai": "document_citations"},
    ),
    Case(
        "a document in S3 to cite from",
        (user(document(format="pdf", uri="s3://bucket/report.pdf", cite=True), text()),),
        {"bedrock": "document_uri_citations", "anthropic": "document_uri", "openai": "document_citations"},
    ),
    Case(
        "citations by character, chunk and page",
        (
            user(text()),
            assistant(
                cited(source_content=("as it", " says")),
                cited(location=Location(document_chunk=Span(0, 1, 2))),
                cited(location=Location(document_page=Span(1, 2, 3)), title=""),
            ),
        ),
        {"openai": "citations_role"},
        (1, 0),
    ),
    Case(
        "a citation of a source",
        (user(text()), assistant(cited(source="s3://bucket/report.pdf"))),
        {"anthropic": "citation_source", "openai": "citations_role"},
        (1, 0),
    ),
    Case(
        "a citation of nowhere",
        (user(text()), assistant(text(), cited(location=None))),
        {"bedrock": "citation_location", "anthropic": "citation_location", "openai": "citations_role"},
        (1, 1),
    ),
    Case(
        "cache checkpoints",
        (
            system(text("be kind"), CHECKPOINT),
            user(text(), CHECKPOINT),
            assistant(use()),
            user(result(), CHECKPOINT, text("go on"), CHECKPOINT),
        ),
    ),
    Case(
        "a cache checkpoint behind a call",
        (user(text()), assistant(use(), CHECKPOINT), user(result())),
        {"openai": "cache_checkpoint_place"},
        (1, 1),
    ),
    Case(
        "a cache checkpoint at the start of a message",
        (user(CHECKPOINT, text()),),
        {"anthropic": "cache_checkpoint_first", "openai": "cache_checkpoint_place"},
    ),
    Case(
        "error results",
        (
            user(text()),
            assistant(use("t1"), use("t2"), use("t3", "{}")),
            user(
                result("t1", '"it broke"', is_error=True),
                result("t2", '{"code": 5}', is_error=True),
                result("t3", '""', is_error=True),
            ),
        ),
    ),
    Case(
        "results of every kind of JSON",
        (
            user(text()),
            assistant(*(use(f"t{number}") for number in range(6))),
            user(*(result(f"t{n}", one) for n, one in enumerate(['""', "null", "12.50", "[]", "{}", ' "spaced" ']))),
        ),
    ),
    Case(
        "empty texts beside what counts",
        (user(text("")), user(text()), assistant(text(""), use()), user(result()), assistant(text("   ")), assistant()),
    ),
    Case("no conversation", (system(text()), user(text(""))), dict.fromkeys(ALL, "no_conversation"), (-1, -1)),
    Case("nothing at all", (), dict.fromkeys(ALL, "no_conversation"), (-1, -1)),
    Case(
        "a thought signature",
        (user(text()), assistant(text(), use(thought_signature="c2ln")), user(result())),
        dict.fromkeys(ALL, "thought_signature"),
        (1, 1),
    ),
    Case("half a character", (user(text(), text("\ud83d")),), dict.fromkeys(ALL, "lone_surrogate"), (0, 1)),
    *(
        Case(
            f"{message.parts[0].kind} of the {message.role}",
            (user(text()), message),
            dict.fromkeys(ALL, f"{message.parts[0].kind}_role"),
            (1, 0),
        )
        for message in (
            assistant(ImagePart("png", BYTES)),
            system(ImagePart("png", BYTES)),
            assistant(document(text="x")),
            user(use()),
            assistant(result()),
            user(ThinkingPart("", "c2ln")),
            user(cited()),
        )
        if message.parts
    ),
]
