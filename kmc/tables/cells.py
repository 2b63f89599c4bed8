"""Many values of one type, at their place in words: the input from which a column is decoded, a whole array at a time.

A value of at most 64 bits is extracted from its word at once; a wide one is represented by the index of its first word.
Both return the parts of all values together, as `kmc.runtime.codec` returns those of one value.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kmc.runtime.state_layout import ArrayLayout, Layout, Place

Bits: TypeAlias = NDArray[np.uint64]
Indices: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]


def lowest(bits: Bits, count: int) -> Bits:
    """The lowest `count` bits of each word."""
    return bits if count >= 64 else bits & np.uint64((1 << count) - 1)


@dataclass(frozen=True, slots=True)
class Narrow:
    """Values of at most 64 bits, each in the lowest bits of a word of its own; the other bits are 0."""

    bits: Bits

    def __len__(self) -> int:
        return len(self.bits)

    def part(self, place: Place, layout: Layout) -> Cells:
        """The part at one place in every value."""
        if not layout.bits:
            return Narrow(np.zeros_like(self.bits))
        return Narrow(lowest(self.bits >> np.uint64(place.bit), layout.bits))

    def take(self, which: Indices) -> Cells:
        """Some of the values."""
        return Narrow(self.bits[which])

    def elements(self, array: ArrayLayout, owners: Indices, positions: Indices) -> Cells:
        """Elements of values that are arrays: of value `owners[k]` the element `numbers[k]`."""
        element = array.element.bits
        if not element:
            return Narrow(np.zeros(len(owners), np.uint64))
        shifts = (positions * element + array.head_bits).astype(np.uint64)
        return Narrow(lowest(self.bits[owners] >> shifts, element))


@dataclass(frozen=True, slots=True)
class Wide:
    """Values of whole words: value k begins at `words[first[k]]`."""

    words: Bits
    first: Indices
    _taken: dict[int, Bits] = field(default_factory=dict, compare=False)

    def __len__(self) -> int:
        return len(self.first)

    def word(self, index: int) -> Bits:
        """A word of every value, or any word for one that lies nowhere. It is kept: several parts lie in one word."""
        word = self._taken.get(index)
        if word is None:
            word = self._taken[index] = self.words[index:].take(self.first, mode="clip")
        return word

    def part(self, place: Place, layout: Layout) -> Cells:
        """The part at one place in every value."""
        if not layout.bits:
            return Narrow(np.zeros(len(self), np.uint64))
        if not layout.narrow:
            return Wide(self.words, self.first + place.word)
        word = self.word(place.word)
        return Narrow(lowest(word >> np.uint64(place.bit) if place.bit else word, layout.bits))

    def take(self, which: Indices) -> Cells:
        """Some of the values."""
        return Wide(self.words, self.first[which])

    def elements(self, array: ArrayLayout, owners: Indices, positions: Indices) -> Cells:
        """Elements of values that are arrays: of value `owners[k]` the element `numbers[k]`."""
        first = self.first[owners] + array.head_words
        if not array.element.narrow:
            return Wide(self.words, first + positions * array.element.words)
        element = array.element.bits
        if not element:
            return Narrow(np.zeros(len(owners), np.uint64))
        words, shifts = np.divmod(positions, array.per_word)
        return Narrow(lowest(self.words[first + words] >> (shifts * element).astype(np.uint64), element))


Cells: TypeAlias = Narrow | Wide
