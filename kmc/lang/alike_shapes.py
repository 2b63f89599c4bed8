"""Record classes with the same fields that may occur in one place, such as one network: which need a type when written.

To kmc they are different, as in `MessageSet[Prepare | Commit]`, whereas TLA+ calls records with the same fields equal.
So the TLA+ value of such a record has one field more, which names its class, as that of a message does: else a trace
would show them alike, hide a step from one to the other, and be read back as the wrong class.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from kmc.lang.naming import camel_case
from kmc.lang.records import Message
from kmc.lang.tla import Naming
from kmc.lang.types import (
    MapType,
    MessageBagType,
    MessageSetType,
    PairType,
    RecordMeta,
    RecordType,
    SeqType,
    SetType,
    Type,
    UnionType,
)

_OTHER_TAG = "tag"
"""The name of the type if a field has the name of the tag. No field of a record can have this name."""


def tell_apart(state_class: RecordMeta, naming: Naming) -> Naming:
    """Give a written type to the classes in a state that would look like others which may occur in their place.

    Returns `naming` with a tag that is not the name of a field of such a class or of a message.
    """
    taken: set[str] = set()
    for shapes in _choices(state_class.kmc_type, set()):
        plain = [shape for shape in dict.fromkeys(shapes) if Message not in shape.__mro__]
        alike = Counter(frozenset(shape.fields) for shape in plain)
        for shape in plain:
            if alike[frozenset(shape.fields)] > 1:
                shape.written_type = camel_case(shape.__name__)
        taken.update(
            naming.field(field) for shape in shapes if shape.written_type is not None for field in shape.fields
        )
    return replace(naming, tag=_OTHER_TAG) if naming.tag in taken else naming


def _choices(declared: Type, seen: set[Type]) -> Iterator[tuple[RecordMeta, ...]]:
    """For each place within a value of the type `declared`, the record classes that may occur there."""
    if declared in seen:
        return
    seen.add(declared)
    match declared:
        case RecordType(cls):
            yield cls.shapes
            kinds = [kind for shape in cls.shapes for kind in shape.fields.values()]
        case UnionType(kinds) | MessageSetType(kinds) | MessageBagType(kinds):
            yield tuple(shape for kind in kinds if isinstance(kind, RecordType) for shape in kind.cls.shapes)
        case PairType(element) | SetType(element) | SeqType(element):
            kinds = [element]
        case MapType(key, value):
            kinds = [key, value]
        case _:
            return
    for inner in kinds:
        yield from _choices(inner, seen)
