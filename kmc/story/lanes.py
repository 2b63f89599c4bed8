"""The processes of a story, and which variables are functions of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kmc.lang.records import Message, RecordMeta
from kmc.lang.symbols import Symbol
from kmc.lang.tla import Naming, Tla, TlaRecord
from kmc.lang.types import (
    EnumType,
    IdentType,
    MapType,
    MessageBagType,
    MessageSetType,
    RecordType,
    Type,
    UnionType,
)
from kmc.spec.loader import Spec
from kmc.spec.process_columns import fields_at, holds_sequence
from kmc.spec.variables import VariableTable
from kmc.story.story import LaneColumn
from kmc.trace.trees import entries

_COLUMNS_MAX = 5


def table_for_people(spec: Spec) -> VariableTable:
    """The variables of `spec` for people: a spawned identifier is `s1`, not 1, and no map is a sequence."""
    naming = replace(spec.variables.naming, spawned=_spawned_name, as_sequences=False)
    return replace(spec.variables, naming=naming)


def _spawned_name(member: Symbol) -> Tla:
    return f"{type(member).__name__[0].lower()}{member.title}"


def ends(message: Any) -> tuple[Any, Any]:
    """Source and destination of a message, None where it has none; a plain record in a network has neither."""
    cls: Any = type(message)
    if not isinstance(message, Message):
        return None, None
    return getattr(message, cls.source_field), getattr(message, cls.dest_field)


def lane_types(spec: Spec) -> frozenset[type]:
    """The classes of identifiers that are processes: ends of messages, and keys of maps of records."""
    found: set[type] = set()
    for declared in spec.state_class.fields.values():
        match declared:
            case MessageSetType(messages) | MessageBagType(messages):
                for record in messages:
                    for shape in record.cls.shapes:
                        found |= _ends_of_shape(shape)
            case MapType(IdentType(cls), RecordType()):
                found.add(cls)
    return frozenset(found)


def _ends_of_shape(shape: RecordMeta) -> set[type]:
    if Message not in shape.__mro__:
        return set()
    fields = [getattr(shape, "source_field", None), getattr(shape, "dest_field", None)]
    return {cls for field in fields if field in shape.fields for cls in _symbols(shape.fields[field])}


def _symbols(declared: Type) -> Iterable[type]:
    match declared:
        case IdentType(cls) | EnumType(cls):
            yield cls
        case UnionType(alternatives):
            for alternative in alternatives:
                yield from _symbols(alternative)


def of_lane(spec: Spec, lanes: frozenset[type]) -> tuple[str, ...]:
    """The TLA+ variables of `spec` that are functions of its processes."""
    found = []
    for variable in spec.variables.variables:
        declared = spec.state_class.fields[variable.field]
        if isinstance(declared, MapType) and isinstance(declared.key, IdentType) and declared.key.cls in lanes:
            found.append(variable.name)
    return tuple(found)


def lanes_in(spec: Spec, types: frozenset[type], states: Sequence[Any], naming: Naming) -> tuple[str, ...]:
    """The processes that occur in the states, in the order of their declaration."""
    seen: set[Any] = set()
    for state in states:
        for field, declared in spec.state_class.fields.items():
            value = getattr(state, field)
            if isinstance(declared, MapType) and isinstance(declared.key, IdentType) and declared.key.cls in types:
                seen.update(value)
            elif isinstance(declared, MessageSetType | MessageBagType):
                seen.update(end for message in value for end in ends(message))
    present = sorted((s for s in seen if s is not None), key=lambda s: (type(s).__name__, s.index))
    return tuple(lane_name(member, naming) for member in present)


def lane_name(member: Any, naming: Naming) -> str:
    """What views call a process."""
    spawned = getattr(type(member), "spawned", False)
    return str(naming.spawned(member)) if spawned else str(member.title)


def columns_of(spec: Spec, of_lanes: Sequence[str], first: Mapping[str, Tla]) -> tuple[LaneColumn, ...]:
    """What the table of processes shows: what the spec declares, else its first variables of processes."""
    field = spec.variables.naming.field
    chosen = spec.columns or dict(_default_columns(spec, of_lanes))
    return tuple(
        LaneColumn(title, name, holds_sequence(path, spec.variables, spec.state_class), tuple(map(field, inside)))
        for title, path in chosen.items()
        for name, *inside in [path.split(".")]
        if name in first
    )


def _default_columns(spec: Spec, of_lanes: Sequence[str]) -> list[tuple[str, str]]:
    """The first variables of processes with their places; of a variable that holds records, each field by itself."""
    found: list[tuple[str, str]] = []
    for name in of_lanes:
        fields = fields_at(name, spec.variables, spec.state_class)
        found += [(field, f"{name}.{field}") for field in fields] if fields else [(name, name)]
    return found[:_COLUMNS_MAX]


def at_lane(tree: Tla, lane: str) -> Tla | None:
    """The value of a function at a process; None where it has none."""
    return next((value for key, value in entries(tree) or () if str(key) == lane), None)


def in_column(state: Mapping[str, Tla], column: LaneColumn, lane: str) -> Tla | None:
    """What a column shows of a process in a state; None where there is nothing."""
    tree = at_lane(state[column.variable], lane)
    for name in column.fields:
        tree = dict(tree.fields).get(name) if isinstance(tree, TlaRecord) else None
    return tree
