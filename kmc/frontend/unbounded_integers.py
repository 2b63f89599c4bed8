"""The specs that have integers without declared bounds: `int` in the annotation of a field, at any depth."""

from __future__ import annotations

from typing import Any

from kmc.frontend.loader import Spec
from kmc.lang.types import (
    MapType,
    MessageBagType,
    MessageSetType,
    RecordMeta,
    RecordType,
    SeqType,
    SetType,
    Type,
    UnboundedInt,
    UnionType,
)


def has_unbounded_integers(spec: Spec) -> bool:
    """Return whether a record of a spec, or of a spec that it refines, has an integer without declared bounds."""
    seen: set[Any] = set()
    declared = (value for names in spec.modules.values() for value in names.values())
    # The words Record and Message, which a spec imports, are classes without fields.
    classes = (value for value in (spec.state_class, *declared) if isinstance(value, RecordMeta) and value.fields)
    return any(_has(RecordType(cls), seen) for cls in classes) or any(
        map(has_unbounded_integers, spec.refined.values())
    )


def _has(declared: Type, seen: set[Any]) -> bool:
    """Return whether a value of a type may hold such an integer; classes that were `seen` count as without."""
    match declared:
        case UnboundedInt():
            return True
        case RecordType(cls):
            if cls in seen:
                return False
            seen.add(cls)
            fields = (kind for shape in (cls, *cls.shapes) for kind in shape.fields.values())
            return any(_has(kind, seen) for kind in fields)
        case SetType(element) | SeqType(element):
            return _has(element, seen)
        case MapType(key, value):
            return _has(key, seen) or _has(value, seen)
        case UnionType(kinds) | MessageSetType(kinds) | MessageBagType(kinds):
            return any(_has(kind, seen) for kind in kinds)
        case _:
            return False
