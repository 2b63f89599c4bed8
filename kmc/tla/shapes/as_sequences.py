"""Functions on 1..n that turn out to be sequences: where all that were seen had one length, only their use tells."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from kmc.tla.shapes.shape import (
    MapShape,
    NumberShape,
    PlainShape,
    SequenceShape,
    SetShape,
    Shape,
    alternatives_of,
    join_all,
)


def is_like_a_sequence(shape: PlainShape) -> bool:
    """Return whether a shape is that of functions on 1..n, with one n."""
    if not isinstance(shape, MapShape) or not isinstance(shape.key, NumberShape) or not shape.domain:
        return False
    return shape.domain == frozenset(range(1, len(shape.domain) + 1))


def with_sequences(shape: Shape, functions: Set[PlainShape]) -> Shape:
    """Return a shape in which some functions on 1..n are sequences, wherever they are in it."""
    return join_all(_with_sequences(plain, functions) for plain in alternatives_of(shape))


def _with_sequences(shape: PlainShape, functions: Set[PlainShape]) -> PlainShape:
    match shape:
        case MapShape(key, value, domain) if shape in functions:
            length = len(domain or ())
            return SequenceShape(with_sequences(value, functions), length, length)
        case MapShape(key, value):
            return replace(shape, key=with_sequences(key, functions), value=with_sequences(value, functions))
        case SetShape(element):
            return SetShape(with_sequences(element, functions))
        case SequenceShape(element, items=items):
            inside = tuple(with_sequences(item, functions) for item in items)
            return replace(shape, element=with_sequences(element, functions), items=inside)
        case _:
            return shape
