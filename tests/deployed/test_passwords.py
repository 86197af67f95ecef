"""Names and passwords with every character that means something in a URL, in SQL or in a connection string."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

import psycopg
import pytest
from psycopg import sql

from tests.hostile.asking import done
from tests.model import commands as make
from tests.model.wire import Wire
from tests.support.postgresql import started_postgresql
from tests.support.server import Server

PASSWORD = """p@ss:w/o?r#d%41+ &=;,'"\\ßü 🔑"""


@dataclass(frozen=True)
class Account:
    """A role of the tests' own, and its database."""

    role: str
    name: str
    place: str
    """Host and port."""

    def url(self, password: str = PASSWORD) -> str:
        """Its database's URL."""
        role, secret, name = (quote(part, safe="") for part in (self.role, password, self.name))
        return f"postgresql://{role}:{secret}@{self.place}/{name}"


@pytest.fixture
def account(unique: str) -> Iterator[Account]:
    """A role that owns its database and nothing else, both with odd names."""
    url = started_postgresql().url
    role, name = f'role @:/"{unique}', f"name ?#%'{unique}"
    found = Account(role, name, urlsplit(url).netloc.rpartition("@")[2])
    ours = {"role": sql.Identifier(role), "name": sql.Identifier(name), "password": sql.Literal(PASSWORD)}
    with psycopg.connect(url, autocommit=True) as administrator:
        administrator.execute(sql.SQL("CREATE ROLE {role} LOGIN PASSWORD {password}").format(**ours))
        make_it = "CREATE DATABASE {name} OWNER {role} TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'"
        administrator.execute(sql.SQL(make_it).format(**ours))
        yield found
        administrator.execute(sql.SQL("DROP DATABASE {name} WITH (FORCE)").format(**ours))
        administrator.execute(sql.SQL("DROP ROLE {role}").format(**ours))


def run(command: str, url: str) -> subprocess.CompletedProcess[str]:
    """Run a command of the service."""
    environment = {**os.environ, "RUNHOLD_DATABASE_URL": url, "RUNHOLD_LOG_LEVEL": "debug"}
    return subprocess.run(
        [sys.executable, "-m", "runhold", command], env=environment, capture_output=True, text=True, timeout=60
    )


def shows_password(text: str) -> bool:
    """Whether a part of the password that occurs nowhere else is in a text, as it is or as a URL has it."""
    return any(part in text for part in ("ss:w/o", quote("ss:w/o", safe=""), "ßü", quote("ßü")))


def test_the_service_works_under_odd_names_and_tells_its_password_to_nobody(account: Account) -> None:
    server = Server(account.url(), {"RUNHOLD_LOG_LEVEL": "debug"})
    try:
        server.start()
        with Wire(server.url) as wire:
            done(wire, make.create("s"), make.start("r", session="s"), make.append("r", session="s"))
        assert server.stop() == 0
        assert not shows_password(server.output())
    finally:
        server.close()
    for command in ("migrate", "check", "settings"):
        ended = run(command, account.url())
        assert ended.returncode == 0, ended.stderr
        assert not shows_password(ended.stdout + ended.stderr)


def test_a_wrong_password_is_told_in_one_line_without_it(account: Account) -> None:
    for command in ("serve", "migrate", "check"):
        ended = run(command, account.url(PASSWORD + "x"))
        assert ended.returncode == 1
        assert "password authentication failed" in ended.stderr
        assert len(ended.stderr.strip().splitlines()) == 1
        assert not shows_password(ended.stdout + ended.stderr)


def test_a_url_whose_password_is_not_escaped_is_refused_without_being_quoted(account: Account) -> None:
    ended = run("check", account.url().replace(quote(PASSWORD, safe=""), PASSWORD))
    assert ended.returncode != 0
    assert not shows_password(ended.stdout + ended.stderr)
