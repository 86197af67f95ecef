"""What must hold of a transcript before any provider takes it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from runhold_client.providers.encoding import Place
from runhold_client.providers.parts import Message, ThinkingPart, ToolResultPart, ToolUsePart


def check_pairs(messages: Sequence[Message], provider: str) -> None:
    """Every message that calls tools is followed at once by one user message with exactly one result for each call.

    Pairing is per turn: an id may be used again later.

    Raises: Unencodable.
    """
    for index, message in enumerate(messages):
        calls = [(at, part.id) for at, part in enumerate(message.parts or ()) if isinstance(part, ToolUsePart)]
        if message.role != "assistant" or not calls:
            continue
        _check_ids(calls, Place(provider, index))
        following = messages[index + 1] if index + 1 < len(messages) else None
        parts = following.parts or () if following is not None and following.role == "user" else ()
        results = [(at, part.tool_use_id) for at, part in enumerate(parts) if isinstance(part, ToolResultPart)]
        answers = Place(provider, index + 1)
        _check_ids(results, answers)
        answered = {tool_use_id for _, tool_use_id in results}
        called = {tool_use_id for _, tool_use_id in calls}
        for at, tool_use_id in calls:
            if tool_use_id not in answered:
                detail = f"the call {tool_use_id!r} has no result in the message behind it"
                raise Place(provider, index, at).error("result_missing", detail, tool_use_id)
        for at, tool_use_id in results:
            if tool_use_id not in called:
                detail = f"the result {tool_use_id!r} answers no call of the message before it"
                raise answers.at(at).error("result_unasked", detail, tool_use_id)


def check_thinking_first(messages: Sequence[Message], provider: str) -> None:
    """With thinking enabled, every message that calls tools begins with thinking. Raises: Unencodable."""
    for index, message in enumerate(messages):
        parts = message.parts or ()
        calls = message.role == "assistant" and any(isinstance(part, ToolUsePart) for part in parts)
        if calls and not isinstance(parts[0], ThinkingPart):
            detail = "with thinking enabled, a message that calls tools begins with thinking"
            raise Place(provider, index, 0).error("thinking_first", detail)


def _check_ids(found: list[tuple[int, str]], place: Place) -> None:
    counts = Counter(tool_use_id for _, tool_use_id in found)
    for at, tool_use_id in found:
        if not tool_use_id:
            raise place.at(at).error("id_empty", "the id of a call is empty")
        if counts[tool_use_id] > 1:
            raise place.at(at).error("id_repeated", f"the id {tool_use_id!r} stands twice in one message", tool_use_id)
