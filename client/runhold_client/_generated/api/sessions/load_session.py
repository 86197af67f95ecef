from typing import Any
from urllib.parse import quote


def request(
    session_id: str,
) -> dict[str, Any]:
    """Read a session"""

    return {
        "method": "GET",
        "url": "/v1/sessions/{session_id}".format(
            session_id=quote(str(session_id), safe=""),
        ),
    }
