"""The demo's command line: ``python -m demo``. Exit status: 0 when everything was as it claims, 1 otherwise."""

from __future__ import annotations

import signal
from typing import Annotated

import typer

from demo.chaos import LEAST_SECONDS, ChaosError, run_chaos
from demo.stage import own_service
from demo.story import tell_story
from demo.teller import DemoError, Teller
from runhold_client import StoreError

Url = Annotated[str | None, typer.Option(help="Play on the service that runs there, and leave it running.")]
DatabaseUrl = Annotated[
    str | None, typer.Option(help="Start a service on this database; else on a new SQLite database, gone afterwards.")
]
Key = Annotated[str | None, typer.Option(help="A key with the role admin, where the service at --url asks for one.")]
Chaos = Annotated[bool, typer.Option("--chaos", help="Eight workers write while the service is killed three times.")]
Seconds = Annotated[float, typer.Option(help="How long the chaos lasts.", min=LEAST_SECONDS)]


def demo(
    url: Url = None, database_url: DatabaseUrl = None, key: Key = None, chaos: Chaos = False, seconds: Seconds = 60.0
) -> None:
    """Tell a story of a session and its runs through the client, or show what is left after kill -9."""
    if url and (database_url or chaos):
        raise typer.BadParameter("goes with neither --database-url nor --chaos, which start a service of their own")
    # With SIGTERM, too, the demo stops the service that it started.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    tell = Teller()
    try:
        if url:
            tell_story(url, tell, key)
            return
        with own_service(database_url) as server:
            if chaos:
                run_chaos(server, tell, seconds)
            else:
                tell.line(f"The service runs on {server.url}, its API page is {server.url}/docs.")
                tell_story(server.url, tell, key)
    except (DemoError, ChaosError, StoreError, RuntimeError) as error:
        typer.echo(f"demo: {error}", err=True)
        raise typer.Exit(1) from None


if __name__ == "__main__":
    typer.run(demo)
