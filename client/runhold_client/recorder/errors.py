"""Why a recorder refused before or after it asked the store.

    RecorderError
    ├── RecorderConflict   another recorder is writing the run
    ├── StepMismatch       what is stored under a key is not what the code asks for
    ├── StepUnderWay       the same step was asked for twice at the same time
    └── RecorderClosed     the run was left

What the store itself refuses stays a ``ContractError``.
"""

from __future__ import annotations


class RecorderError(Exception):
    """A recorder cannot go on; nothing was written by what raised this."""

    def __init__(self, detail: str, *, run_id: str, event_key: str = "") -> None:
        super().__init__(detail)
        self.run_id = run_id
        self.event_key = event_key
        """The key that it is about, or ``""`` when it is about the whole run."""


class RecorderConflict(RecorderError):
    """Another recorder wrote to the run after this one had read it: this one is out of date and writes no more.

    Opening the run again reads what is stored and goes on from there.
    """


class StepMismatch(RecorderError):
    """The record stored under the key is not of the kind, or not of the form, that the code asks for.

    The code has changed since, or two steps were given the same key.
    """


class StepUnderWay(RecorderError):
    """The step is running already in this opening of the run."""


class RecorderClosed(RecorderError):
    """The run was left: its ``with`` block has ended."""
