"""Functions on 1..n that turn out to be sequences: where all that were seen had one length, only their use tells.

A place that has sequences and tuples keeps both as sequences: a value of TLA+ has one representation in a place.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from kmc.tla.shapes.shape import (
    MapShape,
    NumberShape,
    PlainShape,
    RecordShape,
    RecordTable,
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


def with_tuples_as_sequences(shape: Shape, records: RecordTable) -> Shape:
    """Return a shape in which tuples are sequences wherever sequences are among the values of their place."""
    plain = [_inside(one, records) for one in alternatives_of(shape)]
    if any(isinstance(one, SequenceShape) for one in plain):
        plain = [other for one in plain for other in _as_sequences(one, records)]
    return join_all(plain)


def _as_sequences(plain: PlainShape, records: RecordTable) -> list[PlainShape]:
    """Return the shape of some values with their tuples as sequences."""
    if not isinstance(plain, RecordShape):
        return [plain]
    tuples = sorted((key for key in plain.classes if key.is_tuple), key=str)
    found: list[PlainShape] = [
        SequenceShape(join_all(records.fields[key].values()), len(key.fields), len(key.fields)) for key in tuples
    ]
    named = plain.classes.difference(tuples)
    return [*found, *([RecordShape(named)] if named else [])]


def _inside(plain: PlainShape, records: RecordTable) -> PlainShape:
    match plain:
        case SetShape(element):
            return SetShape(with_tuples_as_sequences(element, records))
        case SequenceShape(element, items=items):
            inside = tuple(with_tuples_as_sequences(item, records) for item in items)
            return replace(plain, element=with_tuples_as_sequences(element, records), items=inside)
        case MapShape(key, value):
            return replace(
                plain, key=with_tuples_as_sequences(key, records), value=with_tuples_as_sequences(value, records)
            )
        case _:
            return plain
