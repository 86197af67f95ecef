"""The service as a process of its own, as it runs in earnest: ``python -m runhold serve`` on a free port."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.support.ports import free_port

START_SECONDS = 30.0
STOP_SECONDS = 60.0


class Server:
    """A service that a test starts, stops, kills and starts again; it keeps its address.

    Args:
        database_url: where it keeps its records.
        environment: settings of its own, such as ``{"RUNHOLD_BODY_BYTES": "4096"}``. What the tests' own environment
            says about the service does not count.
        arguments: more arguments of ``serve``.
        python: the interpreter that runs it; the tests' own unless told.
        module: what is run; the service itself unless told.
        folder: its working directory; the tests' own unless told.
    """

    def __init__(
        self,
        database_url: str,
        environment: Mapping[str, str] | None = None,
        *,
        arguments: tuple[str, ...] = (),
        python: str = sys.executable,
        module: str = "runhold",
        folder: Path | None = None,
    ) -> None:
        self.database_url = database_url
        self.port = free_port()
        self.environment = dict(environment or {})
        self._arguments = arguments
        self._python = python
        self._module = module
        self._folder = folder
        descriptor, name = tempfile.mkstemp(prefix="runhold-", suffix=".log")
        os.close(descriptor)
        self.log = Path(name)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Its base URL."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        """The process id of the running service."""
        assert self._process is not None, "it is stopped"
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether its process is alive."""
        return self._process is not None and self._process.poll() is None

    def start(self, *, wait: bool = True) -> None:
        """Start it and, unless told otherwise, wait until it is ready."""
        assert not self.is_running, "it runs already"
        said_before = len(self.output())
        self._launch()
        if wait and not self._becomes_ready():
            self.kill()
            raise RuntimeError(f"the service did not become ready:\n{self.output()[said_before:]}")

    def wait_until_ready(self, seconds: float = START_SECONDS) -> None:
        """Wait until it answers that it is ready. Raises: RuntimeError when it ends or the time is over."""
        if not self._becomes_ready(seconds):
            raise RuntimeError(f"the service did not become ready:\n{self.output()}")

    def stop(self, *, how: signal.Signals = signal.SIGTERM) -> int:
        """Ask it to stop and return its exit status; one that is stopped already is 0."""
        if self._process is None:
            return 0
        self._process.send_signal(how)
        try:
            return self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            raise RuntimeError(f"the service did not stop within {STOP_SECONDS:.0f} s:\n{self.output()}") from None
        finally:
            self._process = None

    def kill(self) -> None:
        """Kill -9 it."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(STOP_SECONDS)
            self._process = None

    def restart(self) -> None:
        """Stop it and start it again at the same address."""
        self.stop()
        self.start()

    def output(self) -> str:
        """All that it wrote to its standard output and error so far, over all its starts."""
        return self.log.read_text(encoding="utf-8", errors="replace")

    def close(self) -> None:
        """Kill it if it still runs, and remove its log."""
        self.kill()
        self.log.unlink(missing_ok=True)

    def _launch(self) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("RUNHOLD_")}
        environment |= {"RUNHOLD_DATABASE_URL": self.database_url, "RUNHOLD_AUTO_MIGRATE": "on", **self.environment}
        command = [self._python, "-m", self._module, "serve", "--host", "127.0.0.1", "--port", str(self.port)]
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [*command, *self._arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=environment,
                cwd=self._folder,
                # Ctrl-C goes to the tests, which stop what they started.
                start_new_session=True,
            )

    def _becomes_ready(self, seconds: float = START_SECONDS) -> bool:
        deadline = time.monotonic() + seconds
        # Proxy variables would send even 127.0.0.1 through the proxy.
        with httpx.Client(trust_env=False, timeout=5) as http:
            while self.is_running and time.monotonic() < deadline:
                try:
                    if http.get(f"{self.url}/readyz").status_code == 200:
                        return True
                except httpx.TransportError:
                    pass
                time.sleep(0.02)
        return False


@contextmanager
def running_server(database_url: str, environment: Mapping[str, str] | None = None) -> Iterator[Server]:
    """A service for one test alone, stopped when the block ends."""
    server = Server(database_url, environment)
    try:
        server.start()
        yield server
        server.stop()
    finally:
        server.close()
