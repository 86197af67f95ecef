"""Joins the identity that the settings describe, and refuses to serve others without one."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from runhold.api.identity import DEFAULT_NAMESPACE, Identity, NoIdentity, Role
from runhold.identity.bearer import BearerIdentity
from runhold.identity.hosts import is_loopback
from runhold.identity.key_file import KeyFileError, WatchedKeys, change_keys
from runhold.identity.keys import ApiKey, new_key
from runhold.identity.tokens import Issuer, Tokens
from runhold.settings import BOOTSTRAP_FILE, Settings
from runhold.store import StartUpError


def open_identity(settings: Settings, tell: Callable[[str], object] | None = None) -> Identity:
    """Open what the settings describe; ``tell`` gets the first key, once, when they ask for one.

    Raises:
        StartUpError: the file of keys cannot be used, or others would be served without identity.
    """
    path = keys_path(settings)
    if path is None and not settings.oidc_issuer:
        if not is_loopback(settings.host):
            raise StartUpError(
                f"refusing to serve on {settings.host} without identity: set RUNHOLD_API_KEYS_FILE to a file made by "
                "`runhold keys create`, or RUNHOLD_BOOTSTRAP_KEY=print to have a first key made and printed"
            )
        return NoIdentity()
    try:
        if path is not None and settings.bootstrap_key == "print":
            first = change_keys(path, _with_first_key)
            if first:
                (tell or _print)(first)
        keys = None if path is None else WatchedKeys(path)
    except KeyFileError as error:
        raise StartUpError(str(error)) from None
    return BearerIdentity(keys, _tokens(settings))


def keys_path(settings: Settings) -> Path | None:
    """Where the keys are kept; None without any."""
    if settings.api_keys_file:
        return Path(settings.api_keys_file)
    return Path(BOOTSTRAP_FILE) if settings.bootstrap_key == "print" else None


def _with_first_key(keys: list[ApiKey]) -> tuple[list[ApiKey], str]:
    if keys:
        return keys, ""
    text, kept = new_key(Role.ADMIN, DEFAULT_NAMESPACE, "the first key")
    return [kept], text


def _print(key: str) -> None:
    # Not a log: it must reach whoever started the service, and nothing that collects logs.
    sys.stdout.write(f"The first key, of role admin in namespace {DEFAULT_NAMESPACE}; it is shown only now:\n{key}\n")
    sys.stdout.flush()


def _tokens(settings: Settings) -> Tokens | None:
    if not settings.oidc_issuer:
        return None
    return Tokens(
        Issuer(
            settings.oidc_issuer,
            settings.oidc_audience,
            settings.oidc_jwks_url,
            tuple(settings.oidc_algorithm_list),
            settings.oidc_role_claim,
            settings.oidc_namespace_claim,
        )
    )
