"""What a product remembers of a run: events in the order in which they were appended."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, NoReturn


class EventType(StrEnum):
    """The kinds of events."""

    USER_MESSAGE = "user_message"
    ASSISTANT_MESSAGE = "assistant_message"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    PLANNER_NOTE = "planner_note"
    THINKING = "thinking"


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened in a run.

    Raises: ValueError when the type is unknown, the data is not one JSON value, the time has no zone, or a text cannot
    be stored by every database (U+0000 outside the data's escapes, lone surrogates).
    """

    type: EventType
    timestamp: datetime
    """Aware; microseconds are kept, the zone becomes UTC."""
    data: str
    """One JSON value as text, kept byte for byte."""
    turn_id: str = ""
    """The turn of the conversation that it belongs to, for chat views; ``""`` when it names none."""
    labels: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "type", EventType(self.type))
        if self.timestamp.utcoffset() is None:
            raise ValueError("timestamp has no time zone")
        object.__setattr__(self, "timestamp", self.timestamp.astimezone(UTC))
        check_text("turn_id", self.turn_id)
        _check_json(self.data)
        object.__setattr__(self, "labels", dict(self.labels))
        if not all(isinstance(text, str) for pair in self.labels.items() for text in pair):
            raise ValueError("labels hold something else than texts")

    def decoded(self) -> Any:
        """The data as Python values; numbers lose their spelling.

        Raises: ValueError for integers of more digits than Python reads.
        """
        return json.loads(self.data)


@dataclass(frozen=True, slots=True)
class Turn:
    """The events of one turn of a conversation."""

    turn_id: str
    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All that is remembered of a run when it was loaded; empty when nothing is."""

    agent_id: str
    run_id: str
    events: tuple[Event, ...] = ()
    """Every event, as appended."""

    def of_type(self, *types: EventType) -> tuple[Event, ...]:
        """The events of these types, as appended."""
        return tuple(event for event in self.events if event.type in types)

    def latest(self, type: EventType) -> Event | None:  # noqa: A002 - the name of the field it looks at
        """The last event of a type, or none."""
        return next((event for event in reversed(self.events) if event.type is type), None)

    def turns(self) -> tuple[Turn, ...]:
        """The events by turn, turns in the order in which they were first seen, each one's events as appended.

        An event that names no turn belongs to that of the event before it; those before any turn come under ``""``.
        """
        turns: dict[str, list[Event]] = {}
        current = ""
        for event in self.events:
            current = event.turn_id or current
            turns.setdefault(current, []).append(event)
        return tuple(Turn(turn_id, tuple(events)) for turn_id, events in turns.items())


def check_text(name: str, text: str) -> None:
    """Refuse what not every database can store. Raises: ValueError."""
    if "\0" in text:
        raise ValueError(f"{name} holds U+0000")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{name} holds a lone surrogate") from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


# Numbers are not converted: any length is fine, and nothing is read from them.
_SYNTAX = json.JSONDecoder(parse_int=len, parse_float=len, parse_constant=_refuse_constant)


def _check_json(data: str) -> None:
    check_text("data", data)
    try:
        _SYNTAX.decode(data)
    except RecursionError:
        raise ValueError("data is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"data is not one JSON value: {error}") from None
