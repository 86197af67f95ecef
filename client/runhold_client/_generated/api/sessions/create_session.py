from typing import Any


def request(
    *,
    content: bytes,
) -> dict[str, Any]:
    """Create a session"""

    return {
        "method": "POST",
        "url": "/v1/sessions",
        "content": content,
        "headers": {"Content-Type": "application/json"},
    }
