"""The model is worth something only as long as it is written from the contract, not from the service.

The seeded bugs beside it are patches of the service, and know it.
"""

from __future__ import annotations

import ast
from pathlib import Path

FILES = sorted(Path(__file__).parent.glob("*.py"))


def imported(file: Path) -> set[str]:
    """The top names of all modules that a file imports, wherever in it."""
    tree = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
    names = [
        name
        for node in tree
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    ]
    return {name.split(".")[0] for name in names}


def test_the_model_shares_no_code_with_the_service_or_its_client() -> None:
    assert len(FILES) > 10
    sharing = {file.name for file in FILES if imported(file) & {"runhold", "runhold_client"}}
    assert not sharing
