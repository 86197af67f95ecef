"""A real browser for tests: Debian's Chromium, cut off from everything but this machine, and watched.

All that leaves loopback goes to proxies of our own, which let nothing through: one for what pages cause, which is
noted, and one for the browser itself, which calls home whatever its flags. A page's console errors and its violations
of the content security policy are noted as well.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, ConsoleMessage, Page, sync_playwright

from tests.support.checkout import ROOT

SCREENSHOTS = ROOT / "docs" / "screenshots"

_FLAGS = [
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # It would be asked about every form, in the name of the page.
    "--autofill-server-url=http://127.0.0.1:9/",
]
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]", "::1")
# Kept in the page itself: a violation is an event there, and may say nothing on the console.
_NOTE_VIOLATIONS = """
window.policyViolations = [];
document.addEventListener("securitypolicyviolation", (event) => {
  window.policyViolations.push(`${event.violatedDirective}: ${event.blockedURI}`);
});
"""


class Watch:
    """What happened that must not: each list is empty when all is well."""

    def __init__(self) -> None:
        self.left_the_machine: list[str] = []
        """Hosts other than this one that somebody asked for."""
        self.errors: list[str] = []
        """Errors on the console, and exceptions that nothing caught."""
        self._pages: list[Page] = []

    def follow(self, page: Page) -> None:
        """Watch a page from now on."""
        self._pages.append(page)
        page.on("console", self._note_console)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda request: self._note_request(request.url))

    def policy_violations(self) -> list[str]:
        """What the pages that are open now tried against their content security policy."""
        return [violation for page in self._pages for violation in page.evaluate("window.policyViolations")]

    def assert_nothing_happened(self) -> None:
        """Fail if anything did."""
        found = [*self.left_the_machine, *self.errors, *self.policy_violations()]
        assert not found, "\n".join(found)

    def _note_console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.errors.append(f"{message.text} ({message.location.get('url')})")

    def _note_request(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme in ("http", "https", "ws", "wss") and parts.hostname not in _LOOPBACK:
            self.left_the_machine.append(parts.netloc)


@contextmanager
def watched_browser() -> Iterator[tuple[BrowserContext, Watch]]:
    """Chromium without a window, with an empty profile, and what is noted about it."""
    watch = Watch()
    with _wall(watch.left_the_machine) as wall, _wall([]) as own_wall, sync_playwright() as playwright:
        # As root Chromium has no sandbox; what it opens here is ours.
        flags = [*_FLAGS, "--no-sandbox"] if os.geteuid() == 0 else _FLAGS
        chromium = playwright.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=flags,
            proxy={"server": own_wall, "bypass": ",".join(_LOOPBACK)},
        )
        try:
            context = chromium.new_context(
                viewport={"width": 1200, "height": 800},
                reduced_motion="reduce",
                proxy={"server": wall, "bypass": ",".join(_LOOPBACK)},
            )
            context.add_init_script(_NOTE_VIOLATIONS)
            context.on("page", watch.follow)
            yield context, watch
        finally:
            chromium.close()


def keep_screenshot(page: Page, name: str) -> None:
    """Keep a picture for the documentation, when asked to by ``KEEP_SCREENSHOTS=1``."""
    if os.environ.get("KEEP_SCREENSHOTS"):
        SCREENSHOTS.mkdir(exist_ok=True)
        page.screenshot(path=SCREENSHOTS / f"{name}.png")


@contextmanager
def _wall(asked_for: list[str]) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def refuse(self) -> None:
            asked_for.append(self.path)
            self.send_error(403)

        do_GET = do_POST = do_HEAD = do_CONNECT = do_OPTIONS = refuse  # noqa: N815

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
