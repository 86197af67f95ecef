"""docs/operating.md lists every setting as the code does; `python -m tests.docs.test_settings_table` mends it."""

from __future__ import annotations

from runhold.settings import load_settings, shown
from tests.support.checkout import ROOT

PAGE = ROOT / "docs" / "operating.md"
BEGIN, END = "<!-- settings -->\n", "<!-- end -->\n"


def table() -> str:
    rows = [
        f"| `{name}` | {f'`{default}`' if default else ''} | {unit} | {meaning} |"
        for name, _, unit, default, meaning in shown(load_settings({}))
    ]
    return "\n".join(["| setting | default | unit | meaning |", "| --- | --- | --- | --- |", *rows, ""])


def parts() -> tuple[str, str, str]:
    before, _, rest = PAGE.read_text().partition(BEGIN)
    found, _, after = rest.partition(END)
    return before, found, after


def test_the_table_of_settings_is_the_one_of_the_code() -> None:
    assert parts()[1] == table()


if __name__ == "__main__":
    before, _, after = parts()
    PAGE.write_text(before + BEGIN + table() + END + after)
