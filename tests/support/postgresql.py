"""A real PostgreSQL for tests, and one for the command line: ``python -m tests.support.postgresql``.

Each server lives in a temporary folder of its own and listens on 127.0.0.1 only. Started by root it runs as an
unprivileged user, as PostgreSQL demands. It is gone with the process that started it, however that ends.
"""

from __future__ import annotations

import argparse
import atexit
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg import sql

from tests.support import watchdog
from tests.support.ports import free_port
from tests.support.postgresql_binaries import copy_for_anyone, find_binaries
from tests.support.unprivileged import OTHER_USER, folder_for_anyone

USER = "runhold"
START_SECONDS = 60.0

SETTINGS: Mapping[str, str] = {
    "listen_addresses": "127.0.0.1",
    # No socket file: its path may be longer than macOS allows.
    "unix_socket_directories": "",
    "max_connections": "200",
    "shared_buffers": "64MB",
    "log_line_prefix": "%m [%p] ",
}
QUICK: Mapping[str, str] = {"fsync": "off", "full_page_writes": "off", "wal_level": "minimal", "max_wal_senders": "0"}
"""Tests that stop the server, even with kill -9, lose nothing by these: only a crash of the machine would."""


class PostgresqlServer:
    """A running server, given by its URL, on which databases are made for tests."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._made: list[str] = []

    def new_database_url(self, prefix: str = "test") -> str:
        """Create an empty database (UTF-8, compared by bytes) and return its URL."""
        name = f"{prefix}_{secrets.token_hex(6)}"
        statement = "CREATE DATABASE {} TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'"
        self._execute(statement, name)
        self._made.append(name)
        return urlunsplit(urlsplit(self.url)._replace(path=f"/{name}"))

    def drop_database(self, url: str) -> None:
        """Remove a database that was made here, with whoever is still connected to it."""
        name = urlsplit(url).path.lstrip("/")
        self._execute("DROP DATABASE IF EXISTS {} WITH (FORCE)", name)
        self._made.remove(name)

    def drop_all(self) -> None:
        """Remove all databases that were made here and not yet dropped."""
        for name in list(self._made):
            self._execute("DROP DATABASE IF EXISTS {} WITH (FORCE)", name)
            self._made.remove(name)

    def _execute(self, statement: str, name: str) -> None:
        with psycopg.connect(self.url, autocommit=True, connect_timeout=10) as connection:
            connection.execute(sql.SQL(statement).format(sql.Identifier(name)))


class LocalPostgresql(PostgresqlServer):
    """A server of our own. ``stop``, ``start``, ``kill``, ``pause`` and ``resume`` are for tests of faults.

    Args:
        durable: whether the disk is really waited for. Off for tests of behaviour, on for measurements.
        version: ``"18"`` or ``"16"``; else what the environment says, or 18.
        settings: more settings of ``postgresql.conf``.
    """

    def __init__(
        self, *, durable: bool = False, version: str | None = None, settings: Mapping[str, str] | None = None
    ) -> None:
        self._owner = OTHER_USER
        self.folder = Path(tempfile.mkdtemp(prefix="runhold-pg-", dir=folder_for_anyone() if self._owner else None))
        if self._owner:
            self.folder.chmod(0o755)
        self.data = self.folder / "data"
        self.log = self.folder / "postgresql.log"
        self._process: subprocess.Popen[bytes] | None = None
        self._watchdog = _watch(self.folder)
        atexit.register(self.close)
        self._installation = copy_for_anyone(find_binaries(version), self.folder / "installation")
        self._password = secrets.token_hex(12)
        self._make_cluster({**SETTINGS, **({} if durable else QUICK), **(settings or {})})
        for _ in range(10):
            self.port = free_port()
            try:
                self.start()
                break
            except PortTaken:
                continue
        super().__init__(f"postgresql://{USER}:{self._password}@127.0.0.1:{self.port}/postgres")

    @property
    def pid(self) -> int:
        """The process id of the running server."""
        assert self._process is not None, "it is stopped"
        return self._process.pid

    @property
    def processes(self) -> list[int]:
        """The process ids of the server and of all its children."""
        return [self.pid, *_children(self.pid)]

    @property
    def programs(self) -> Path:
        """The folder of its programs, such as pg_dump."""
        return self._installation / "bin"

    def start(self) -> None:
        """Start it, on the port it always had, and wait until it takes connections."""
        assert self._process is None, "it runs already"
        deadline = time.monotonic() + START_SECONDS
        while True:
            begun = self.log.stat().st_size if self.log.exists() else 0
            self._process = self._launch([str(self.programs / "postgres"), "-D", str(self.data), "-p", str(self.port)])
            while time.monotonic() < deadline and self._process.poll() is None:
                if self._is_ready():
                    return
                time.sleep(0.01)
            said = self.log.read_text(errors="replace")[begun:]
            if self._process.poll() is None:
                raise RuntimeError(f"PostgreSQL did not start within {START_SECONDS:.0f} s:\n{said}")
            self._process = None
            if "could not bind" in said:
                raise PortTaken(self.port)
            # After kill -9 the old server's last processes may still be ending.
            if "shared memory block" not in said or time.monotonic() > deadline:
                raise RuntimeError(f"PostgreSQL did not start:\n{said}")
            time.sleep(0.1)

    def stop(self, *, how: signal.Signals = signal.SIGINT) -> None:
        """Stop it: ``SIGINT`` ends connections and writes everything, ``SIGQUIT`` leaves recovery to the next start."""
        if self._process is None:
            return
        self._process.send_signal(signal.SIGCONT)
        self._process.send_signal(how)
        self._process.wait(60)
        self._process = None

    def restart(self) -> None:
        """Stop it as an administrator would, and start it again."""
        self.stop()
        self.start()

    def kill(self) -> None:
        """Kill -9 all of its processes at once, as a crash of its machine would."""
        pid = self.pid
        assert self._process is not None
        # Stopped first, it cannot replace children that are already gone.
        os.kill(pid, signal.SIGSTOP)
        for victim in [*_children(pid), pid]:
            try:
                os.kill(victim, signal.SIGKILL)
            except ProcessLookupError:
                continue
        self._process.wait(60)
        self._process = None

    def pause(self) -> None:
        """Let all of its processes stand still: connections stay open and nothing answers."""
        for process in self.processes:
            os.kill(process, signal.SIGSTOP)

    def resume(self) -> None:
        """Let them go on."""
        for process in self.processes:
            os.kill(process, signal.SIGCONT)

    def close(self) -> None:
        """Stop it for good and remove its folder."""
        atexit.unregister(self.close)
        self.stop(how=signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)
        if self._watchdog.poll() is None:
            assert self._watchdog.stdin is not None
            self._watchdog.stdin.close()
            self._watchdog.wait(30)

    def _make_cluster(self, settings: Mapping[str, str]) -> None:
        secret = self.folder / "password"
        secret.write_text(self._password)
        self.data.mkdir(mode=0o700)
        if self._owner:
            for path in (secret, self.data):
                os.chown(path, self._owner, self._owner)
        # Without --auth-local too: who knows no password gets in nowhere.
        command = [str(self.programs / "initdb"), "-D", str(self.data), "-U", USER, "--pwfile", str(secret)]
        command += ["--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions"]
        done = self._launch(command)
        if done.wait(START_SECONDS):
            raise RuntimeError(f"initdb failed:\n{self.log.read_text(errors='replace')}")
        secret.unlink()
        with (self.data / "postgresql.auto.conf").open("a") as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in settings.items())

    def _launch(self, command: list[str]) -> subprocess.Popen[bytes]:
        # In a session of its own, so that Ctrl-C reaches the tests and not, first, their database.
        with self.log.open("ab") as log:
            return subprocess.Popen(
                command,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                user=self._owner,
                group=self._owner,
                extra_groups=[] if self._owner else None,
                env={"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LC_ALL": "C", "TZ": "UTC"},
            )

    def _is_ready(self) -> bool:
        try:
            lines = (self.data / "postmaster.pid").read_text().splitlines()
        except OSError:
            return False
        return len(lines) >= 8 and int(lines[0]) == self.pid and lines[7].strip() == "ready"


class PortTaken(RuntimeError):
    """Another process listens on the port that was chosen."""


@cache
def started_postgresql() -> PostgresqlServer:
    """The server that all tests of a process share: the one in ``TEST_POSTGRESQL_URL``, else one of our own."""
    given = os.environ.get("TEST_POSTGRESQL_URL")
    if not given:
        return LocalPostgresql()
    server = PostgresqlServer(given)
    atexit.register(server.drop_all)
    return server


@contextmanager
def own_postgresql(
    *, durable: bool = False, version: str | None = None, settings: Mapping[str, str] | None = None
) -> Iterator[LocalPostgresql]:
    """A server for one test alone, which may break it."""
    server = LocalPostgresql(durable=durable, version=version, settings=settings)
    try:
        yield server
    finally:
        server.close()


def _watch(folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-I", "-S", watchdog.__file__, str(folder)]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )


def _children(pid: int) -> list[int]:
    listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    pairs = (line.split() for line in listed.splitlines())
    return [int(child) for child, parent in pairs if int(parent) == pid]


def main() -> None:
    """Run a server until Ctrl-C or SIGTERM and print its URL as the first line."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--durable", action="store_true", help="wait for the disk (fsync on)")
    parser.add_argument("--version", choices=["18", "16"], help="of the wheel; 18 unless told")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with own_postgresql(durable=given.durable, version=given.version) as server:
        print(server.new_database_url("runhold"), flush=True)
        try:
            signal.pause()
        except KeyboardInterrupt:
            sys.exit(0)


if __name__ == "__main__":
    main()
