from typing import Any
from urllib.parse import quote


def request(
    session_id: str,
) -> dict[str, Any]:
    """Purge an ended session"""

    return {
        "method": "DELETE",
        "url": "/v1/sessions/{session_id}".format(
            session_id=quote(str(session_id), safe=""),
        ),
    }
