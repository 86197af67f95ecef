from typing import Any


def request(
    *,
    content: bytes,
) -> dict[str, Any]:
    """Start a run under a running parent"""

    return {
        "method": "POST",
        "url": "/v1/runs/child",
        "content": content,
        "headers": {"Content-Type": "application/json"},
    }
