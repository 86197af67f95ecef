"""Runhold: the durable home of agent runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from runhold.local import open_async_local_store, open_local_store

__all__ = ["open_async_local_store", "open_local_store"]


def __getattr__(name: str) -> Any:
    # The service itself does not use the stores in process: it must not pay for their import at start-up.
    if name in __all__:
        from runhold import local

        return getattr(local, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
