from typing import Any
from urllib.parse import quote


def request(
    session_id: str,
) -> dict[str, Any]:
    """Tell whether a session is active"""

    return {
        "method": "GET",
        "url": "/v1/sessions/{session_id}/status".format(
            session_id=quote(str(session_id), safe=""),
        ),
    }
