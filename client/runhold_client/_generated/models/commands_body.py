from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.command_item import CommandItem


T = TypeVar("T", bound="CommandsBody")


@_attrs_define
class CommandsBody:
    """Commands to carry out in their order, each for itself."""

    commands: list[CommandItem]
    """ They are applied in order; a later one sees what earlier ones wrote. They are not atomic together. """

    def to_dict(self) -> dict[str, Any]:
        commands = []
        for commands_item_data in self.commands:
            commands_item = commands_item_data.to_dict()
            commands.append(commands_item)

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "commands": commands,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.command_item import CommandItem

        d = dict(src_dict)
        commands = []
        _commands = d.pop("commands")
        for commands_item_data in _commands:
            commands_item = CommandItem.from_dict(commands_item_data)

            commands.append(commands_item)

        commands_body = cls(
            commands=commands,
        )

        return commands_body
