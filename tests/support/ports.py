"""Ports for servers that tests start on 127.0.0.1."""

from __future__ import annotations

import random
import socket

# Below the ports that Linux and macOS give to outgoing connections. A port from that range could be taken by a client
# that keeps trying to reach a server which is just restarting; it can even end up connected to itself.
_FIRST, _LAST = 15_000, 32_000


def free_port() -> int:
    """Find a port that nobody listens on. Another process may still take it first, so a caller tries again."""
    for _ in range(200):
        port = random.randint(_FIRST, _LAST)
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise RuntimeError(f"no free port between {_FIRST} and {_LAST}")
