"""Some value of each shape: it stands where a value is never used, since an assertion fails before."""

from __future__ import annotations

from kmc.errors import Span
from kmc.tla.shapes.refusal import refusal
from kmc.tla.shapes.shape import (
    AtomShape,
    BooleanShape,
    MapShape,
    NumberShape,
    RecordShape,
    RecordTable,
    SequenceShape,
    SetShape,
    Shape,
    alternatives_of,
)
from kmc.tla.translate.literals import literal, record_source
from kmc.tla.translate.names import NameTable
from kmc.tla.translate.scope import TypedSource
from kmc.tla.values.order import sorted_values


def default_of(names: NameTable, records: RecordTable, shape: Shape, place: Span) -> str:
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
            permuted = [atom for group in names.groups if group.is_symmetric for atom in group.atoms]
            others = list(sorted_values(frozenset(atoms - frozenset(permuted))))
            if not others:
                raise refusal("a value that SYMMETRY permutes, without a state that has it", place)
            return literal(names, records, others[0]).source
        case SetShape():
            return "set()"
        case SequenceShape():
            return "[]"
        case MapShape(key=kept, value=value, domain=domain):
            keys = sorted_values(domain or frozenset())  # type: ignore[arg-type]  # keys are values of TLA+
            item = default_of(names, records, value, place) if domain else ""
            return "{" + ", ".join(f"{literal(names, records, one, kept).source}: {item}" for one in keys) + "}"
        case RecordShape(classes):
            first = min(classes, key=str)
            types = records.fields[first]
            items = [TypedSource(default_of(names, records, types[name], place), types[name]) for name in first.fields]
            return record_source(records, first, items).source
