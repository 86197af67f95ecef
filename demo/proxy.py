"""A small proxy that loses an answer on purpose: the command was carried out, and its caller hears nothing."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

_OF_THE_CONNECTION = frozenset({"connection", "keep-alive", "transfer-encoding", "content-length", "date", "server"})


class LosingProxy:
    """Where the proxy is, and what it has lost."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.answers_to_lose = 0
        """How many of the next answers to lose."""
        self.requests: list[str] = []
        """Method and path of each request."""
        self.lost: list[int] = []
        """Statuses of the answers that were lost."""
        self._lock = threading.Lock()

    def loses(self, status: int) -> bool:
        """Whether this answer is to be lost, and note it then."""
        with self._lock:
            if not self.answers_to_lose:
                return False
            self.answers_to_lose -= 1
            self.lost.append(status)
            return True


@contextmanager
def losing_proxy(upstream: str) -> Iterator[LosingProxy]:
    """Stand on a free port of 127.0.0.1 before the service at ``upstream`` while the block runs."""
    proxy = LosingProxy("")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def forward(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            proxy.requests.append(f"{self.command} {self.path}")
            host = urlsplit(upstream)
            line = HTTPConnection(host.hostname or "", host.port, timeout=60)
            try:
                line.request(self.command, host.path + self.path, body, dict(self.headers.items()))
                answer = line.getresponse()
                content = answer.read()
            finally:
                line.close()
            if proxy.loses(answer.status):
                # Nobody is answered before the commit, so what was asked is stored by now.
                self.close_connection = True
                return
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in _OF_THE_CONNECTION:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_DELETE = forward  # noqa: N815  the names that the server looks for

        def log_message(self, *_: Any) -> None:
            """Say nothing: the demo tells what matters."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    proxy.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
