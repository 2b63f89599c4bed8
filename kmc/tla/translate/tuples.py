"""Tuples of one value in two representations: a record where sets hold them, a map where their items are computed."""

from __future__ import annotations

from kmc.tla.shapes.shape import (
    MapShape,
    NumberShape,
    RecordShape,
    RecordTable,
    Shape,
    alternatives_of,
    join_all,
    tuple_key,
)
from kmc.tla.translate.literals import record_source
from kmc.tla.translate.scope import TypedSource


def as_wanted(records: RecordTable, code: TypedSource, want: Shape) -> TypedSource:
    """Return a tuple in the representation of the place that it goes to; other values stay as they are."""
    length = _length(code.shape)
    if not length:
        return code
    numbers = range(1, length + 1)
    kinds = {type(plain) for plain in alternatives_of(want) if _length(plain) == length}
    match code.shape:
        case RecordShape() if kinds == {MapShape}:
            items = [(f"{code.source}.item{n}", records.fields[tuple_key(length)][f"item{n}"]) for n in numbers]
            pairs = ", ".join(f"{n}: {source}" for n, (source, _) in zip(numbers, items, strict=True))
            value = join_all(shape for _, shape in items)
            return TypedSource(f"{{{pairs}}}", MapShape(NumberShape(1, length), value, frozenset(numbers)))
        case MapShape(value=value) if kinds == {RecordShape}:
            parts = [TypedSource(f"{code.source}[{n}]", value) for n in numbers]
            return record_source(records, tuple_key(length), parts)
        case _:
            return code


def _length(shape: Shape) -> int:
    """Return the length of the tuples that a shape has in any case, 0 for another shape."""
    match shape:
        case RecordShape(classes) if len(classes) == 1 and all(key.is_tuple for key in classes):
            return max(len(key.fields) for key in classes)
        case MapShape(domain=domain) if domain and domain == frozenset(range(1, len(domain) + 1)):
            return len(domain)
        case _:
            return 0
