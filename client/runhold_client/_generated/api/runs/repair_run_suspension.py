from typing import Any
from urllib.parse import quote


def request(
    run_id: str,
    *,
    content: bytes,
) -> dict[str, Any]:
    """Suspend a run, or learn how it ended"""

    return {
        "method": "POST",
        "url": "/v1/runs/{run_id}/suspension/repair".format(
            run_id=quote(str(run_id), safe=""),
        ),
        "content": content,
        "headers": {"Content-Type": "application/json"},
    }
