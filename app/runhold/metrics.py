"""What ``/metrics`` tells, counted in plain numbers on the way and turned into Prometheus' format when it is asked for.

All counting is done by the event loop's one thread, so it takes no locks: a request costs half a microsecond. The names
stand in ``docs/operating.md``; a test holds the two together.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from runhold.domain.values import Milliseconds

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Bounds of the buckets of latencies."""
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
"""Bounds of the buckets of batches."""
BYTES = tuple(1024 * 4**power for power in range(8))
"""Bounds of the buckets of bodies: 1 KiB to 16 MiB, the largest that is taken."""
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_LOOK_EVERY_S = 15.0

Gauges = Callable[[], dict[str, float]]
"""Numbers of this moment, by metric name."""
Running = tuple[int, Milliseconds | None]
"""How many runs are running, and when the oldest of them started."""


class _Histogram:
    __slots__ = ("_bounds", "counts", "total")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def observe(self, value: float) -> None:
        self.counts[bisect_left(self._bounds, value)] += 1
        self.total += value

    def buckets(self) -> list[tuple[str, float]]:
        found: list[tuple[str, float]] = []
        sum_ = 0
        for bound, count in zip((*self._bounds, float("inf")), self.counts, strict=True):
            sum_ += count
            found.append(("+Inf" if bound == float("inf") else str(bound), sum_))
        return found


class Metrics:
    """The counters of one process.

    Args:
        gauges: tells the numbers of the moment.
        running: asks the database for the running runs; asked when metrics are, at most every some seconds.
    """

    def __init__(self, gauges: Gauges, running: Callable[[], Awaitable[Running]]) -> None:
        self.batch_sizes = _Histogram(SIZES)
        self.batch_seconds = _Histogram(SECONDS)
        self._requests: Counter[tuple[str, int, str]] = Counter()
        self._seconds: dict[str, _Histogram] = {}
        self._commands: Counter[tuple[str, str]] = Counter()
        self._bytes = [0, 0]
        self._body_sizes = _Histogram(BYTES)
        self._gauges = gauges
        self._ask = running
        self._running: Running = (0, None)
        self._asked_at = float("-inf")
        self._registry = CollectorRegistry()
        self._registry.register(_Families(self._families))
        ProcessCollector(registry=self._registry)

    def request(self, operation: str, status: int, code: str, seconds: float, received: int, sent: int) -> None:
        """Count a request: ``operation`` is ``""`` when no route was meant, ``code`` is the problem's."""
        self._requests[operation, status, code] += 1
        histogram = self._seconds.get(operation)
        if histogram is None:
            histogram = self._seconds[operation] = _Histogram(SECONDS)
        histogram.observe(seconds)
        if received:
            self._body_sizes.observe(received)
        self._bytes[0] += received
        self._bytes[1] += sent

    def command(self, operation: str, code: str) -> None:
        """Count a command, single or in a request of many; ``code`` is ``""`` when it succeeded."""
        self._commands[operation, code] += 1

    def batch(self, commands: int, seconds: float) -> None:
        """Count a transaction of the writer."""
        self.batch_sizes.observe(commands)
        self.batch_seconds.observe(seconds)

    async def text(self) -> bytes:
        """Write everything in Prometheus' text format."""
        if time.monotonic() - self._asked_at > _LOOK_EVERY_S:
            self._asked_at = time.monotonic()
            self._running = await self._ask()
        return generate_latest(self._registry)

    def _families(self) -> Iterator[Metric]:
        requests = CounterMetricFamily(
            "runhold_requests",
            "Requests, by operation, status and problem code.",
            labels=("operation", "status", "code"),
        )
        for (operation, status, code), count in self._requests.items():
            requests.add_metric((operation, str(status), code), count)
        yield requests
        seconds = HistogramMetricFamily(
            "runhold_request_seconds", "From a request's head to its answer, by operation.", labels=("operation",)
        )
        for operation, histogram in self._seconds.items():
            seconds.add_metric((operation,), histogram.buckets(), histogram.total)
        yield seconds
        commands = CounterMetricFamily(
            "runhold_commands", "Commands, single or in a request of many, by outcome.", labels=("operation", "outcome")
        )
        conflicts: Counter[str] = Counter()
        for (operation, code), count in self._commands.items():
            commands.add_metric((operation, code or "ok"), count)
            if code:
                conflicts[code] += count
        yield commands
        refused = CounterMetricFamily("runhold_refusals", "Commands that were refused, by code.", labels=("code",))
        for code, count in conflicts.items():
            refused.add_metric((code,), count)
        yield refused
        for name, told, sizes in (
            ("runhold_batch_commands", "Commands that were committed together.", self.batch_sizes),
            ("runhold_batch_seconds", "From taking a batch to its commit.", self.batch_seconds),
            ("runhold_request_bytes", "Bytes of a request's body, of those that have one.", self._body_sizes),
        ):
            yield HistogramMetricFamily(name, told, buckets=sizes.buckets(), sum_value=sizes.total)
        bytes_ = CounterMetricFamily("runhold_bytes", "Bytes of request and answer bodies.", labels=("direction",))
        bytes_.add_metric(("received",), self._bytes[0])
        bytes_.add_metric(("sent",), self._bytes[1])
        yield bytes_
        for name, value in self._gauges().items():
            yield GaugeMetricFamily(name, GAUGES[name], value=value)
        count, oldest = self._running
        yield GaugeMetricFamily("runhold_running_runs", GAUGES["runhold_running_runs"], value=count)
        age = 0.0 if oldest is None else max(0.0, time.time() - oldest / 1000)
        yield GaugeMetricFamily("runhold_oldest_run_seconds", GAUGES["runhold_oldest_run_seconds"], value=age)


GAUGES = {
    "runhold_queue_commands": "Commands that wait or run.",
    "runhold_queue_bytes": "Bytes of payloads and checkpoints that wait or run.",
    "runhold_pool_size": "Connections for reading, at most.",
    "runhold_pool_lent": "Connections for reading that are in use.",
    "runhold_running_runs": "Runs that are running, in all namespaces; looked up every 15 s at most.",
    "runhold_oldest_run_seconds": "Age of the oldest running run by its own start time; 0 when none is running.",
}
"""What each gauge tells."""


class _Families(Collector):
    """Hands families to the library."""

    def __init__(self, families: Callable[[], Iterator[Metric]]) -> None:
        self._families = families

    def collect(self) -> Iterator[Metric]:
        """Make the families anew."""
        yield from self._families()
