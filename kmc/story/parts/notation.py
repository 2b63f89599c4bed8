"""The notation of the values in a story: in words for everyone, or that of TLA+ for those who read a module."""

from __future__ import annotations

from enum import StrEnum
from typing import assert_never

from kmc.lang.tla import Tla, text
from kmc.story.parts.in_words import in_words


class Notation(StrEnum):
    """How values are written; the values are those that the page's scripts know."""

    WORDS = "words"
    TLA = "tla"

    def shown(self, tree: Tla) -> str:
        """Return a value in one line."""
        match self:
            case Notation.WORDS:
                return in_words(tree)
            case Notation.TLA:
                return text(tree)
            case _:
                assert_never(self)
