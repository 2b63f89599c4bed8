"""What a search asks of its loops, known before they are compiled: what is switched off is no part of the code.

These are the names that loops read; when a loop is compiled, 0 or 1 stands for each, as the `Traits` say of a search.
"""

from __future__ import annotations

from dataclasses import dataclass

WIDE: int = 1
"""Fingerprints have two words."""

RANKED: int = 1
"""The view forgets something: of the states of one view, the one of the least rank is kept."""

DELAYED: int = 1
"""Threads let each other go first, by chance."""


@dataclass(frozen=True, slots=True)
class Traits:
    """The traits of a search."""

    wide: bool = False
    ranked: bool = False
    delayed: bool = False

    @property
    def values(self) -> dict[str, int]:
        """What stands for the names above."""
        return {"WIDE": int(self.wide), "RANKED": int(self.ranked), "DELAYED": int(self.delayed)}
