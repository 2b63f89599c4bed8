"""The processes of a story, and which variables are functions of them.

The types of a spec define its processes: the ends of its messages, and the identifiers that have a record in a map. A
spec without either has processes all the same: the keys of its maps of records, else the identifiers that receive
messages without ends, else the keys that several maps share.
A value of any such type is a process, be it a number, a pair or a record.

Invariant: the name of a process is its value in words, so that the keys of a variable are found by the names of lanes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kmc.actions.action import Action
from kmc.frontend.loader import Spec
from kmc.frontend.process_columns import fields_at, holds_sequence
from kmc.lang.maps import MapValue
from kmc.lang.networks import MessageBagValue, MessageSetValue
from kmc.lang.order import sort_key
from kmc.lang.records import Message, Record, State
from kmc.lang.seqs import SeqValue
from kmc.lang.symbols import Symbol
from kmc.lang.tla import Naming, Tla, TlaRecord, encode
from kmc.lang.types import (
    BoolType,
    EnumType,
    IdentType,
    IntType,
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
from kmc.spec.variables import VariableTable
from kmc.story.parts.in_words import in_words
from kmc.story.parts.story import LaneColumn
from kmc.trace.trees import entries

_COLUMNS_MAX = 5


def table_for_people(spec: Spec) -> VariableTable:
    """The variables of `spec` for people: a spawned identifier is `s1`, not 1, and no map is a sequence.

    If processes of two types have one name, each carries its type: `Client.a`.
    """
    taken = Counter(_own_name(member) for cls in _symbol_classes(process_types(spec)) for member in cls.members)

    def name(member: Symbol) -> Tla:
        own = _own_name(member)
        return f"{type(member).__name__}.{own}" if taken[own] > 1 else own

    naming = replace(spec.variables.naming, symbol=name, as_sequences=False)
    return replace(spec.variables, naming=naming)


def _own_name(member: Symbol) -> str:
    is_spawned = getattr(type(member), "spawned", False)
    return f"{type(member).__name__[0].lower()}{member.title}" if is_spawned else member.title


def _symbol_classes(types: Iterable[Type]) -> list[Any]:
    """The classes of identifiers and enumerations that values of these types consist of, each once."""
    inner = [one for declared in types for one in _types_in(declared)]
    return list(dict.fromkeys(one.cls for one in inner if isinstance(one, IdentType | EnumType)))


def ends(message: Any) -> tuple[Any, Any]:
    """Source and destination of a message, None where it has none; a plain record in a network has neither."""
    cls: Any = type(message)
    if not isinstance(message, Message):
        return None, None
    source, dest = (None if end is None else getattr(message, end) for end in (cls.source_field, cls.dest_field))
    return source, dest


def process_types(spec: Spec) -> frozenset[Type]:
    """The types whose values are processes; of a union, its alternatives."""
    declared = spec.state_class.fields.values()
    maps = [kind for kind in declared if isinstance(kind, MapType)]
    of_records = [kind for kind in maps if isinstance(kind.value, RecordType)]
    shapes = {shape for kind in declared for one in _types_in(kind) for shape in _message_shapes(one)}
    ends = {end for shape in shapes for end in _end_types(shape)}
    ends |= {kind.key for kind in of_records if isinstance(kind.key, IdentType)}
    total = {kind.key for kind in of_records if kind.total}
    return frozenset(ends or total or _receivers(spec.actions) or _shared_keys(maps))


def _receivers(actions: Iterable[Action]) -> set[Type]:
    """The identifiers that actions name beside a message that they receive: any of them may receive it."""
    free = [one.type for action in actions if action.message is not None for one in action.parameters
            if one.message_field is None]  # fmt: skip
    return {declared for declared in free if isinstance(declared, IdentType)}


def _shared_keys(maps: Iterable[MapType]) -> set[Type]:
    """The types that are keys of several maps: those with names if there are any, else numbers."""
    shared = {key for key, count in Counter(kind.key for kind in maps).items() if count > 1}
    named: set[Type] = {key for key in shared if isinstance(key, IdentType | EnumType)}
    return named or {key for key in shared if isinstance(key, IntType)}


def _message_shapes(declared: Type) -> tuple[RecordMeta, ...]:
    if not isinstance(declared, RecordType):
        return ()
    return tuple(shape for shape in declared.cls.shapes if issubclass(shape, Message))


def _end_types(shape: RecordMeta) -> Iterator[Type]:
    for end in ("source_field", "dest_field"):
        field = getattr(shape, end)
        yield from () if field is None else _alternatives(shape.fields[field])


def _alternatives(declared: Type) -> tuple[Type, ...]:
    return declared.alternatives if isinstance(declared, UnionType) else (declared,)


def _types_in(declared: Type) -> tuple[Type, ...]:
    """A type and the types of all parts of its values."""
    match declared:
        case UnionType(alternatives) | MessageSetType(alternatives) | MessageBagType(alternatives):
            inner_types: Iterable[Type] = alternatives
        case SetType(element) | SeqType(element) | PairType(element):
            inner_types = (element,)
        case MapType(key, value):
            inner_types = (key, value)
        case RecordType(cls):
            inner_types = [kind for shape in cls.shapes for kind in shape.fields.values()]
        case _:
            inner_types = ()
    return (declared, *(inner for inner_type in inner_types for inner in _types_in(inner_type)))


class Processes:
    """The processes of one spec, and where its states hold them."""

    def __init__(self, spec: Spec) -> None:
        self._fields = spec.state_class.fields
        self._types = process_types(spec)
        self._table = table_for_people(spec)
        self._variables = {variable.name: variable for variable in self._table.variables}
        self._symbols = frozenset(kind.cls for kind in self._types if isinstance(kind, IdentType | EnumType))
        self._with_messages = _with_messages(self._fields)
        self._of_records: dict[type, tuple[str, ...]] = {}
        """The fields with messages of each class of records, by class."""
        self._keyed = [field for field, kind in self._fields.items() if self.is_function(kind)]

    def is_function(self, declared: Type | None) -> bool:
        """Return whether values of a type are functions of processes.

        The type of a number says little: one of fewer numbers counts only where it is the key of records.
        """
        if not isinstance(declared, MapType):
            return False
        key = declared.key
        if not isinstance(key, IntType) or not isinstance(declared.value, RecordType):
            return key in self._types
        ranges = [kind for kind in self._types if isinstance(kind, IntType)]
        return any(kind.low <= key.low and key.high <= kind.high for kind in ranges)

    def variables(self) -> tuple[str, ...]:
        """The TLA+ variables that are functions of processes."""
        return tuple(name for name, variable in self._variables.items() if variable.field in self._keyed)

    def names_in(self, states: Iterable[State]) -> tuple[str, ...]:
        """Return the names of the processes that occur in the states, in display order."""
        seen: dict[str, Any] = {}
        for state in states:
            for member in self._members_in(state):
                if member is not None:
                    seen.setdefault(lane_name(member, self._table.naming), member)
        return tuple(sorted(seen, key=lambda name: sort_key(seen[name])))

    def _members_in(self, state: State) -> Iterator[Any]:
        for field in self._keyed:
            yield from getattr(state, field)
        for field in self._with_messages:
            for message in self._messages_in(getattr(state, field)):
                yield from ends(message)

    def _messages_in(self, value: Any) -> Iterator[Message]:
        """The messages that a value consists of."""
        match value:
            case Record():
                if isinstance(value, Message):
                    yield value
                if type(value) not in self._of_records:
                    self._of_records[type(value)] = _with_messages(type(value).fields)
                for field in self._of_records[type(value)]:
                    yield from self._messages_in(getattr(value, field))
            case frozenset() | SeqValue() | MessageSetValue() | MessageBagValue():
                for element in value:
                    yield from self._messages_in(element)
            case MapValue():
                for item in value.values():
                    yield from self._messages_in(item)

    def holds(self, value: Any, declared: Type | None = None) -> bool:
        """Return whether a value is a process; if it is not a symbol, its declared type decides."""
        if isinstance(value, Symbol):
            return type(value) in self._symbols
        if value is None or declared is None:
            return False
        return any(kind in self._types for kind in _alternatives(declared) if _is_of(value, kind))

    def at(self, path: Sequence[str]) -> str | None:
        """Return the process that a place belongs to: the first key on its path that is one."""
        variable = self._variables[path[0]]
        declared: Type | None = self._fields[variable.field]
        if variable.inner is not None and isinstance(declared, MapType):
            inside = _inside(declared.value, variable.inner, str)
            declared = None if inside is None else replace(declared, value=inside)
        for key in path[1:]:
            if declared is None:
                return None
            if any(self.is_function(kind) for kind in _alternatives(declared)):
                return key
            declared = _inside(declared, key, self._table.naming.field)
        return None


def _is_of(value: Any, declared: Type) -> bool:
    """Return whether a value has the form of this alternative of a union; no two alternatives have one form."""
    match declared:
        case BoolType():
            return isinstance(value, bool)
        case IntType():
            return isinstance(value, int) and not isinstance(value, bool)
        case RecordType(cls):
            return isinstance(value, cls)
        case IdentType() | EnumType():
            return isinstance(value, Symbol)
        case _:
            return not isinstance(value, bool | int | Record | Symbol)


def _inside(declared: Type, key: str, written: Any) -> Type | None:
    """The type at the next part of a path; None where the path ends."""
    match declared:
        case MapType(_, value):
            return value
        case SeqType(element):
            return element
        case RecordType(cls):
            fields = (field for shape in cls.shapes for field in shape.fields.items())
            return next((kind for name, kind in fields if written(name) == key), None)
        case UnionType(alternatives):
            inner_types = (_inside(alternative, key, written) for alternative in alternatives)
            return next((kind for kind in inner_types if kind is not None), None)
        case _:
            return None


def _with_messages(fields: Mapping[str, Type]) -> tuple[str, ...]:
    """The fields whose values consist of messages, or hold some."""
    return tuple(name for name, kind in fields.items() if any(map(_message_shapes, _types_in(kind))))


def lane_name(member: Any, naming: Naming) -> str:
    """Name a process for views: its value in words."""
    return in_words(encode(member, naming))


def columns_of(spec: Spec, of_lanes: Sequence[str], first: Mapping[str, Tla]) -> tuple[LaneColumn, ...]:
    """The columns of the table of processes: those that the spec declares, else its first variables of processes."""
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
    columns: list[tuple[str, str]] = []
    for name in of_lanes:
        fields = fields_at(name, spec.variables, spec.state_class)
        columns += [(field, f"{name}.{field}") for field in fields] if fields else [(name, name)]
    titles = Counter(title for title, _ in columns)
    return [(title if titles[title] == 1 else path, path) for title, path in columns[:_COLUMNS_MAX]]


def at_lane(tree: Tla, lane: str) -> Tla | None:
    """The value of a function at a process; None where it has none."""
    return next((value for key, value in entries(tree) or () if in_words(key) == lane), None)


def in_column(state: Mapping[str, Tla], column: LaneColumn, lane: str) -> Tla | None:
    """The value that a column shows for a process in a state; None if there is nothing."""
    tree = at_lane(state[column.variable], lane)
    for name in column.fields:
        tree = dict(tree.fields).get(name) if isinstance(tree, TlaRecord) else None
    return tree
