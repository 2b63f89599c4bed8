"""Universes: how many values a declared shape has, and the bounds of the numbers in it.

Compiled code keeps a set as a bit for each possible element, fastest in one word, or as a list of its members if these
are too many, and a function on records as one entry for each possible key, so the number of these decides what a place
of the spec can be. A bound that was seen in all states of the model is exact. Every other one is a guess: it is rounded
up to whole bits, with `widening` bits more where a run found that the guess was too small. Where only the bounds that
were seen leave few enough elements, these are declared. A value beyond its bounds ends a search, which starts again
with wider types.

A guess has nothing to spare at first, though a restart costs what was searched: a spare bit in each number makes every
row longer, by a quarter in KRaft.tla, whose search takes half as long again, and random walks see most of the values.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from kmc.tla.shapes.shape import (
    AtomShape,
    BooleanShape,
    MapShape,
    NumberShape,
    PlainShape,
    RecordShape,
    RecordTable,
    SequenceShape,
    SetShape,
    Shape,
    alternatives_of,
)
from kmc.tla.translate.names import NameTable

ELEMENTS_MAX = 64
"""The number of possible elements of a set that compiled code stores in a word, and of keys of a partial map."""

STORED_MAX = 1024
"""The number of possible elements of a set that compiled code stores in several words, and of keys of a partial map.

It stores a set of more possible elements as a list.
"""

_MANY = 1 << 62
_TIGHT_WIDENINGS_MAX = 4
_MASK_WIDENINGS_MAX = 1


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds of declared numbers: those that were observed (`are_exact`), or wider ones by `widening` bits."""

    are_exact: bool
    widening: int = 0

    def of(self, shape: NumberShape) -> tuple[int, int]:
        """Return the bounds of a declared number."""
        least, greatest = shape.least, shape.greatest
        if least is None or greatest is None:
            return self._rounded(0 if least is None else least, 7 if greatest is None else greatest)
        return (least, greatest) if self.are_exact and not self.widening else self._rounded(least, greatest)

    def tight(self, shape: NumberShape) -> tuple[int, int]:
        """Return the bounds of a number as they were seen, if they are known and did not turn out too narrow often."""
        least, greatest = shape.least, shape.greatest
        if least is None or greatest is None or self.widening > _TIGHT_WIDENINGS_MAX:
            return self.of(shape)
        return least, greatest

    def _rounded(self, least: int, greatest: int) -> tuple[int, int]:
        more = self.widening
        highest = (1 << (max(greatest, 1).bit_length() + more)) - 1
        return (0 if least >= 0 else -(1 << (-least).bit_length() + more)), highest

    def capacity(self, longest: int | None) -> int:
        """Return the capacity of a sequence."""
        seen = max(longest if longest is not None else 1, 1)
        return seen + (2 * self.widening + 1 if self.widening else 0)


@dataclass(frozen=True, slots=True)
class Universe:
    """Counts values as a spec declares them."""

    names: NameTable
    records: RecordTable
    bounds: Bounds

    def is_small(self, shape: Shape) -> bool:
        """Return whether a shape has few enough values to be elements of a stored set, with bounds that were seen."""
        return self.count(shape, is_tight=True) <= ELEMENTS_MAX

    def needs_tight_bounds(self, shape: Shape) -> bool:
        """Return whether a shape has few enough values for a word, or to be stored, only with bounds that were seen."""
        least, most = self.count(shape, is_tight=True), self.count(shape, is_tight=False)
        return any(least <= limit < most for limit in (ELEMENTS_MAX, STORED_MAX))

    def numbers(self, shape: NumberShape, *, is_tight: bool) -> tuple[int, int]:
        """Return the bounds of the numbers in a stored set.

        These are as many as a word or a mask has bits, if that holds all that were seen and did not turn out too few.
        """
        least, greatest = self.bounds.tight(shape) if is_tight else self.bounds.of(shape)
        seen = self.count(shape, is_tight=True)
        limits = [(ELEMENTS_MAX, 0), (STORED_MAX, _MASK_WIDENINGS_MAX)]
        for limit, widenings in limits:
            if seen <= limit and self.bounds.widening <= widenings:
                return least, min(greatest, least + limit - 1)
        return least, greatest

    def count(self, shape: Shape, *, is_tight: bool) -> int:
        """Return the number of values of a shape, up to some large number."""
        return min(sum(self._plain(plain, is_tight) for plain in alternatives_of(shape)), _MANY)

    def _plain(self, shape: PlainShape, is_tight: bool) -> int:
        match shape:
            case BooleanShape():
                return 2
            case NumberShape():
                least, greatest = self.bounds.tight(shape) if is_tight else self.bounds.of(shape)
                return greatest - least + 1
            case AtomShape():
                return sum(len(self.names.members_of(name)) for name in self.names.classes(shape))
            case RecordShape(classes):
                tables = [self.records.fields[key] for key in classes]
                return sum(prod(self.count(one, is_tight=is_tight) for one in table.values()) for table in tables)
            case SetShape(element):
                return _power(2, self.count(element, is_tight=is_tight))
            case SequenceShape(element, longest=longest):
                return _power(self.count(element, is_tight=is_tight) + 1, self.bounds.capacity(longest))
            case MapShape(key, value):
                return _power(self.count(value, is_tight=is_tight) + 1, self.count(key, is_tight=is_tight))


def _power(base: int, exponent: int) -> int:
    return base**exponent if base < 2 or exponent * base.bit_length() < _MANY.bit_length() else _MANY
