from typing import Any
from urllib.parse import quote


def request(
    session_id: str,
    *,
    content: bytes = b"",
) -> dict[str, Any]:
    """End a session"""

    return {
        "method": "POST",
        "url": "/v1/sessions/{session_id}/end".format(
            session_id=quote(str(session_id), safe=""),
        ),
        "content": content,
        "headers": {"Content-Type": "application/json"},
    }
