"""What a product remembers of its agents' runs: events for chat views and for later requests.

Apart from the runtime's records, and owned by the product: in its process (``InMemoryStore``) or in its database
(``runhold_client.memory.sql.SqlStore``, which needs the extra ``memory-sql``).
"""

from runhold_client.memory.events import Event, EventType, Snapshot, Turn
from runhold_client.memory.store import AsyncStore, InMemoryStore, InThreads, Store
from runhold_client.memory.transcript import transcript_payload

__all__ = [
    "AsyncStore",
    "Event",
    "EventType",
    "InMemoryStore",
    "InThreads",
    "Snapshot",
    "Store",
    "Turn",
    "transcript_payload",
]
