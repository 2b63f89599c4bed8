"""TLA+ value trees with TLA+'s equality: which trees are equal, which functions are sequences, how a tree is written.

One value can have several trees: a function on 1..n is a sequence, the function without arguments is the empty
sequence, and sets and functions have no order. Also, Python's `==` equates TRUE with 1. So trees from files are
compared by `identity`.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import assert_never

from kmc.lang.tla import Tla, TlaMap, TlaRecord, TlaSeq, TlaSet, text


def identity(tree: Tla) -> Hashable:
    """A hashable key, equal for equal TLA+ values only."""
    match tree:
        case bool() | int():
            return type(tree).__name__, tree
        case str():
            # Some formats do not distinguish strings from names.
            return "str", str(tree)
        case TlaSet(elements):
            return "set", frozenset(map(identity, elements))
        case TlaRecord(fields):
            return "record", frozenset((name, identity(value)) for name, value in fields)
        case TlaSeq(elements):
            return "sequence", tuple(map(identity, elements))
        case TlaMap(pairs):
            listed = as_sequence(pairs)
            if listed is not None:
                return "sequence", tuple(map(identity, listed))
            return "function", frozenset((identity(key), identity(value)) for key, value in pairs)
        case _:
            assert_never(tree)


def depth_of(tree: Tla) -> int:
    """How deeply a value is nested: 1 for a number, 2 for a set of numbers."""
    depth, level = 0, [tree]
    while level:
        depth += 1
        level = [part for one in level for part in _parts(one)]
    return depth


def _parts(tree: Tla) -> tuple[Tla, ...]:
    match tree:
        case TlaSet(elements) | TlaSeq(elements):
            return elements
        case TlaRecord(fields):
            return tuple(value for _, value in fields)
        case TlaMap(pairs):
            return tuple(part for pair in pairs for part in pair)
        case _:
            return ()


def as_sequence(pairs: Sequence[tuple[Tla, Tla]]) -> tuple[Tla, ...] | None:
    """The elements of a function with these pairs, as a sequence; None when its domain is not 1..n."""
    by_offset = {key: value for key, value in pairs if isinstance(key, int) and not isinstance(key, bool)}
    if len(by_offset) != len(pairs) or set(by_offset) != set(range(1, len(pairs) + 1)):
        return None
    return tuple(by_offset[offset] for offset in range(1, len(pairs) + 1))


def entries(tree: Tla) -> tuple[tuple[Tla, Tla], ...] | None:
    """The pairs of a function, or of a sequence, which is a function on 1..n; None for any other value."""
    match tree:
        case TlaMap(pairs):
            return pairs
        case TlaSeq(elements):
            return tuple(enumerate(elements, start=1))
        case _:
            return None


def plain(tree: Tla) -> Tla:
    """The tree as TLC prints it: every function on 1..n as a sequence."""
    match tree:
        case TlaSet(elements):
            return TlaSet(tuple(map(plain, elements)))
        case TlaSeq(elements):
            return TlaSeq(tuple(map(plain, elements)))
        case TlaRecord(fields):
            return TlaRecord(tuple((name, plain(value)) for name, value in fields))
        case TlaMap(pairs):
            listed = as_sequence(pairs)
            if listed is not None:
                return TlaSeq(tuple(map(plain, listed)))
            return TlaMap(tuple((plain(key), plain(value)) for key, value in pairs))
        case _:
            return tree


def one_line(tree: Tla) -> str:
    """The value in one line, as TLC prints it."""
    return text(plain(tree))
