"""Without identity the service is for this machine alone: its address, and the names by which a browser reaches it.

A page from elsewhere can have its own name resolve to 127.0.0.1 and then talk to what listens there (DNS rebinding).
Its requests carry that name in ``Host``, so requests that do not name this machine are refused.
"""

from __future__ import annotations

import ipaddress
from functools import lru_cache

from runhold.domain.errors import Forbidden


def is_loopback(host: str) -> bool:
    """Tell whether an address to serve on, or a name in a Host header, is of this machine alone."""
    name = host.strip("[]").rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def check_host(header: bytes | None) -> None:
    """Check the Host header of a request. Raises: Forbidden."""
    if not _names_this_machine(header):
        raise Forbidden(
            "without identity the service answers only requests to localhost: set RUNHOLD_API_KEYS_FILE to serve others"
        )


@lru_cache(256)
def _names_this_machine(header: bytes | None) -> bool:
    text = (header or b"").decode("latin-1")
    return is_loopback(text if text.endswith("]") else text.rpartition(":")[0] or text)
