"""``runhold verify``: progress on standard error, findings on standard output, the result as the exit status."""

from __future__ import annotations

import json
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

import psycopg
import typer
from rich.console import Console
from rich.status import Status

from runhold.settings import Settings, SettingsError, load_settings
from runhold.store.database import StartUpError
from runhold.store.migrate import check_schema
from runhold.store.snapshots import open_database
from runhold.verify.findings import Finding, Tally
from runhold.verify.walk import UnknownScope, Walk

SOUND, FINDINGS, NOT_RUN = 0, 1, 2
_TELL_EVERY_S = 5.0


def verify(session: str | None, namespace: str | None, as_json: bool, database_url: str | None) -> int:
    """Verify and print. Returns the exit status."""
    try:
        settings = load_settings(database_url=database_url)
        return _verify(settings, session, namespace, _print_json if as_json else _print_lines)
    except (SettingsError, StartUpError, UnknownScope) as error:
        typer.echo(f"runhold: {error}", err=True)
    except (psycopg.Error, sqlite3.Error, OSError) as error:
        typer.echo(f"runhold: the database failed: {' '.join(str(error).split())}", err=True)
    return NOT_RUN


Printer = Callable[[Iterator[Finding], Tally], int]


def _verify(settings: Settings, session: str | None, namespace: str | None, printed: Printer) -> int:
    url = settings.database_url.get_secret_value()
    check_schema(url)
    with closing(open_database(url)) as database, _progress() as told:
        walk = Walk(database, settings.integrity_key.get_secret_value().encode(), told)
        found = walk.everything(namespace) if session is None else walk.session(namespace or "default", session)
        count = printed(found, walk.tally)
    tally = walk.tally
    read = f"{tally.sessions} sessions, {tally.runs} runs, {tally.records} records"
    typer.echo(f"runhold: verified {read}: {'all holds' if not count else f'{count} findings'}", err=True)
    if tally.records and walk.mistaken_digests == tally.records:
        typer.echo("runhold: every digest is wrong: is RUNHOLD_INTEGRITY_KEY that of the service?", err=True)
    return FINDINGS if count else SOUND


def _print_lines(found: Iterator[Finding], _: Tally) -> int:
    count = 0
    for finding in found:
        typer.echo(str(finding))
        count += 1
    return count


def _print_json(found: Iterator[Finding], tally: Tally) -> int:
    # Finding by finding: a database that is wrong throughout must not have to fit into memory.
    count = 0
    sys.stdout.write('{"findings": [')
    for count, finding in enumerate(found, 1):
        fields = {name: getattr(finding, name) for name in Finding.__struct_fields__}
        sys.stdout.write(("," if count > 1 else "") + "\n  " + json.dumps(fields))
    read = {"sessions": tally.sessions, "runs": tally.runs, "records": tally.records, "sound": not count}
    sys.stdout.write("\n], " + json.dumps(read)[1:] + "\n")
    return count


@contextmanager
def _progress() -> Iterator[Callable[[Tally], None]]:
    """Tell how far it is: in one changing line on a terminal, else in a line every some seconds."""
    told_at = time.monotonic()

    def text(tally: Tally) -> str:
        return f"verified {tally.sessions:,} sessions, {tally.runs:,} runs, {tally.records:,} records"

    if sys.stderr.isatty():
        with Status("verifying …", console=Console(stderr=True)) as status:
            yield lambda tally: status.update(text(tally))
        return

    def tell(tally: Tally) -> None:
        nonlocal told_at
        if time.monotonic() - told_at > _TELL_EVERY_S:
            told_at = time.monotonic()
            typer.echo(f"runhold: {text(tally)}", err=True)

    yield tell
