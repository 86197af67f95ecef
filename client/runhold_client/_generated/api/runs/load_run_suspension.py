from typing import Any
from urllib.parse import quote


def request(
    run_id: str,
) -> dict[str, Any]:
    """Read a suspended run's checkpoint"""

    return {
        "method": "GET",
        "url": "/v1/runs/{run_id}/suspension".format(
            run_id=quote(str(run_id), safe=""),
        ),
    }
