"""The word that was meant: the nearest of all known words by edits, and of several the one that sounds alike.

An edit inserts, removes or replaces a letter, or swaps two neighbours (Damerau 1964). Words further away than a third
of their letters may still share long parts, as `elections` and `max_elections` do: for these difflib decides.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

_SOUNDS = (("ck", "k"), ("qu", "kw"), ("ph", "f"), ("gh", "g"), ("c", "k"), ("z", "s"), ("y", "i"))
_SHARED_MIN = 0.6


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that `word` was most likely meant to be, or None; letters count alike in either case."""
    typed = word.lower()
    names = {name.lower(): name for name in known}
    allowed = max(1, len(typed) // 3)
    # The lengths of two words differ by their edits at most. Measuring takes long where a word is long.
    ranked = sorted((_rank(typed, name), name) for name in names if abs(len(name) - len(typed)) <= allowed)
    for (edits, *_), name in ranked[:1]:
        if edits <= allowed:
            return names[name]
    close = difflib.get_close_matches(typed, list(names), n=1, cutoff=_SHARED_MIN)
    return names[close[0]] if close else None


def _rank(typed: str, name: str) -> tuple[int, int, bool]:
    """The distance of a name: by edits, by those of its sound, and whether it begins with another letter."""
    return edits(typed, name), edits(_sound(typed), _sound(name)), typed[:1] != name[:1]


def _sound(word: str) -> str:
    """Letters that sound alike, written alike: `acked` and `aked` are both `aked`, and double letters are one."""
    for written, heard in _SOUNDS:
        word = word.replace(written, heard)
    return re.sub(r"(.)\1", r"\1", word)


def edits(one: str, other: str) -> int:
    """The fewest edits between two words; a swap of two neighbours is one, and they are not edited again."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one, 1):
        two_before, before, row = before, row, [at]
        for position, wanted in enumerate(other, 1):
            least = min(before[position] + 1, row[-1] + 1, before[position - 1] + (letter != wanted))
            if at > 1 and position > 1 and (letter, one[at - 2]) == (other[position - 2], wanted):
                least = min(least, two_before[position - 2] + 1)
            row.append(least)
    return row[-1]
