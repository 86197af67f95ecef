"""What can be wrong in a database, and where it was found."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from runhold.domain.values import Value


class Rule(StrEnum):
    """An invariant. Its meaning is told in ``docs/verify.md``."""

    UNREADABLE = "unreadable"
    POSITION = "position"
    SESSION_POSITION = "session_position"
    COUNT = "count"
    OWNER = "owner"
    KEY_HASH = "key_hash"
    DIGEST = "digest"
    HEAD_DIGEST = "head_digest"
    PAYLOAD = "payload"
    START = "start"
    STATUS = "status"
    CANCELLATION = "cancellation"
    CHECKPOINT = "checkpoint"
    LINK = "link"
    PARENT = "parent"
    PREDECESSOR = "predecessor"
    LABELS = "labels"
    ORDER_OF_STARTS = "order_of_starts"
    SEAL = "seal"


class Finding(Value, frozen=True):
    """One wrong row. Empty ids and position 0: the row has none, or the whole session or run is meant."""

    rule: Rule
    detail: str
    """What is wrong, without any payload, label or reason."""
    namespace: str = ""
    session_id: str = ""
    run_id: str = ""
    position: int = 0
    event_key: str = ""

    def __str__(self) -> str:
        """Say where, and what, in one line."""
        places = {
            "namespace": self.namespace,
            "session": self.session_id,
            "run": self.run_id,
            "record": str(self.position or ""),
            "key": self.event_key,
        }
        where = " ".join(f"{name} {text!r}" for name, text in places.items() if text)
        return f"{self.rule}: {where}: {self.detail}"


@dataclass
class Tally:
    """How much was read so far."""

    sessions: int = 0
    runs: int = 0
    records: int = 0
