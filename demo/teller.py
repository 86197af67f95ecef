"""How the demo tells what happens: chapters, who did what, and claims that are checked before they are printed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

_WHO_COLUMNS = 9


class DemoError(Exception):
    """Something was not as the demo claims."""


class Teller:
    """Prints the story for people to read; piped somewhere, lines are 110 columns wide and have no colours."""

    def __init__(self) -> None:
        self._console = Console(highlight=False)
        if not self._console.is_terminal:
            self._console.width = 110
        self._chapters = 0

    def line(self, text: str = "", style: str = "") -> None:
        """Print a line as it is."""
        self._console.print(Text(text, style))

    def chapter(self, title: str) -> None:
        """Begin the next chapter."""
        self._chapters += 1
        self._console.print()
        self._console.print(Text(f"{self._chapters}. {title}", "bold cyan"))

    def did(self, who: str, what: str, answer: str = "") -> None:
        """Tell who did what, and the service's answer."""
        text = Text.assemble((f"{who:<{_WHO_COLUMNS}}", "yellow"), what)
        if answer:
            text.append(f"  → {answer}", "green")
        self._in_columns(text, "  ", _WHO_COLUMNS)

    def claim(self, holds: bool, what: str) -> None:
        """Print a fact that was checked. Raises: DemoError when it does not hold."""
        if not holds:
            raise DemoError(f"it is not so that {what}")
        self._in_columns(Text.assemble(("✓ ", "bold green"), what), "  " + " " * _WHO_COLUMNS, 2)

    def table(self, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """Print rows below headings."""
        table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
        for heading in headings:
            table.add_column(heading, no_wrap=True)
        for row in rows:
            table.add_row(*[Text(cell) for cell in row])
        grid = Table.grid()
        grid.add_row(" " * (2 + _WHO_COLUMNS), table)
        self._console.print(grid)

    def _in_columns(self, text: Text, before: str, indent: int) -> None:
        # Wrapped by hand, so that further lines stand below the first one's text.
        lines = text.wrap(self._console, self._console.width - len(before) - indent)
        for number, line in enumerate(lines):
            self._console.print(Text(before + (" " * indent if number else "")).append_text(line))
