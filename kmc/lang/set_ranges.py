r"""Sets whose elements are made one by one: all subsets, all functions, all sequences up to a length, all permutations.

A spec goes through such a set (a choice, a quantifier, initial states), or tests whether a value is in it. A test looks
at the value and never makes the set.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import combinations, product
from itertools import permutations as arrangements
from typing import Any

from kmc.lang.maps import MapValue
from kmc.lang.seqs import SeqValue, seq_literal


class SubsetRange:
    """All subsets of a set, smallest first."""

    __slots__ = ("elements",)

    def __init__(self, elements: Any) -> None:
        self.elements = _collection(elements)

    def __iter__(self) -> Iterator[frozenset[Any]]:
        listed = tuple(self.elements)
        for size in range(len(listed) + 1):
            for chosen in combinations(listed, size):
                yield frozenset(chosen)

    def __contains__(self, value: object) -> bool:
        return isinstance(value, frozenset) and all(element in self.elements for element in value)


class FunctionRange:
    """All functions on a set of keys with values from another set; only those of different values if `different`."""

    __slots__ = ("different", "keys", "values")

    def __init__(self, keys: Any, values: Any, *, different: bool = False) -> None:
        self.keys = tuple(dict.fromkeys(keys))
        self.values = _collection(values)
        self.different = different

    def __iter__(self) -> Iterator[MapValue]:
        keys, values = self.keys, tuple(self.values)
        chosen = arrangements(values, len(keys)) if self.different else product(values, repeat=len(keys))
        for images in chosen:
            yield MapValue(dict(zip(keys, images, strict=True)))

    def __contains__(self, value: object) -> bool:
        if not isinstance(value, MapValue) or value.keys() != frozenset(self.keys):
            return False
        images = tuple(value.values())
        is_different = not self.different or len(set(images)) == len(images)
        return is_different and all(image in self.values for image in images)


class SequenceRange:
    """All sequences of at most `longest` elements of a set, the shortest first."""

    __slots__ = ("elements", "longest")

    def __init__(self, elements: Any, longest: int) -> None:
        self.elements = _collection(elements)
        self.longest = longest

    def __iter__(self) -> Iterator[SeqValue]:
        listed = tuple(self.elements)
        for length in range(self.longest + 1):
            yield from map(seq_literal, product(listed, repeat=length))

    def __contains__(self, value: object) -> bool:
        if not isinstance(value, SeqValue) or len(value) > self.longest:
            return False
        return all(element in self.elements for element in value)


def subsets(elements: Any) -> SubsetRange:
    """All subsets of a set, TLA+'s SUBSET; as a choice: `for chosen in subsets(...)`."""
    return SubsetRange(elements)


def functions(keys: Any, values: Any) -> FunctionRange:
    """All maps on `keys` with values from `values`, TLA+'s `[S -> T]`."""
    return FunctionRange(keys, values)


def permutations(elements: Any) -> FunctionRange:
    """All maps from a set onto itself that give each element once, Permutations of TLC's module."""
    listed = tuple(elements)
    return FunctionRange(listed, listed, different=True)


def sequences(elements: Any, longest: int) -> SequenceRange:
    r"""All sequences of at most `longest` elements, TLA+'s `UNION {[1..n -> S] : n \in 0..longest}`."""
    return SequenceRange(elements, longest)


def _collection(elements: Any) -> Collection[Any]:
    """The elements, once each, in a form that can be gone through again; a range of values as it is."""
    if isinstance(elements, SubsetRange | FunctionRange | SequenceRange | range):
        return elements  # type: ignore[return-value]  # it has no length, which nothing here needs
    return elements if isinstance(elements, frozenset) else tuple(dict.fromkeys(elements))
