"""The command line: ``runhold serve | migrate | check | settings | verify | keys``.

Heavy parts are imported when they are needed.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Annotated, Any, NoReturn

import typer

from runhold.identity.commands import keys
from runhold.settings import Settings, SettingsError, load_settings, shown

app = typer.Typer(
    name="runhold",
    help="The runtime database of AI agents, as a service. Settings come from the environment: see `runhold settings`.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

app.add_typer(keys, name="keys")

Host = Annotated[str | None, typer.Option(help="Address to serve on; else RUNHOLD_HOST.")]
Port = Annotated[int | None, typer.Option(help="Port to serve on, 0 for any free one; else RUNHOLD_PORT.")]
DatabaseUrl = Annotated[
    str | None, typer.Option(help="sqlite:///path or postgresql://…; else RUNHOLD_DATABASE_URL, which hides passwords.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of a table.")]


@app.command()
def serve(host: Host = None, port: Port = None, database_url: DatabaseUrl = None) -> None:
    """Serve the API until SIGTERM; on SQLite the schema is brought up to date first.

    Exit status: 0 after a stop, all accepted commands answered; 1 when it cannot start, with one line that says why.
    """
    settings = _settings(host=host, port=port, database_url=database_url)
    from runhold.logs import configure_logs
    from runhold.main import create_app
    from runhold.server import PortTakenError, bind
    from runhold.server import serve as run
    from runhold.store import StartUpError

    configure_logs(settings.log_level)
    try:
        listening = bind(settings)
        _run(run(create_app(settings), settings, listening, lambda: _print_address(listening.getsockname())))
    except (PortTakenError, StartUpError) as error:
        _fail(str(error))


@app.command()
def migrate(database_url: DatabaseUrl = None) -> None:
    """Bring the database's schema up to date; several at once wait for each other.

    Exit status: 0 when it is up to date; 1 otherwise, with one line that says why.
    """
    settings = _settings(database_url=database_url)
    from runhold.store import StartUpError, migrate_database

    try:
        revision = migrate_database(settings)
    except StartUpError as error:
        _fail(str(error))
    typer.echo(f"schema at {revision}")


@app.command()
def check(database_url: DatabaseUrl = None) -> None:
    """Check that the settings are valid, the database answers, and its schema is the right one.

    Exit status: 0 when all is well; 1 otherwise, with one line that says why.
    """
    settings = _settings(database_url=database_url)
    from runhold.store import StartUpError, open_store

    async def look() -> None:
        store = await open_store(settings.model_copy(update={"auto_migrate": False}))
        await store.close()

    try:
        asyncio.run(look())
    except StartUpError as error:
        _fail(str(error))
    typer.echo("ok: settings valid, database reachable, schema current")


@app.command(name="settings")
def list_settings(as_json: AsJson = False) -> None:
    """List every setting: its value (secrets masked), unit, default and meaning."""
    rows = shown(_settings())
    if as_json:
        names = ("name", "value", "unit", "default", "meaning")
        typer.echo(json.dumps([dict(zip(names, row, strict=True)) for row in rows], indent=2))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for heading, options in (
        ("setting", {"no_wrap": True, "style": "bold"}),
        ("value", {"overflow": "fold"}),
        ("unit", {}),
        ("default", {"overflow": "fold"}),
        ("meaning", {"ratio": 1}),
    ):
        table.add_column(heading, **options)
    for row in rows:
        table.add_row(*row)
    # Piped somewhere, a setting stays on one line.
    Console(width=None if sys.stdout.isatty() else 220, markup=False, highlight=False).print(table)


@app.command()
def verify(
    session: Annotated[str | None, typer.Option(help="Verify this session only.")] = None,
    namespace: Annotated[
        str | None, typer.Option(help="Verify this namespace only; of --session, else default.")
    ] = None,
    as_json: AsJson = False,
    database_url: DatabaseUrl = None,
) -> None:
    """Prove every invariant of a database, or of one session, while the service goes on; nothing is changed.

    Exit status: 0 when all holds; 1 when something does not, each wrong row in a line; 2 when it could not be verified.
    """
    from runhold.verify.command import verify as run

    raise typer.Exit(run(session, namespace, as_json, database_url))


def _settings(**given: Any) -> Settings:
    try:
        return load_settings(**given)
    except SettingsError as error:
        _fail(str(error))


def _run(coroutine: Any) -> None:
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(coroutine)


def _print_address(address: tuple[Any, ...]) -> None:
    host = f"[{address[0]}]" if ":" in address[0] else address[0]
    typer.echo(f"Runhold on http://{host}:{address[1]}, API page at http://{host}:{address[1]}/docs")


def _fail(reason: str) -> NoReturn:
    typer.echo(f"runhold: {reason}" if "\n" not in reason else reason, err=True)
    raise typer.Exit(1)


def main() -> None:
    """Run the command line."""
    app()
