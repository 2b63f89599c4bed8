"""Some value of each shape: it stands where a value is never used, since an assertion fails before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kmc.errors import Span
from kmc.tla.shapes.shape import (
    AtomShape,
    BooleanShape,
    MapShape,
    NumberShape,
    RecordShape,
    SequenceShape,
    SetShape,
    Shape,
    alternatives_of,
)
from kmc.tla.translate.literals import record_source
from kmc.tla.translate.refusal import refusal
from kmc.tla.translate.scope import TypedSource

if TYPE_CHECKING:
    from kmc.tla.translate.translation import Translation


def default_of(t: Translation, shape: Shape, place: Span) -> str:
    """Return the source of some value of a shape."""
    plain = alternatives_of(shape)
    if not plain:
        raise refusal("a value of which nothing is known", place)
    match plain[0]:
        case NumberShape(least=least):
            return str(least or 0)
        case BooleanShape():
            return "False"
        case AtomShape(atoms):
            permuted = [atom for group in t.names.groups if group.is_symmetric for atom in group.atoms]
            others = t.in_order(frozenset(atoms - frozenset(permuted)))
            if not others:
                raise refusal("a value that SYMMETRY permutes, without a state that has it", place)
            return t.literal(others[0]).source
        case SetShape():
            return "set()"
        case SequenceShape():
            return "[]"
        case MapShape(value=value, domain=domain):
            keys = t.in_order(domain or frozenset())  # type: ignore[arg-type]  # keys are values of TLA+
            return "{" + ", ".join(f"{t.literal(key).source}: {default_of(t, value, place)}" for key in keys) + "}"
        case RecordShape(classes):
            key = min(classes, key=str)
            fields = t.records.fields[key]
            items = [TypedSource(default_of(t, fields[name], place), fields[name]) for name in key.fields]
            return record_source(t.records, key, items).source
