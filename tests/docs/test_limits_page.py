"""docs/limits.md names every limit of the code with its number."""

from __future__ import annotations

from runhold.domain import limits
from tests.support.checkout import ROOT

PAGE = (ROOT / "docs" / "limits.md").read_text()
DEFAULTS = {"PAGE_LIMIT_DEFAULT"}
"""What is no limit."""


def test_every_limit_of_the_code_is_on_the_page() -> None:
    numbers = {name: value for name, value in vars(limits).items() if name.isupper() and name not in DEFAULTS}
    assert len(numbers) > 10
    missing = {name for name, value in numbers.items() if f"{value:,}" not in PAGE}
    assert not missing
