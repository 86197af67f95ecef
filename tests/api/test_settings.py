"""Settings: from the environment, each explained, wrong ones named."""

from __future__ import annotations

import pytest

from runhold.settings import Settings, SettingsError, load_settings, masked_url, shown


def refused(environment: dict[str, str]) -> list[str]:
    with pytest.raises(SettingsError) as refusal:
        load_settings(environment)
    return str(refusal.value).splitlines()


def test_without_any_environment_it_serves_sqlite_on_loopback() -> None:
    settings = load_settings({})
    assert settings.database_url.get_secret_value() == "sqlite:///var/runhold.db"
    assert (settings.host, settings.port, settings.is_sqlite, settings.migrates_at_start) == (
        "127.0.0.1",
        8080,
        True,
        True,
    )


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("RUNHOLD_PORT", "abc", "must be a whole number from 0 to 65535"),
        ("RUNHOLD_PORT", "65536", "must be a whole number from 0 to 65535"),
        ("RUNHOLD_AUTO_MIGRATE", "maybe", "must be true or false"),
        ("RUNHOLD_TRANSACTION_POOLER", "2", "must be true or false"),
        ("RUNHOLD_LOG_LEVEL", "loud", "must be one of debug, info, warning, error"),
        ("RUNHOLD_DATABASE_URL", "mysql://u:s3cret@h/d", "must be sqlite:///path or postgresql://"),
        ("RUNHOLD_DATABASE_URL", "sqlite:///", "must be sqlite:///path or postgresql://"),
        ("RUNHOLD_POOL_SIZE", "0", "must be a whole number from 1 to 1000"),
        ("RUNHOLD_BODY_BYTES", "99999999", "must be a whole number from 1024 to 16777216"),
    ],
)
def test_a_wrong_setting_is_named_with_what_is_allowed(name: str, value: str, allowed: str) -> None:
    (line,) = refused({name: value})
    assert line.startswith(f"{name}: {allowed}")
    assert "s3cret" not in line


def test_every_wrong_setting_gets_its_line() -> None:
    lines = refused({"RUNHOLD_PORT": "x", "RUNHOLD_LANES": "x", "RUNHOLD_PROT": "80"})
    assert [line.split(":")[0] for line in lines] == ["RUNHOLD_PROT", "RUNHOLD_PORT", "RUNHOLD_LANES"]


def test_an_unknown_setting_is_refused_but_other_programs_variables_are_not() -> None:
    assert refused({"RUNHOLD_DATABSE_URL": "sqlite:///x"}) == [
        "RUNHOLD_DATABSE_URL: is no setting; `runhold settings` lists them"
    ]
    assert load_settings({"PORT": "x", "DATABASE_URL": "x", "RUNHOLD_PORT": ""}).port == 8080


def test_postgresql_is_not_migrated_at_start_unless_asked() -> None:
    url = "postgresql://u:p@h/d"
    assert not load_settings({"RUNHOLD_DATABASE_URL": url}).migrates_at_start
    assert load_settings({"RUNHOLD_DATABASE_URL": url, "RUNHOLD_AUTO_MIGRATE": "on"}).migrates_at_start
    assert not load_settings({"RUNHOLD_AUTO_MIGRATE": "false"}).migrates_at_start


def test_what_the_command_line_says_wins() -> None:
    assert load_settings({"RUNHOLD_PORT": "1"}, port=2, host=None).port == 2


def test_every_setting_is_listed_with_its_meaning() -> None:
    rows = {row[0]: row for row in shown(load_settings({}))}
    assert set(rows) == {f"RUNHOLD_{name.upper()}" for name in Settings.model_fields}
    for name, _, unit, _, meaning in rows.values():
        assert meaning.endswith("."), name
        assert unit or not name.endswith(("_MS", "_BYTES", "_SIZE", "_S", "PORT")), name


def test_secrets_are_masked_wherever_settings_are_shown() -> None:
    environment = {
        "RUNHOLD_DATABASE_URL": "postgresql://user:pa%ss:w@rd/?x@host:5432/name?sslpassword=s3cret&sslmode=require",
        "RUNHOLD_INTEGRITY_KEY": "k3y",
    }
    settings = load_settings(environment)
    text = repr(shown(settings)) + repr(settings) + str(settings)
    for secret in ("pa%ss", "w@rd", "s3cret", "k3y"):
        assert secret not in text
    assert "postgresql://user:***@host:5432/name?sslpassword=***&sslmode=require" in text


@pytest.mark.parametrize(
    ("url", "masked"),
    [
        ("sqlite:////var/lib/runhold.db", "sqlite:////var/lib/runhold.db"),
        ("postgresql://host/name", "postgresql://host/name"),
        ("postgresql://user@host/name", "postgresql://user@host/name"),
        ("postgresql://user:@host/name", "postgresql://user:***@host/name"),
        ("postgresql:///name?host=/run&password=x", "postgresql:///name?host=/run&password=***"),
    ],
)
def test_a_database_url_is_shown_without_its_password(url: str, masked: str) -> None:
    assert masked_url(url) == masked
