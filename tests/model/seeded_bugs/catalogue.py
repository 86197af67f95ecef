"""All seeded bugs, by the part of the service that they are in."""

from __future__ import annotations

from tests.model.seeded_bugs import commands, endings, lists, starts
from tests.model.seeded_bugs.bug import Bug

BUGS: dict[str, Bug] = {
    name: bug for part in (starts, endings, commands, lists) for name, bug in part.CATALOGUE.items()
}
