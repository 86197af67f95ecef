"""Keys: made once, kept as hashes, changed while services run, and never where they should not be."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from runhold.api.identity import Role
from runhold.identity.key_file import KeyFileError, WatchedKeys, change_keys, read_keys
from runhold.identity.keys import Keyring, new_key
from runhold_client import AccessError, HttpStore
from tests.support.server import Server


def keys(file: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "RUNHOLD_API_KEYS_FILE": str(file)}
    command = [sys.executable, "-m", "runhold", "keys", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=30)


def test_create_prints_only_the_key_and_keeps_only_its_hash(tmp_path: Path) -> None:
    file = tmp_path / "new" / "keys.json"
    done = keys(file, "create", "--role", "worker", "--namespace", "team-a", "--name", "the night shift")
    assert (done.returncode, done.stderr) == (0, "")
    key = done.stdout.removesuffix("\n")
    assert re.fullmatch(r"[A-Za-z0-9_.-]{50,}", key)
    text = file.read_text()
    assert key not in text
    assert key.rpartition(".")[2] not in text
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    (kept,) = read_keys(file)
    assert (kept.role, kept.namespace, kept.name) == (Role.WORKER, "team-a", "the night shift")
    found = Keyring([kept]).find(key)
    assert found is not None
    assert (found.namespace, found.role, found.key_id) == ("team-a", Role.WORKER, kept.id)


def test_list_shows_everything_but_the_keys(tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    made = [keys(file, "create", "--role", role, "--namespace", "n").stdout.strip() for role in ("worker", "admin")]
    listed = json.loads(keys(file, "list", "--json").stdout)
    assert [(key["role"], key["namespace"]) for key in listed] == [("worker", "n"), ("admin", "n")]
    table = keys(file, "list").stdout
    for key, shown in zip(made, listed, strict=True):
        assert key.split(".")[1] == shown["id"]
        assert shown["id"] in table
        assert key.split(".")[2] not in table


def test_revoke_takes_one_key_and_says_when_there_is_none(tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    first, second = (keys(file, "create", "--role", "reader").stdout.strip() for _ in range(2))
    assert keys(file, "revoke", first.split(".")[1]).returncode == 0
    assert [key.id for key in read_keys(file)] == [second.split(".")[1]]
    again = keys(file, "revoke", first.split(".")[1])
    assert (again.returncode, again.stdout) == (1, "")
    assert "there is no key" in again.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("create", "--role", "god"), "worker"),
        (("create", "--role", "worker", "--namespace", ""), "must not be empty"),
        (("create", "--role", "worker", "--namespace", "é" * 33), "64 bytes"),
        (("revoke", "x"), "there is no key"),
    ],
)
def test_a_wrong_command_says_what_is_allowed_and_makes_no_file(
    tmp_path: Path, arguments: tuple[str, ...], says: str
) -> None:
    file = tmp_path / "keys.json"
    done = keys(file, *arguments)
    assert done.returncode != 0
    assert done.stdout == ""
    assert says in done.stderr
    assert not file.exists() or read_keys(file) == []


def test_without_a_file_the_commands_say_how_to_name_one() -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RUNHOLD_")}
    command = [sys.executable, "-m", "runhold", "keys", "create", "--role", "admin"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=30)
    assert done.returncode == 1
    assert "RUNHOLD_API_KEYS_FILE" in done.stderr


def test_keys_made_at_the_same_time_are_all_kept(tmp_path: Path) -> None:
    file = tmp_path / "keys.json"

    def make() -> None:
        _, kept = new_key(Role.WORKER, "n")
        change_keys(file, lambda known: ([*known, kept], None))

    threads = [threading.Thread(target=make) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({key.id for key in read_keys(file)}) == 20


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b'{"version":1}', b'{"version":2,"keys":[]}', b"\xff", b'{"version":1,"keys":[{"id":"x"}]}'],
)
def test_a_file_that_cannot_be_read_is_refused_without_quoting_it(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "keys.json"
    file.write_bytes(content)
    with pytest.raises(KeyFileError, match=r"keys\.json"):
        read_keys(file)


def test_a_file_that_breaks_later_leaves_the_keys_as_they_were(tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    text, kept = new_key(Role.WORKER, "n")
    change_keys(file, lambda _: ([kept], None))
    watched = WatchedKeys(file)
    file.write_text("{")
    time.sleep(0.3)
    assert watched.current().find(text) == kept.principal
    change_keys_anew(file, [])
    time.sleep(0.3)
    assert watched.current().find(text) is None


def change_keys_anew(file: Path, content: list[Any]) -> None:
    file.unlink()
    change_keys(file, lambda _: (content, None))


@pytest.mark.parametrize(
    "wrong", ["", "rh.", "rh.x", "rh.x.y", "x", "rh.{id}.", "rh.{id}", "rh.{id}.{secret}x", "{id}.{secret} "]
)
def test_anything_but_the_key_itself_is_nobody(wrong: str) -> None:
    text, kept = new_key(Role.WORKER, "n")
    _, key_id, secret = text.split(".")
    assert Keyring([kept]).find(wrong.format(id=key_id, secret=secret)) is None


def test_changes_apply_without_a_restart(start_server: Any, tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    admin = keys(file, "create", "--role", "admin").stdout.strip()
    server: Server = start_server({"RUNHOLD_API_KEYS_FILE": str(file)})
    later = keys(file, "create", "--role", "worker").stdout.strip()
    time.sleep(0.5)
    with HttpStore(server.url, token=admin) as store:
        store.create_session("s")
    with HttpStore(server.url, token=later) as store:
        assert store.load_session_status("s") == "active"
    assert keys(file, "revoke", later.split(".")[1]).returncode == 0
    time.sleep(0.5)
    with HttpStore(server.url, token=later) as store, pytest.raises(AccessError):
        store.load_session_status("s")
    log = server.output()
    for key in (admin, later):
        assert key.split(".")[2] not in log


def test_a_wrong_key_is_told_so_with_a_challenge(start_server: Any, tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    keys(file, "create", "--role", "admin")
    server: Server = start_server({"RUNHOLD_API_KEYS_FILE": str(file)})
    with httpx.Client(base_url=server.url, trust_env=False) as http:
        for headers in (
            {},
            {"authorization": "Bearer rh.x.y"},
            {"authorization": "Basic eDp5"},
            {"authorization": "Bearer"},
        ):
            answer = http.get("/v1/sessions", headers=headers)
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"] == "Bearer"
            problem = answer.json()
            assert (problem["code"], problem["permanent"]) == ("unauthenticated", False)
        for path in ("/livez", "/readyz", "/docs", "/docs/problems", "/openapi.json", "/static/docs.js"):
            assert http.get(path).status_code == 200, path
