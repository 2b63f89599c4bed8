r"""Equal values in two representations: a tuple is a record in one place and a sequence in another.

Words of kmc's language say that values of two representations differ, also inside of sets. So the two sides of `=`,
`\in`, `\subseteq`, `\union` and the like are brought into one, tuples as sequences or records, or refused.
"""

from __future__ import annotations

from dataclasses import replace

from kmc.errors import Span
from kmc.tla.shapes.refusal import refusal
from kmc.tla.shapes.shape import (
    MapShape,
    PlainShape,
    RecordShape,
    SequenceShape,
    SetShape,
    Shape,
    alternatives_of,
)
from kmc.tla.translate.scope import TypedSource
from kmc.tla.translate.translation import Translation
from kmc.tla.translate.tuples import as_wanted, is_tuple, sequence_of

_LENGTH_MAX = 64
"""The length of the longest tuple that is a record, with some room."""


def alike(t: Translation, one: TypedSource, other: TypedSource, place: Span) -> tuple[TypedSource, TypedSource]:
    """Return two values in representations in which equal ones are equal; SpecError KMC812 where they have none."""
    one, other = as_kept(t, one, other.shape), as_kept(t, other, one.shape)
    refuse_unlike(one.shape, other.shape, place)
    return one, other


def as_kept(t: Translation, code: TypedSource, other: Shape) -> TypedSource:
    """Return a tuple, or a set of tuples, as the other value keeps those: in sequences, or as records."""
    if is_tuple(code.shape) and isinstance(other, SequenceShape):
        return sequence_of(t.records, code, other.element)
    if isinstance(code.shape, MapShape) and is_tuple(other):
        return as_wanted(t.records, code, other)
    if not isinstance(code.shape, SetShape) or not isinstance(other, SetShape) or code.is_network:
        return code
    local = t.names.fresh("item")
    item = as_kept(t, TypedSource(local, code.shape.element), other.element)
    if item.source == local:
        return code
    return replace(code, source=f"{{{item.source} for {local} in {code.source}}}", shape=SetShape(item.shape))


def as_elements(t: Translation, element: TypedSource, holder: TypedSource) -> tuple[TypedSource, TypedSource]:
    """Return a value and a set, where tuples are sequences or records on one side if they are on the other."""
    if not isinstance(holder.shape, SetShape):
        return element, holder
    return as_kept(t, element, holder.shape.element), as_kept(t, holder, SetShape(element.shape))


def refuse_unlike(one: Shape, other: Shape, place: Span) -> None:
    """Refuse two values of which equal ones may have two representations."""
    if are_unlike(one, other):
        raise refusal("comparing what is a tuple in one place and a sequence or function in another", place)


def are_unlike(one: Shape, other: Shape) -> bool:
    """Return whether equal values of two shapes may have two representations."""
    return any(_are_unlike(left, right) for left in alternatives_of(one) for right in alternatives_of(other))


def _are_unlike(left: PlainShape, right: PlainShape) -> bool:
    match left, right:
        case SetShape(one), SetShape(other):
            return are_unlike(one, other)
        case SequenceShape(one), SequenceShape(other):
            return are_unlike(one, other)
        case MapShape(), MapShape():
            return are_unlike(left.key, right.key) or are_unlike(left.value, right.value)
        case (RecordShape(), SequenceShape()) | (SequenceShape(), RecordShape()):
            return bool(_lengths(left) & _lengths(right))
        case (RecordShape(), MapShape()) | (MapShape(), RecordShape()):
            return bool(_lengths(left) & _lengths(right))
        case _:
            return False


def _lengths(shape: PlainShape) -> frozenset[int]:
    """Return the lengths of the tuples among values of a shape, as far as another representation may have them."""
    match shape:
        case RecordShape(classes):
            return frozenset(len(key.fields) for key in classes if key.is_tuple)
        case SequenceShape(longest=int() as longest):
            return frozenset(range(1, longest + 1))
        case SequenceShape():
            return frozenset(range(1, _LENGTH_MAX))
        case MapShape(domain=domain) if domain and domain == frozenset(range(1, len(domain) + 1)):
            return frozenset((len(domain),))
        case _:
            return frozenset()
