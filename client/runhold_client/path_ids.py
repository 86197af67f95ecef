"""How an id is spelled as one segment of a path.

An id is any text, so some ids would not survive the way: a proxy decodes ``%2F``, drops ``..``, or refuses a control
character. Those are sent as ``~`` and the base64url of their UTF-8; all others are percent-encoded, once.
Source: the storage contract, *Ids in paths*.
"""

from __future__ import annotations

import base64
from urllib.parse import quote

from runhold_client.errors import InvalidCommand

MANGLED = frozenset("/\\%")
"""Characters that some proxy decodes, merges or rewrites, beside the control characters."""


def path_segment(id_: str) -> str:
    """Spell an id as a path segment that is still to be percent-encoded; ``~…`` is left alone by that.

    Raises: InvalidCommand when the id holds a lone surrogate, which has no UTF-8.
    """
    try:
        utf8 = id_.encode()
    except UnicodeEncodeError:
        raise InvalidCommand("an id holds a lone surrogate") from None
    if _survives(id_):
        return id_
    return "~" + base64.urlsafe_b64encode(utf8).decode("ascii").rstrip("=")


def path_id(id_: str) -> str:
    """Spell an id as a finished path segment, percent-encoded exactly once.

    Raises: InvalidCommand when the id holds a lone surrogate.
    """
    return quote(path_segment(id_), safe="")


def _survives(id_: str) -> bool:
    if id_ in ("", ".", "..") or id_.startswith("~"):
        return False
    return not any(character in MANGLED or _is_control(character) for character in id_)


def _is_control(character: str) -> bool:
    return character < " " or "\x7f" <= character <= "\x9f"
