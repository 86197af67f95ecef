"""What a seeded bug is: a rule by its name, and what the mistake makes of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

Change = Callable[[Any], Any]


@dataclass(frozen=True)
class Bug:
    name: str
    mistake: str
    """In one line, as a reviewer would say it."""
    target: str
    """``module:attribute``, the attribute as deep as needed: the name under which the rule is used."""
    change: Change
    """From the rule to the mistaken one."""

    def find(self) -> tuple[Any, str]:
        """Where the rule stands: its owner and its name there. Raises: ImportError, AttributeError."""
        module, _, path = self.target.partition(":")
        owner: Any = import_module(module)
        *parents, name = path.split(".")
        for parent in parents:
            owner = getattr(owner, parent)
        getattr(owner, name)
        return owner, name

    def mistaken(self) -> Any:
        """The mistaken rule, not yet in its place."""
        owner, name = self.find()
        return self.change(getattr(owner, name))

    def apply(self) -> None:
        """Put the mistake into this process."""
        owner, name = self.find()
        setattr(owner, name, self.change(getattr(owner, name)))


class Catalogue(dict[str, Bug]):
    """Bugs by name."""

    def seed(self, mistake: str, target: str) -> Callable[[Change], Change]:
        """Take in a mistake, described in one line; its function's name is the bug's."""

        def take(change: Change) -> Change:
            name = change.__name__
            assert name not in self, f"{name} is in the catalogue already"
            self[name] = Bug(name, mistake, target, change)
            return change

        return take
