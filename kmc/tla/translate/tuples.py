"""Tuples of one value in two representations: a record where sets hold them, a map where their items are computed."""

from __future__ import annotations

from collections.abc import Sequence

from kmc.tla.shapes.shape import (
    NOTHING,
    MapShape,
    NumberShape,
    RecordKey,
    RecordShape,
    RecordTable,
    SequenceShape,
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
    as_sequence = _sequence_wanted(want, length)
    if as_sequence is not None:
        return sequence_of(records, code, as_sequence.element)
    numbers = range(1, length + 1)
    kinds = {type(plain) for plain in alternatives_of(want) if _length(plain) == length}
    match code.shape:
        case RecordShape() if kinds == {MapShape}:
            fields = records.fields[_class_of(code.shape)]
            items = [(f"{code.source}.item{n}", fields[f"item{n}"]) for n in numbers]
            pairs = ", ".join(f"{n}: {source}" for n, (source, _) in zip(numbers, items, strict=True))
            value = join_all(shape for _, shape in items)
            return TypedSource(f"{{{pairs}}}", MapShape(NumberShape(1, length), value, frozenset(numbers)))
        case MapShape(value=value) if kinds == {RecordShape}:
            parts = [TypedSource(f"{code.source}[{n}]", value) for n in numbers]
            kept = _written_class(records, parts, want)
            return code if kept is None else record_source(records, kept, parts)
        case _:
            return code


def _sequence_wanted(want: Shape, length: int) -> SequenceShape | None:
    """Return the sequences of a place that keeps tuples of a length as sequences, None for another place."""
    plain = alternatives_of(want)
    if any(isinstance(one, MapShape) or _length(one) == length for one in plain):
        return None
    return next((one for one in plain if isinstance(one, SequenceShape)), None)


def sequence_of(records: RecordTable, code: TypedSource, element: Shape = NOTHING) -> TypedSource:
    """Return a tuple that is a record or a map as a sequence, with items as the place of its elements keeps them."""
    length = _length(code.shape)
    if isinstance(code.shape, MapShape):
        parts = [TypedSource(f"{code.source}[{number}]", code.shape.value) for number in range(1, length + 1)]
    else:
        fields = records.fields[_class_of(code.shape)]
        parts = [TypedSource(f"{code.source}.{name}", shape) for name, shape in fields.items()]
    items = [as_wanted(records, part, element) for part in parts]
    sources = ", ".join(item.source for item in items)
    return TypedSource(f"[{sources}]", SequenceShape(join_all(item.shape for item in items), length, length))


def is_tuple(shape: Shape) -> bool:
    """Return whether a value is kept as a record and is a tuple of one length in any case."""
    return isinstance(shape, RecordShape) and _length(shape) > 0


def record_of(records: RecordTable, code: TypedSource, place: Shape) -> tuple[TypedSource, str] | None:
    """Return a sequence as the tuple that a place keeps as a record, and the test of its length.

    None where the place keeps other tuples, or the value is not a sequence.
    """
    if not isinstance(code.shape, SequenceShape) or not is_tuple(place):
        return None
    length = _length(place)
    items = [TypedSource(f"{code.source}.at({number})", code.shape.element) for number in range(1, length + 1)]
    kept = _written_class(records, items, place)
    return None if kept is None else (record_source(records, kept, items), f"len({code.source}) == {length}")


def _class_of(shape: Shape) -> RecordKey:
    """Return the class of tuples that are of one class."""
    assert isinstance(shape, RecordShape)
    (key,) = shape.classes
    return key


def _written_class(records: RecordTable, items: Sequence[TypedSource], place: Shape) -> RecordKey | None:
    """Return the class of a tuple with these items, None where tuples of a place are of other kinds or of several."""
    if not records.are_apart:
        return tuple_key(len(items))
    classes = {key for one in alternatives_of(place) if isinstance(one, RecordShape) for key in one.classes}
    found = {key for key in classes if key.is_tuple and len(key.fields) == len(items)}
    key = records.tuple_class([item.shape for item in items])
    return key if found == {key} else None


def _length(shape: Shape) -> int:
    """Return the length of the tuples that a shape has in any case, 0 for another shape."""
    match shape:
        case RecordShape(classes) if len(classes) == 1 and all(key.is_tuple for key in classes):
            return max(len(key.fields) for key in classes)
        case MapShape(domain=domain) if domain and domain == frozenset(range(1, len(domain) + 1)):
            return len(domain)
        case _:
            return 0
