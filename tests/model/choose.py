"""Where a generator's choices come from: Hypothesis, which can shrink them, or a seeded source, which is quick."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Protocol, TypeVar

from hypothesis import strategies as st

T = TypeVar("T")


class Choose(Protocol):
    def pick(self, options: Sequence[T]) -> T:
        """One of the options; the first is the simplest."""
        ...

    def chance(self, percent: int) -> bool:
        """True so often; False is the simpler answer."""
        ...


class Seeded:
    """The same choices for the same seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def pick(self, options: Sequence[T]) -> T:
        return self._random.choice(options)

    def chance(self, percent: int) -> bool:
        return self._random.randrange(100) < percent


class Drawn:
    """Choices drawn from Hypothesis."""

    def __init__(self, data: st.DataObject) -> None:
        self._data = data

    def pick(self, options: Sequence[T]) -> T:
        return options[0] if len(options) == 1 else self._data.draw(st.sampled_from(options))

    def chance(self, percent: int) -> bool:
        return self._data.draw(st.integers(0, 99)) >= 100 - percent
