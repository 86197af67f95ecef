"""Figures with their spread: medians over interleaved measurements, and ratios pair by pair."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Load:
    """What one measurement of a load found."""

    rate: float
    """Answers a second, all of them 2xx."""
    p50_ms: float
    p99_ms: float


@dataclass(frozen=True)
class Figure:
    """A median with the least and the most that was seen."""

    median: float
    low: float
    high: float

    def __format__(self, spec: str) -> str:
        return f"{self.median:{spec}} ({self.low:{spec}}–{self.high:{spec}})"


def figure(values: list[float]) -> Figure:
    """The median of some measurements, with their spread."""
    return Figure(statistics.median(values), min(values), max(values))


def ratios(above: list[float], below: list[float]) -> Figure:
    """The ratios of measurements that were taken side by side."""
    return figure([a / b for a, b in zip(above, below, strict=True)])


def interleaved(measurements: Mapping[str, Callable[[], Load]], rounds: int) -> dict[str, list[Load]]:
    """Measure all in turn, round by round, every other round backwards; what comes first has no advantage."""
    found: dict[str, list[Load]] = {name: [] for name in measurements}
    names = list(measurements)
    for number in range(rounds):
        for name in names if number % 2 == 0 else reversed(names):
            found[name].append(measurements[name]())
    return found


def rates(loads: list[Load]) -> list[float]:
    """The rate of each."""
    return [load.rate for load in loads]
