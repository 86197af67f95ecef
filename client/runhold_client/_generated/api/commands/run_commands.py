from typing import Any


def request(
    *,
    content: bytes,
) -> dict[str, Any]:
    """Carry out many commands"""

    return {
        "method": "POST",
        "url": "/v1/commands",
        "content": content,
        "headers": {"Content-Type": "application/json"},
    }
