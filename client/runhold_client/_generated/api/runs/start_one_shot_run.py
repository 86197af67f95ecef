from typing import Any


def request(
    *,
    content: bytes,
) -> dict[str, Any]:
    """Start a run without a session"""

    return {
        "method": "POST",
        "url": "/v1/runs/one-shot",
        "content": content,
        "headers": {"Content-Type": "application/json"},
    }
