"""A PgBouncer before a PostgreSQL of the tests, as many fleets have one."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit, urlunsplit

from tests.support.ports import free_port
from tests.support.unprivileged import OTHER_USER, folder_for_anyone

START_SECONDS = 20.0


class PgBouncer:
    """A pooler that a test may kill and start again; it keeps its port. It lends few connections, so that all share.

    Args:
        url: any database of the server; its role may pass.
        settings: more settings of ``pgbouncer.ini``.
    """

    def __init__(self, url: str, settings: Mapping[str, str] | None = None) -> None:
        server = urlsplit(url)
        self.port = free_port()
        self.folder = Path(tempfile.mkdtemp(prefix="runhold-pgbouncer-", dir=folder_for_anyone()))
        self.log = self.folder / "pgbouncer.log"
        users = self.folder / "users.txt"
        users.write_text(f'"{server.username}" "{unquote(server.password or "")}"\n')
        self._options = {
            "listen_addr": "127.0.0.1",
            "listen_port": str(self.port),
            "unix_socket_dir": "",
            "auth_type": "scram-sha-256",
            "auth_file": str(users),
            "pool_mode": "transaction",
            "default_pool_size": "4",
            "max_client_conn": "500",
            # After a failure it tries the database again only 15 s later, unless told.
            "server_login_retry": "1",
            **(settings or {}),
        }
        self._server_port = server.port
        self._file = self.folder / "pgbouncer.ini"
        self._file.touch()
        if OTHER_USER:
            for path in (self.folder, users, self._file):
                os.chown(path, OTHER_USER, OTHER_USER)
        self._process: subprocess.Popen[bytes] | None = None

    def set(self, name: str, value: str) -> None:
        """Change a setting, from the next start on."""
        self._options[name] = value

    def own(self, path: Path) -> Path:
        """Give it a file that only its owner may read. Returns where it is now."""
        copy = Path(shutil.copy(path, self.folder))
        copy.chmod(0o600)
        if OTHER_USER:
            os.chown(copy, OTHER_USER, OTHER_USER)
        return copy

    def through(self, url: str) -> str:
        """The same database, through it."""
        parts = urlsplit(url)
        return urlunsplit(parts._replace(netloc=f"{parts.netloc.rpartition(':')[0]}:{self.port}"))

    def start(self) -> None:
        """Start it and wait until it takes connections. Raises: RuntimeError."""
        program = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
        if program is None:
            raise RuntimeError("pgbouncer is missing; as root: ./dev setup --system")
        lines = [f"{name} = {value}" for name, value in self._options.items()]
        databases = f"* = host=127.0.0.1 port={self._server_port}"
        self._file.write_text("\n".join(["[databases]", databases, "[pgbouncer]", *lines, ""]))
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [program, str(self._file)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                user=OTHER_USER,
                group=OTHER_USER,
                extra_groups=[] if OTHER_USER else None,
                cwd=self.folder,
            )
        deadline = time.monotonic() + START_SECONDS
        while self._process.poll() is None and time.monotonic() < deadline:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.02)
        raise RuntimeError(f"pgbouncer did not start:\n{self.log.read_text(errors='replace')}")

    def kill(self) -> None:
        """Kill -9 it."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait(20)
            self._process = None

    def close(self) -> None:
        """Kill it if it still runs, and remove its files."""
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


@contextmanager
def running_pgbouncer(url: str, settings: Mapping[str, str] | None = None) -> Iterator[PgBouncer]:
    """A pooler while the block runs."""
    pooler = PgBouncer(url, settings)
    try:
        pooler.start()
        yield pooler
    finally:
        pooler.close()
