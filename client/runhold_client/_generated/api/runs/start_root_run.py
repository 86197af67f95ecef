from typing import Any


def request(
    *,
    content: bytes,
) -> dict[str, Any]:
    """Start a run of a session"""

    return {
        "method": "POST",
        "url": "/v1/runs/root",
        "content": content,
        "headers": {"Content-Type": "application/json"},
    }
