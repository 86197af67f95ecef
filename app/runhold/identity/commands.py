"""``runhold keys create | list | revoke``: keys in a file, of which only the hashes are kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from runhold.api.identity import DEFAULT_NAMESPACE, Role
from runhold.settings import SettingsError, load_settings

keys = typer.Typer(
    help="API keys. They are kept as hashes in the file that RUNHOLD_API_KEYS_FILE names, and changes apply at once.",
    no_args_is_help=True,
    add_completion=False,
)

File = Annotated[Path | None, typer.Option(help="The file of keys; else RUNHOLD_API_KEYS_FILE.")]


@keys.command()
def create(
    role: Annotated[Role, typer.Option(help="What its holder may do.")],
    namespace: Annotated[str, typer.Option(help="Whose sessions and runs it sees.")] = DEFAULT_NAMESPACE,
    name: Annotated[str, typer.Option(help="What it is for, shown by `keys list`.")] = "",
    file: File = None,
) -> None:
    """Make a key and print it, once; the file is made when it is missing.

    Exit status: 0 when it was made; 1 otherwise, with one line that says why.
    """
    from runhold.identity.key_file import KeyFileError, change_keys, namespace_fault
    from runhold.identity.keys import new_key

    fault = namespace_fault(namespace)
    if fault:
        _fail(fault)
    text, kept = new_key(role, namespace, name)
    try:
        change_keys(_path(file), lambda known: ([*known, kept], None))
    except KeyFileError as error:
        _fail(str(error))
    typer.echo(text)


@keys.command(name="list")
def list_keys(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document instead of a table.")] = False,
    file: File = None,
) -> None:
    """List the keys by their ids; the keys themselves are nowhere kept."""
    from runhold.identity.key_file import KeyFileError, read_keys

    try:
        known = read_keys(_path(file))
    except KeyFileError as error:
        _fail(str(error))
    if as_json:
        shown = [
            {
                "id": key.id,
                "role": key.role.value,
                "namespace": key.namespace,
                "name": key.name,
                "created_at": key.created_at.isoformat().replace("+00:00", "Z"),
            }
            for key in known
        ]
        typer.echo(json.dumps(shown, indent=2))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table("id", "role", "namespace", "created", "name", box=None, pad_edge=False)
    for key in known:
        table.add_row(key.id, key.role.value, key.namespace, f"{key.created_at:%Y-%m-%d %H:%M}", key.name)
    Console(markup=False, highlight=False).print(table)


@keys.command()
def revoke(
    key_id: Annotated[str, typer.Argument(metavar="ID", help="Of the key, as `keys list` shows it.")], file: File = None
) -> None:
    """Revoke a key: within a second no running service takes it any more."""
    from runhold.identity.key_file import KeyFileError, change_keys
    from runhold.identity.keys import ApiKey

    def without(known: list[ApiKey]) -> tuple[list[ApiKey], bool]:
        left = [key for key in known if key.id != key_id]
        return left, len(left) < len(known)

    try:
        found = change_keys(_path(file), without)
    except KeyFileError as error:
        _fail(str(error))
    if not found:
        _fail(f"there is no key {key_id!r}")
    typer.echo(f"revoked {key_id}")


def _path(file: Path | None) -> Path:
    if file is not None:
        return file
    try:
        named = load_settings().api_keys_file
    except SettingsError as error:
        _fail(str(error))
    if not named:
        _fail("which file? set RUNHOLD_API_KEYS_FILE, or give --file")
    return Path(named)


def _fail(reason: str) -> NoReturn:
    typer.echo(f"runhold: {reason}", err=True)
    raise typer.Exit(1)
