from typing import Any
from urllib.parse import quote


def request(
    run_id: str,
) -> dict[str, Any]:
    """Purge a one-shot run"""

    return {
        "method": "DELETE",
        "url": "/v1/runs/{run_id}".format(
            run_id=quote(str(run_id), safe=""),
        ),
    }
