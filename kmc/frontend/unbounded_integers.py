"""The specs that have integers without declared bounds, or other types: in the annotation of a field, at any depth."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

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

Test: TypeAlias = Callable[[Type], bool]


def has_unbounded_integers(spec: Spec) -> bool:
    """Return whether a record of a spec, or of a spec that it refines, has an integer without declared bounds."""
    return has_type(spec, lambda declared: isinstance(declared, UnboundedInt))


def has_type(spec: Spec, test: Test) -> bool:
    """Return whether a record of a spec, or of a spec that it refines, has a type in it for which a test holds."""
    seen: set[Any] = set()
    declared = (value for names in spec.modules.values() for value in names.values())
    # The words Record and Message, which a spec imports, are classes without fields.
    classes = (value for value in (spec.state_class, *declared) if isinstance(value, RecordMeta) and value.fields)
    return any(_has(RecordType(cls), test, seen) for cls in classes) or any(
        has_type(refined, test) for refined in spec.refined.values()
    )


def _has(declared: Type, test: Test, seen: set[Any]) -> bool:
    """Return whether a type has such a type in it; classes that were `seen` count as without."""
    if test(declared):
        return True
    match declared:
        case RecordType(cls):
            if cls in seen:
                return False
            seen.add(cls)
            fields = (kind for shape in (cls, *cls.shapes) for kind in shape.fields.values())
            return any(_has(kind, test, seen) for kind in fields)
        case SetType(element) | SeqType(element):
            return _has(element, test, seen)
        case MapType(key, value):
            return _has(key, test, seen) or _has(value, test, seen)
        case UnionType(kinds) | MessageSetType(kinds) | MessageBagType(kinds):
            return any(_has(kind, test, seen) for kind in kinds)
        case _:
            return False
