"""From the raw path to an operation: dictionaries of segments, so that ``%2F`` stays inside its id.

A literal segment wins over an id for the methods that it has; ids such as ``root`` or ``records`` stay ordinary for all
others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Generic, Protocol, TypeVar


class Routed(Protocol):
    """What can be routed to."""

    @property
    def method(self) -> str:
        """The HTTP method."""
        ...

    @property
    def template(self) -> str:
        """The path, its ids in braces."""
        ...


Target = TypeVar("Target", bound=Routed)


class _Node(Generic[Target]):
    __slots__ = ("any", "literal", "methods")

    def __init__(self) -> None:
        self.literal: dict[bytes, _Node[Target]] = {}
        self.any: _Node[Target] | None = None
        self.methods: dict[str, Target] = {}


class Router(Generic[Target]):
    """Finds the operation of a method and a raw path."""

    def __init__(self, targets: Iterable[Target]) -> None:
        self._root: _Node[Target] = _Node()
        for target in targets:
            node = self._root
            for segment in target.template.encode().split(b"/")[1:]:
                if segment.startswith(b"{"):
                    node.any = node.any or _Node()
                    node = node.any
                else:
                    node = node.literal.setdefault(segment, _Node())
            node.methods[target.method] = target

    def find(self, method: str, raw_path: bytes) -> tuple[Target | None, list[bytes], Mapping[str, Target]]:
        """Find the operation, the raw ids of its path, and the path's operations by method (none: no such route)."""
        # One way at most needs a second look: a literal that lacks the method, beside an id in the same place.
        segments = raw_path.split(b"/")[1:]
        found: list[tuple[_Node[Target], list[bytes]]] = [(self._root, [])]
        for segment in segments:
            further = []
            for node, ids in found:
                literal = node.literal.get(segment)
                if literal is not None:
                    further.append((literal, ids))
                if node.any is not None and segment:
                    further.append((node.any, [*ids, segment]))
            if not further:
                return None, [], {}
            found = further
        methods: dict[str, Target] = {}
        for node, ids in found:
            target = node.methods.get(method)
            if target is not None:
                return target, ids, node.methods
            methods.update(node.methods)
        return None, [], methods
