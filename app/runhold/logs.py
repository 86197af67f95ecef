"""Structured logs: one JSON object a line on standard error. Never a path, query, payload, checkpoint, label or key.

The line of a request is put together by hand and written with others of the moment: at thousands of requests a second,
``logging`` would cost more than the request itself.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from time import time
from typing import Protocol

_FLUSH_LINES = 256
_FLUSH_SECONDS = 0.1
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "color_message"}


class _JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")[:-6] + "Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
        }
        line.update((name, value) for name, value in vars(record).items() if name not in _STANDARD)
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


def configure_logs(level: str) -> None:
    """Send all logs of the process, from ``level`` up, to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    # Tells at every migration which of its own parts it has loaded.
    logging.getLogger("alembic.runtime.plugins").setLevel(logging.WARNING)


class Observer(Protocol):
    """Is told of every request, once it is answered."""

    def request(
        self, operation: str, status: int, code: str, seconds: float, request_id: str, traceparent: bytes | None
    ) -> None:
        """Take note of a request.

        Args:
            operation: its id, ``""`` when there is none of that path and method.
            status: of the answer; 0 when the caller was gone.
            code: of the problem, ``""`` for a success.
            seconds: from its head to its answer.
            request_id: its name in answer and logs.
            traceparent: as sent.
        """
        ...


class RequestLog:
    """Writes a line a request, in lots."""

    def __init__(self, write: Callable[[str], object] | None = None) -> None:
        self._write = write or sys.stderr.write
        self._lines: list[str] = []
        self._flush_due = False
        self._second = 0
        self._second_text = ""

    def request(
        self, operation: str, status: int, code: str, seconds: float, request_id: str, traceparent: bytes | None
    ) -> None:
        """Log a request. See ``Observer.request``."""
        now = time()
        second = int(now)
        if second != self._second:
            self._second = second
            self._second_text = datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")
        trace = f',"traceparent":{json.dumps(traceparent.decode("latin-1")[:128])}' if traceparent else ""
        milliseconds = int((now - second) * 1_000)
        self._lines.append(
            f'{{"time":"{self._second_text}.{milliseconds:03d}Z","level":"info","event":"request",'
            f'"request_id":"{request_id}","operation":"{operation}","status":{status},"code":"{code}",'
            f'"duration_ms":{seconds * 1000:.3f}{trace}}}\n'
        )
        if len(self._lines) >= _FLUSH_LINES:
            self.flush()
        elif not self._flush_due:
            self._flush_due = True
            asyncio.get_running_loop().call_later(_FLUSH_SECONDS, self.flush)

    def flush(self) -> None:
        """Write what waits."""
        self._flush_due = False
        lines, self._lines = self._lines, []
        if lines:
            self._write("".join(lines))


class NoRequestLog:
    """Takes no note."""

    def request(
        self, operation: str, status: int, code: str, seconds: float, request_id: str, traceparent: bytes | None
    ) -> None:
        """Do nothing."""

    def flush(self) -> None:
        """Do nothing."""
