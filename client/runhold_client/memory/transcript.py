"""A transcript from what a product remembers.

Events that belong to a transcript hold its parts as their data: one part (``{"kind":"text","text":"hello"}``), or an
array of them. Notes of the planner belong to none.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby

from runhold_client.memory.events import Event, EventType, Snapshot

_KINDS = {
    EventType.USER_MESSAGE: {"text", "image", "document", "cache_checkpoint"},
    EventType.ASSISTANT_MESSAGE: {"text", "citations", "cache_checkpoint"},
    EventType.TOOL_CALL: {"tool_use"},
    EventType.TOOL_RESULT: {"tool_result"},
    EventType.THINKING: {"thinking"},
}
_OF_ASSISTANT = {EventType.ASSISTANT_MESSAGE, EventType.TOOL_CALL, EventType.THINKING}


def transcript_payload(snapshot: Snapshot) -> str:
    """Rebuild the messages of a snapshot, as the payload of a ``transcript_messages_…`` record: a JSON array.

    What the assistant thought, said and called in a row is one message; so are tool results in a row; each user message
    is one of its own. Parts keep their order and every byte.

    Raises: ValueError, naming the event, when data are not parts of the kinds that its type holds.
    """
    events = [(at, event) for at, event in enumerate(snapshot.events) if event.type in _KINDS]
    return f"[{','.join(_messages(events))}]"


def _messages(events: list[tuple[int, Event]]) -> Iterator[str]:
    for author, group in groupby(events, key=lambda entry: _author(*entry)):
        role = "assistant" if author == "assistant" else "user"
        parts = ",".join(part for part in (_parts(at, event) for at, event in group) if part)
        yield f'{{"role":"{role}","parts":[{parts}]}}'


def _author(at: int, event: Event) -> object:
    """What consecutive events of one message share."""
    if event.type in _OF_ASSISTANT:
        return "assistant"
    return "results" if event.type is EventType.TOOL_RESULT else at


def _parts(at: int, event: Event) -> str:
    """The parts of one event, as they are spelled, without brackets around them."""
    # Nothing is read but the kinds; numbers are not converted, whatever their length.
    value = json.loads(event.data, parse_int=len, parse_float=len)
    parts = value if isinstance(value, list) else [value]
    for part in parts:
        kind = part.get("kind") if isinstance(part, dict) else None
        if not isinstance(kind, str) or kind not in _KINDS[event.type]:
            raise ValueError(f"event {at}: a {event.type.value} holds no part of kind {kind!r}")
    text = event.data.strip(" \t\r\n")
    return text[1:-1].strip(" \t\r\n") if isinstance(value, list) else text
