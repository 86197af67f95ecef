"""Every setting of the service, with its unit, default and meaning. The environment is read here only."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from runhold.domain.limits import BODY_BYTES

PREFIX = "RUNHOLD_"

ASYMMETRIC_ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Of JSON Web Tokens: who verifies one must not be able to sign one."""

BOOTSTRAP_FILE = "runhold-keys.json"
"""Where a first key is kept that was asked for without saying where."""

_KIB = 1024
_MIB = 1024 * 1024


class SettingsError(ValueError):
    """A setting that cannot be used; the text names it and what is allowed, in one line a setting."""


def _setting(default: Any, unit: str = "", **bounds: Any) -> Any:
    return Field(default, json_schema_extra={"unit": unit}, **bounds)


class Settings(BaseSettings):
    """What the environment may say."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, use_attribute_docstrings=True, frozen=True, extra="forbid", hide_input_in_errors=True
    )

    database_url: SecretStr = _setting(SecretStr("sqlite:///var/runhold.db"), "URL", validate_default=True)
    """Where records are kept: sqlite:///path, relative to the working directory, or postgresql://user:password@host/name."""

    host: str = _setting("127.0.0.1", "address", min_length=1)
    """Address to serve on."""

    port: int = _setting(8080, "TCP port", ge=0, le=65_535)
    """Port to serve on; 0 takes any free one."""

    auto_migrate: bool | None = _setting(None)
    """Whether to bring the schema up to date at start-up. Unset: yes on SQLite, no on PostgreSQL."""

    pool_size: int = _setting(5, "connections", ge=1, le=1_000)
    """Connections for reading. Writing takes one more, and one for each lane at work."""

    pool_timeout_ms: int = _setting(2_000, "ms", ge=1, le=600_000)
    """Longest wait for a free connection; then the answer is unavailable."""

    connect_timeout_ms: int = _setting(3_000, "ms", ge=1, le=600_000)
    """Longest wait for a new connection to the database."""

    statement_timeout_ms: int = _setting(10_000, "ms", ge=1, le=3_600_000)
    """Longest time for one statement; then the answer is unavailable."""

    lock_timeout_ms: int = _setting(5_000, "ms", ge=1, le=3_600_000)
    """Longest wait for a row, or for SQLite's file, that another process holds; then the answer is unavailable."""

    idle_in_transaction_timeout_ms: int = _setting(10_000, "ms", ge=1, le=3_600_000)
    """After this PostgreSQL ends a transaction in which nothing happens."""

    purge_timeout_ms: int = _setting(600_000, "ms", ge=1, le=86_400_000)
    """Longest time for a statement of a purge, which deletes many rows at once."""

    transaction_pooler: bool = _setting(False)
    """Whether a pooler in transaction mode (PgBouncer) stands before PostgreSQL: no prepared statements then."""

    queue_commands: int = _setting(4_096, "commands", ge=1, le=1_000_000)
    """Commands that may wait or run; beyond it the answer is overloaded, at once."""

    queue_bytes: int = _setting(64 * _MIB, "bytes", ge=_MIB, le=16 * 1024 * _MIB)
    """Bytes of payloads and checkpoints that may wait or run."""

    batch_commands: int = _setting(256, "commands", ge=1, le=10_000)
    """Commands that are committed together, at most."""

    batch_bytes: int = _setting(_MIB, "bytes", ge=_KIB, le=64 * _MIB)
    """Bytes of payloads and checkpoints that are committed together, about at most."""

    large_bytes: int = _setting(64 * _KIB, "bytes", ge=_KIB, le=64 * _MIB)
    """A command over this goes by a connection of its own, so that small ones need not wait for it."""

    lanes: int = _setting(4, "connections", ge=1, le=100)
    """Connections for large commands, purges, and rows that another process holds."""

    body_bytes: int = _setting(BODY_BYTES, "bytes", ge=_KIB, le=BODY_BYTES)
    """Largest request body; a larger one is refused while it is read."""

    integrity_key: SecretStr = _setting(SecretStr(""))
    """Key of the record digests: nobody who has only the database can forge them then. It cannot be changed later."""

    api_keys_file: str = _setting("", "path")
    """File of API keys, as hashes; `runhold keys create` makes it. Without it and without an issuer, only requests from
    this machine are taken, and everybody is admin."""

    bootstrap_key: Literal["", "print"] = _setting("")
    """print: when there is no key yet, make one of role admin and print it to standard output, once."""

    oidc_issuer: str = _setting("", "URL")
    """OpenID Connect issuer whose tokens are taken, too."""

    oidc_audience: str = _setting("runhold")
    """What a token's audience must be."""

    oidc_jwks_url: str = _setting("", "URL")
    """Where the issuer's keys are; unset: its discovery document says so."""

    oidc_algorithms: str = _setting("RS256,ES256")
    """Algorithms a token may be signed with, parted by commas; asymmetric ones only."""

    oidc_role_claim: str = _setting("runhold_role", min_length=1)
    """Claim that holds worker, reader or admin."""

    oidc_namespace_claim: str = _setting("runhold_namespace", min_length=1)
    """Claim that holds the namespace."""

    tracing: bool = _setting(False)
    """Whether to send OpenTelemetry spans to where OTEL_EXPORTER_OTLP_ENDPOINT says; needs runhold[tracing]."""

    ready_timeout_ms: int = _setting(1_000, "ms", ge=1, le=60_000)
    """Longest time in which /readyz answers."""

    request_timeout_ms: int = _setting(60_000, "ms", ge=100, le=3_600_000)
    """Longest time in which a request must have come in whole, head and body; then its connection is closed."""

    keep_alive_s: int = _setting(75, "s", ge=1, le=3_600)
    """How long an idle connection of a client stays open."""

    drain_grace_ms: int = _setting(500, "ms", ge=0, le=600_000)
    """After SIGTERM, how long requests are still taken while /readyz already fails."""

    drain_timeout_ms: int = _setting(30_000, "ms", ge=1, le=3_600_000)
    """After that, longest wait for the answers to accepted commands."""

    log_level: Literal["debug", "info", "warning", "error"] = _setting("info")
    """Least severe messages to log; info includes a line a request."""

    @field_validator("database_url")
    @classmethod
    def _known_database(cls, url: SecretStr) -> SecretStr:
        text = url.get_secret_value()
        if text.startswith("sqlite:///") and len(text) > len("sqlite:///"):
            return url
        if text.startswith(("postgresql://", "postgres://")):
            return url
        raise ValueError("must be sqlite:///path or postgresql://user:password@host:port/name")

    @field_validator("oidc_algorithms")
    @classmethod
    def _asymmetric(cls, text: str) -> str:
        if not text or not {part.strip() for part in text.split(",")} <= set(ASYMMETRIC_ALGORITHMS):
            raise ValueError("must name asymmetric algorithms")
        return text

    @property
    def oidc_algorithm_list(self) -> list[str]:
        """The algorithms a token may be signed with."""
        return [part.strip() for part in self.oidc_algorithms.split(",")]

    @field_validator("log_level", mode="before")
    @classmethod
    def _any_case(cls, level: Any) -> Any:
        return level.lower() if isinstance(level, str) else level

    @property
    def is_sqlite(self) -> bool:
        """Whether the database is an embedded one."""
        return self.database_url.get_secret_value().startswith("sqlite:")

    @property
    def migrates_at_start(self) -> bool:
        """Whether start-up brings the schema up to date."""
        return self.is_sqlite if self.auto_migrate is None else self.auto_migrate


def load_settings(environment: Mapping[str, str] | None = None, **given: Any) -> Settings:
    """Read the settings from the environment; ``given`` ones (of the command line) win.

    Raises:
        SettingsError: a value that is not allowed, or a name with our prefix that is no setting.
    """
    environment = os.environ if environment is None else environment
    known = {PREFIX + name.upper() for name in Settings.model_fields}
    unknown = sorted(name for name in environment if name.upper().startswith(PREFIX) and name.upper() not in known)
    faults = [f"{name}: is no setting; `runhold settings` lists them" for name in unknown]
    values = {
        name: environment[found]
        for name in Settings.model_fields
        if (found := _spelled(PREFIX + name.upper(), environment)) is not None and environment[found] != ""
    }
    values.update({name: value for name, value in given.items() if value is not None})
    try:
        settings = Settings.model_validate(values)
    except ValidationError as error:
        faults += _faults(error)
        raise SettingsError("\n".join(faults)) from None
    if faults:
        raise SettingsError("\n".join(faults))
    return settings


def _spelled(name: str, environment: Mapping[str, str]) -> str | None:
    if name in environment:
        return name
    return next((found for found in environment if found.upper() == name), None)


def _faults(error: ValidationError) -> Iterable[str]:
    for fault in error.errors(include_input=False, include_context=False, include_url=False):
        name = str(fault["loc"][0]) if fault["loc"] else ""
        yield f"{PREFIX}{name.upper()}: {allowed(name) or fault['msg']}"


def allowed(name: str) -> str:
    """Say in words what a setting takes."""
    if name == "database_url":
        return "must be sqlite:///path or postgresql://user:password@host:port/name"
    if name == "oidc_algorithms":
        return f"must be some of {', '.join(ASYMMETRIC_ALGORITHMS)}, parted by commas"
    schema = Settings.model_json_schema()["properties"].get(name, {})
    if "enum" in schema:
        return "must be one of " + ", ".join(value or "nothing" for value in schema["enum"])
    if schema.get("type") == "integer":
        return f"must be a whole number from {schema['minimum']} to {schema['maximum']}"
    if schema.get("type") == "boolean" or "anyOf" in schema:
        return "must be true or false"
    return "must not be empty"


def shown(settings: Settings) -> list[tuple[str, str, str, str, str]]:
    """List name, value (secrets masked), unit, default and meaning of every setting."""
    rows = []
    for name, field in Settings.model_fields.items():
        extra = field.json_schema_extra
        unit = str(extra.get("unit", "")) if isinstance(extra, dict) else ""
        value, default = getattr(settings, name), field.default
        rows.append((PREFIX + name.upper(), _text(name, value), unit, _text(name, default), field.description or ""))
    return rows


def masked_url(url: str) -> str:
    """Write a database URL without its password."""
    scheme, separator, rest = url.partition("://")
    # The last @ ends the credentials: a password may hold @, / and ? of its own.
    credentials, at, place = rest.rpartition("@")
    user, colon, _ = credentials.partition(":")
    where, question, query = place.partition("?")
    if query:
        query = "&".join(
            part.partition("=")[0] + "=***" if "password" in part.lower() else part for part in query.split("&")
        )
    return f"{scheme}{separator}{user}{colon}{'***' if colon else ''}{at}{where}{question}{query}"


def _text(name: str, value: Any) -> str:
    if isinstance(value, SecretStr):
        plain = value.get_secret_value()
        return masked_url(plain) if name == "database_url" else ("***" if plain else "")
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)
