from typing import Any
from urllib.parse import quote


def request(
    run_id: str,
) -> dict[str, Any]:
    """Read a run's state"""

    return {
        "method": "GET",
        "url": "/v1/runs/{run_id}".format(
            run_id=quote(str(run_id), safe=""),
        ),
    }
