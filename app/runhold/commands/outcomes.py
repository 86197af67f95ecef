"""What a batch hands back: jobs in, outcomes out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from runhold.commands.model import Command
from runhold.commands.working_set import WorkingSet
from runhold.domain.errors import RefusalError
from runhold.domain.values import CommandResult

Outcome = CommandResult | RefusalError
"""What one command answers: its result, or why it was refused or could not be tried."""


class Contended:
    """A command that was not tried because another process holds a row that it needs."""


CONTENDED = Contended()

Execute = Callable[[WorkingSet, Command], CommandResult]
"""Decides one command on the working set; raises ``ContractError``."""


class Job:
    """Commands of one caller and namespace, to be carried out in their order; one for a single call.

    ``command_keys`` names, per command, the sessions and runs that it locks: what later jobs must not overtake.
    """

    __slots__ = ("command_keys", "commands", "namespace", "size")

    def __init__(self, namespace: str, commands: list[Command], command_keys: list[frozenset[str]], size: int) -> None:
        self.namespace = namespace
        self.commands = commands
        self.command_keys = command_keys
        self.size = size


class CommandStore(Protocol):
    """A database that carries out batches of jobs, each batch in one transaction."""

    async def open(self) -> None:
        """Connect; raises ``Unavailable`` when the database does not answer."""
        ...

    async def close(self) -> None:
        """Give every connection back."""
        ...

    async def run_batch(self, jobs: list[Job], *, wait: bool) -> list[list[Outcome | Contended]]:
        """Lock, load, decide and commit; the outcomes are those of ``jobs``, per command, in order.

        With ``wait`` false a row that another process holds is not waited for: the first command of a job that needs
        it, and all later ones of that job, come back ``CONTENDED`` and untried; so does every command of a later job in
        the batch that shares a lock key with them. With ``wait`` true rows are waited for, up to the lock timeout.

        Raises:
            Fault: nothing is known to be stored; the connection is fit for the next batch, or being replaced.
            LostRaceError: another process stored the same identity first, or a deadlock was broken; nothing is stored,
                and running the commands again one by one will answer.
        """
        ...


class LostRaceError(Exception):
    """Another process stored the same identity between this batch's reading and its writing; nothing is stored."""


class BrokenBatchError(Exception):
    """The database refused a value of the batch; nothing is stored, and each command must be run alone."""


class DatabaseFailedError(BrokenBatchError):
    """The database failed by itself, at some value of the batch; nothing is stored, and the others may do alone."""
