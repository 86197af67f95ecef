"""What a benchmark prints: the machine it ran on, and one table."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sqlite3
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.stage import Stage

PACKAGES = ("fastapi", "uvicorn", "uvloop", "httptools", "msgspec", "psycopg", "sqlmodel", "httpx", "pydantic")


class Table:
    """Rows under headings, printed as Markdown, with notes beneath."""

    def __init__(self, title: str, *headings: str) -> None:
        self._title = title
        self._headings = headings
        self._rows: list[Sequence[str]] = []
        self._notes: list[str] = []

    def row(self, *cells: str) -> None:
        """Add a row, a cell for each heading."""
        assert len(cells) == len(self._headings)
        self._rows.append(cells)

    def note(self, text: str) -> None:
        """Add a line beneath the table."""
        self._notes.append(text)

    def __str__(self) -> str:
        lines = [self._headings, ["---"] * len(self._headings), *self._rows]
        told = "\n".join("| " + " | ".join(line) + " |" for line in lines)
        return f"## {self._title}\n\n{told}" + "".join(f"\n\n{note}" for note in self._notes)


def machine(stage: Stage) -> str:
    """Tell what is measured on: processors, system, versions, and how durable the databases are."""
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in PACKAGES)
    return (
        f"{_processor()}, {os.cpu_count()} processors, {platform.system()} {platform.release()}\n"
        f"Python {platform.python_version()}, {versions}\n"
        f"{stage.postgresql_version()}; SQLite {sqlite3.sqlite_version}, synchronous=FULL\n"
        f"{stage.pairs} interleaved measurements of {stage.seconds:g} s each; figures are medians (least–most)"
    )


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        done = subprocess.run(["uname", "-m"], capture_output=True, text=True, check=True)
        return done.stdout.strip()
