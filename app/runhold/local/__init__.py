"""The store in process, without HTTP, for a single-process application, on the same rules.

``open_local_store`` gives a ``Store`` and ``SessionAdmin``, ``open_async_local_store`` their asynchronous twins: they
take, return and raise the types of ``runhold_client``, so code for one runs on the other.
"""

from __future__ import annotations

from runhold.local.asynchronous import AsyncLocalStore
from runhold.local.synchronous import LocalStore
from runhold.store import StoreSettings

__all__ = ["AsyncLocalStore", "LocalStore", "open_async_local_store", "open_local_store"]


def open_local_store(
    url: str = "sqlite:///runhold.db", *, namespace: str = "default", integrity_key: bytes = b""
) -> LocalStore:
    """Open a store in this process; its schema is brought up to date. Close it with ``close()`` or ``with``.

    Args:
        url: ``sqlite:///path``, relative to the working directory, or ``postgresql://user:password@host/name``.
        namespace: the tenant whose sessions and runs these are.
        integrity_key: key of the record digests, the same at every opening; none for a plain hash.

    Raises:
        StartUpError: the database cannot be used, with the reason in one line.
    """
    return LocalStore(open_async_local_store(url, namespace=namespace, integrity_key=integrity_key))


def open_async_local_store(
    url: str = "sqlite:///runhold.db", *, namespace: str = "default", integrity_key: bytes = b""
) -> AsyncLocalStore:
    """Give a store in this process, to be opened by ``async with``; arguments as for ``open_local_store``."""
    return AsyncLocalStore(StoreSettings(url=url, integrity_key=integrity_key), namespace)
