"""The dictionary of a search: 16-bit codes for 64-bit words, since the rows of a search have few different words.

Invariant: the word of a code never changes, so a packed row stays readable while threads add words. A word without a
free slot near its home gets no code. Codes belong to one search, and are saved with it.
"""

from __future__ import annotations

from kmc.engine.layout.control_words import Shared
from kmc.engine.native.intrinsics import compare_and_swap, inlined, load
from kmc.engine.native.memory import Memory, Words
from kmc.engine.native.words import Address

ESCAPE = (1 << 16) - 1
"""Stands for the code of a word that has none. The dictionary has no word under it."""

_PROBES = 8
_LAST = ESCAPE - _PROBES
_CODE_MASK = (1 << 16) - 1
_SCATTER = -7046029254386353131


@inlined
def code_of(dictionary: int, word: int) -> int:
    """The code of a word, added now if it is new; ESCAPE if there is no free slot for it. The code of 0 is 0."""
    slot = min(word * _SCATTER >> 48 & _CODE_MASK, _LAST)
    for _ in range(_PROBES):
        held = load(dictionary, slot)
        if held == word:
            return slot
        if slot == 0:
            slot = 1
        elif held == 0:
            held = compare_and_swap(dictionary, slot, 0, word)
            if held == 0 or held == word:
                return slot
        else:
            slot += 1
    return ESCAPE


@inlined
def known_code_of(dictionary: int, word: int) -> int:
    """The code of a word; ESCAPE if it has none. Nothing is added."""
    slot = min(word * _SCATTER >> 48 & _CODE_MASK, _LAST)
    for _ in range(_PROBES):
        held = load(dictionary, slot)
        if held == word:
            return slot
        if slot == 0:
            slot = 1
        elif held == 0:
            return ESCAPE
        else:
            slot += 1
    return ESCAPE


class Dictionary:
    """The words that have codes.

    `plain` is the number of words at the beginning of a row that are not coded, `implied` the number of them that are
    omitted.
    """

    def __init__(self, plain: int, implied: int = 0) -> None:
        self._memory = Memory(1 << 16)
        self.plain = plain
        self.implied = implied

    @property
    def address(self) -> Address:
        """The address of the words, which are indexed by code."""
        return self._memory.address

    def tell(self, shared: Shared) -> None:
        """Let the loops of a search pack rows with it."""
        shared.dictionary, shared.plain_words, shared.implied_words = self.address, self.plain, self.implied

    @property
    def words(self) -> Words:
        """The words by code, as an array that shares them."""
        return self._memory.array
