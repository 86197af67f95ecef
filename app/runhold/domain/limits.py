"""The published size limits. Source: the storage contract, *Values*."""

ID_BYTES = 1_024
"""Bytes of UTF-8 in any id, event key, turn id or type."""
NAMESPACE_BYTES = 64
PAYLOAD_BYTES = 8 * 1024 * 1024
CHECKPOINT_BYTES = 8 * 1024 * 1024
"""Bytes of a checkpoint, decoded."""
BODY_BYTES = 16 * 1024 * 1024
HEAD_BYTES = 64 * 1024
"""Bytes of a request's line and headers, about at most."""
LABELS = 256
"""How many labels a run may carry."""
LABELS_BYTES = 64 * 1024
"""Bytes of UTF-8 of a run's label names and values together."""
REASON_BYTES = 16 * 1024
PAYLOAD_DEPTH = 500
"""Containers open at once in a payload."""
JSON_VALUES = 250_000
"""Values, about, in a request body and in a payload of a lifecycle type: several times what any that is right can hold.
Each takes memory once it is read, up to a hundred times its text."""
COMMANDS = 256
"""Commands in one request."""
PAGE_LIMIT = 1_000
"""Records, runs or sessions in one page; a larger limit is served as this."""
PAGE_LIMIT_DEFAULT = 100
PAGE_PAYLOAD_BYTES = 8 * 1024 * 1024
"""Payload bytes after which a page of records stops; it holds at least one record."""
WAIT_MS = 30_000
"""Longest wait for a first record; a longer one is served as this."""
