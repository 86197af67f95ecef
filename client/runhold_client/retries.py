"""When to send the same bytes again, and when to give up.

Every operation of the contract may be repeated exactly, so every temporary failure may be retried: exponential backoff
with full jitter, at least as long as ``Retry-After`` asks, within a number of attempts and a total time.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass

from runhold_client.errors import TemporaryError
from runhold_client.refusals import is_lost_connection


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How long a command is repeated before its last temporary failure is raised."""

    attempts: int = 30
    """How often a command is sent at most; 1 means never again."""
    total_seconds: float = 60.0
    """No attempt begins later than this after the first."""
    first_wait_seconds: float = 0.1
    """The longest first wait; it doubles with every further one."""
    longest_wait_seconds: float = 2.0
    """The longest wait of all, unless the service asks for more."""

    def __post_init__(self) -> None:
        if self.attempts < 1:
            raise ValueError("attempts must be at least 1")
        if min(self.total_seconds, self.first_wait_seconds, self.longest_wait_seconds) < 0:
            raise ValueError("times must not be negative")

    def wait_seconds(self, failures: int, retry_after: float | None, jitter: Callable[[], float]) -> float:
        """How long to wait after that many failures.

        The jitter is full: a crowd of clients that failed together comes back spread out, also after ``Retry-After``.
        """
        longest = min(self.longest_wait_seconds, self.first_wait_seconds * 2.0 ** min(failures - 1, 60))
        return (retry_after or 0.0) + jitter() * longest


class Retries:
    """The failures of one command so far."""

    def __init__(
        self,
        policy: RetryPolicy,
        *,
        clock: Callable[[], float] = time.monotonic,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self.policy = policy
        self.failures = 0
        self._clock = clock
        self._jitter = jitter
        self._last_start = clock() + policy.total_seconds
        self._connection_lost = False

    def after(self, error: TemporaryError) -> float | None:
        """How long to wait before the next attempt; ``None`` when there is to be none.

        The first lost connection costs no wait: most often the service had closed an idle one.
        """
        self.failures += 1
        if self.failures >= self.policy.attempts:
            return None
        if is_lost_connection(error) and not self._connection_lost:
            self._connection_lost = True
            wait = 0.0
        else:
            wait = self.policy.wait_seconds(self.failures, error.retry_after, self._jitter)
        return wait if self.may_start_in(wait) else None

    def may_start_in(self, wait_seconds: float) -> bool:
        """Whether an attempt after that wait is within the total time."""
        return self._clock() + wait_seconds <= self._last_start
