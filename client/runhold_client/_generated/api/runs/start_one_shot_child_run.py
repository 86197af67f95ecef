from typing import Any


def request(
    *,
    content: bytes,
) -> dict[str, Any]:
    """Start a run under a running one-shot run"""

    return {
        "method": "POST",
        "url": "/v1/runs/one-shot-child",
        "content": content,
        "headers": {"Content-Type": "application/json"},
    }
