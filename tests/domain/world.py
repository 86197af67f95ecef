"""The rules at work on a state in memory: commands are judged and carried out as the service does it."""

from __future__ import annotations

from typing import Any

import pytest

from runhold.commands.decide import execute, validate
from runhold.commands.model import Command
from runhold.commands.working_set import WorkingSet
from runhold.domain.digests import Digester
from runhold.domain.errors import ContractError
from runhold.domain.values import Run, Session, StoredRecord
from tests.builders import AT


class World:
    """One namespace, empty at first."""

    def __init__(self, *before: Command) -> None:
        self.state = WorkingSet("default", AT * 1000, Digester())
        for command in before:
            self.do(command)

    def do(self, command: Command) -> Any:
        """Carry out a command that is allowed. Returns its result."""
        validate(command)
        return execute(self.state, command)

    def refuse(self, command: Command, kind: type[ContractError]) -> ContractError:
        """Try a command that is refused in this way and no other, and changes nothing. Returns the refusal."""
        before = self._everything()
        with pytest.raises(ContractError) as refused:
            self.do(command)
        assert type(refused.value) is kind, f"{refused.value!r}: {refused.value.detail}"
        assert self._everything() == before
        return refused.value

    def repeat(self, command: Command) -> Any:
        """Carry out a command once more: nothing may change. Returns its result."""
        before = self._everything()
        result = self.do(command)
        assert self._everything() == before
        return result

    def run(self, run_id: str = "r") -> Run:
        found = self.state.run(run_id)
        assert found is not None
        return found

    def session(self, session_id: str = "s") -> Session:
        found = self.state.session(session_id)
        assert found is not None
        return found

    def record(self, run_id: str, event_key: str) -> StoredRecord | None:
        return self.state.record(run_id, event_key)

    def _everything(self) -> dict[str, Any]:
        return {
            name: value.copy() if isinstance(value, dict | list | set) else value
            for name, value in vars(self.state).items()
        }
