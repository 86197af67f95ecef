"""What a provider cannot carry, said so that the place can be found."""

from __future__ import annotations


class Unencodable(ValueError):
    """A transcript, or a response, that a provider cannot take as it is. Nothing was changed, nothing left out.

    The same transcript may fit another provider.
    """

    def __init__(
        self, provider: str, rule: str, detail: str, *, message_index: int, part_index: int = -1, tool_use_id: str = ""
    ) -> None:
        place = f"message {message_index}" if message_index >= 0 else "the transcript"
        if part_index >= 0:
            place += f", part {part_index}"
        super().__init__(f"{provider}: {place}: {detail} ({rule})")
        self.provider = provider
        """``bedrock``, ``anthropic`` or ``openai``."""
        self.rule = rule
        """The rule's name, for programs: ``image_role``, ``thinking_unsigned``, …"""
        self.message_index = message_index
        """From 0; -1 when it is about the whole transcript."""
        self.part_index = part_index
        """From 0; -1 when it is about the whole message."""
        self.tool_use_id = tool_use_id
        """The call it is about, or ``""``."""
