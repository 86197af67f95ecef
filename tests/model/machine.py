"""Hypothesis plays service and model side by side: each example has ids, a model and a connection of its own."""

from __future__ import annotations

import uuid
from collections.abc import Callable

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from tests.model.choose import Drawn
from tests.model.generator import Generator, pools_for
from tests.model.model import Call
from tests.model.pair import Pair, all_lists_agree
from tests.model.wire import Wire


def new_token() -> str:
    """Nine digits: they stay what they are when a text is written in capitals."""
    return f"{uuid.uuid4().int % 10**9:09}"


class ServiceAndModel(RuleBasedStateMachine):
    """One example: ids of its own, a model of its own, and a connection to the shared service."""

    base_url: str

    def __init__(self) -> None:
        super().__init__()
        self.pair = Pair(Wire(self.base_url))
        self.generator: Generator | None = None
        self.agrees = True
        self.token = new_token()
        """What all ids of this example hold, and no others."""

    @initialize(data=st.data())
    def ids(self, data: st.DataObject) -> None:
        choose = Drawn(data)
        pools = pools_for(choose, f"{self.token}-")
        self.generator = Generator(choose, pools, self.pair.model, cursors=self.pair.cursors)

    def _step(self, data: st.DataObject, make: Callable[[Generator], Call], plain: bool = False) -> None:
        assert self.generator
        self.generator.choose = Drawn(data)
        call = make(self.generator)
        self.agrees = False
        self.pair.step(call, plain)
        self.agrees = True

    @rule(data=st.data(), plain=st.booleans())
    def command(self, data: st.DataObject, plain: bool) -> None:
        self._step(data, Generator.command, plain)

    @rule(data=st.data(), plain=st.booleans())
    def another_command(self, data: st.DataObject, plain: bool) -> None:
        self._step(data, Generator.command, plain)

    @rule(data=st.data())
    def many_commands_in_one_request(self, data: st.DataObject) -> None:
        self._step(data, Generator.batch)

    @rule(data=st.data(), plain=st.booleans())
    def read(self, data: st.DataObject, plain: bool) -> None:
        self._step(data, Generator.read, plain)

    def teardown(self) -> None:
        with self.pair.wire:
            if self.generator and self.agrees:
                pools = self.generator.pools
                all_lists_agree(self.pair, list(pools.sessions), list(pools.runs), alone=False)
