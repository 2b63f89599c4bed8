"""Values that TLC compares: two of different kinds stop it, unless one is a model value."""

from __future__ import annotations

from kmc.tla.shapes.shape import (
    AtomShape,
    BooleanShape,
    NumberShape,
    PlainShape,
    SetShape,
    Shape,
    alternatives_of,
)


def are_incomparable(left: Shape, right: Shape) -> bool:
    """Return whether TLC stops at every comparison of two shapes: their kinds differ, and neither is a model value."""
    kinds = [{kind_of(plain) for plain in alternatives_of(shape)} for shape in (left, right)]
    return bool(kinds[0] and kinds[1]) and not kinds[0] & kinds[1] and "" not in kinds[0] | kinds[1]


def may_be_incomparable(left: Shape, right: Shape) -> bool:
    """Return whether some value of one shape and some value of the other are of kinds that TLC does not compare."""
    kinds = [{kind for plain in alternatives_of(shape) for kind in _kinds(plain)} - {""} for shape in (left, right)]
    return any(one != other for one in kinds[0] for other in kinds[1])


def _kinds(shape: PlainShape) -> set[str]:
    """Return the kinds of the values of a shape, strings among model values too."""
    has_strings = isinstance(shape, AtomShape) and any(isinstance(atom, str) for atom in shape.atoms)
    return {kind_of(shape), *(["string"] if has_strings else [])}


def kind_of(shape: PlainShape) -> str:
    """Return the kind of values that TLC compares with each other; empty for model values, which it always compares."""
    match shape:
        case BooleanShape():
            return "boolean"
        case NumberShape():
            return "number"
        case AtomShape(atoms):
            return "string" if all(isinstance(atom, str) for atom in atoms) else ""
        case SetShape():
            return "set"
        case _:
            return "function"
