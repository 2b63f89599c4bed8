"""The states of a spec as data: enough to lay out, decode and show them without the spec itself.

Invariant: `restored` gives classes with the same names, members, shapes and order of fields as those that `described`
was given, so layout, display order and TLA+ text are the same on both sides. The data is JSON: lists, strings, numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, assert_never

from kmc.lang.enums import Enum, EnumMeta
from kmc.lang.idents import ident_class
from kmc.lang.naming import lower_camel_case
from kmc.lang.records import Message, Record
from kmc.lang.tla import Naming
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
    SymbolMeta,
    Type,
    UnionType,
)
from kmc.runtime.state_layout import is_listed, list_type
from kmc.spec.variables import Variable, VariableTable

_STYLES: dict[str, Callable[[str], str]] = {"snake_case": str, "camelCase": lower_camel_case}


@dataclass(frozen=True, slots=True)
class Schema:
    """The class of a spec's states and the table of its TLA+ variables."""

    state_class: RecordMeta
    variables: VariableTable


def described(schema: Schema) -> dict[str, Any]:
    """A schema as data."""
    writer = _SchemaWriter()
    state = writer.number(schema.state_class)
    naming = schema.variables.naming
    style = "camelCase" if naming.field is lower_camel_case else "snake_case"
    return {
        "classes": writer.classes,
        "state": state,
        "variables": [[item.name, item.field, item.inner] for item in schema.variables.variables],
        "naming": [style, naming.tag],
    }


def restored(data: dict[str, Any]) -> Schema:
    """The schema that `data` describes, with classes of its own."""
    classes: list[Any] = []
    for item in data["classes"]:
        classes.append(_class(item, classes))
    style, tag = data["naming"]
    variables = tuple(Variable(name, field, inner) for name, field, inner in data["variables"])
    return Schema(classes[data["state"]], VariableTable(variables, Naming(_STYLES[style], tag), None))


class _SchemaWriter:
    """Collects the classes that types mention, each after those that it needs."""

    def __init__(self) -> None:
        self.classes: list[dict[str, Any]] = []
        self._numbers: dict[Any, int] = {}

    def number(self, cls: Any) -> int:
        """The number of a class, which is described now if it is new."""
        if cls not in self._numbers:
            if isinstance(cls, SymbolMeta):
                self._add(cls, _symbols(cls))
            else:
                self._family(cls)
        return self._numbers[cls]

    def _add(self, cls: Any, description: dict[str, Any]) -> None:
        self._numbers[cls] = len(self.classes)
        self.classes.append(description)

    def _family(self, cls: RecordMeta) -> None:
        """All classes that derive from the same base, in an order that keeps the order of its shapes."""
        first = _ancestors(cls)[0]
        for shape in (first, *first.shapes):
            for member in _ancestors(shape):
                if member not in self._numbers:
                    description = self._record(member)
                    # Its fields may mention a family whose later shapes mention this class, which describes it first.
                    if member not in self._numbers:
                        self._add(member, description)

    def _record(self, cls: RecordMeta) -> dict[str, Any]:
        bases = _ancestors(cls)[:-1]
        inherited = bases[-1].fields if bases else {}
        own = {f: t for f, t in cls.fields.items() if f not in inherited or inherited[f] != t}
        is_message = Message in cls.__mro__
        return {
            "name": cls.__name__,
            "base": self._numbers[bases[-1]] if bases else None,
            "fields": [[field, self._type(declared)] for field, declared in own.items()],
            "tag": cls.tag,
            "abstract": cls.abstract,
            "ends": [cls.source_field, cls.dest_field] if is_message else None,  # type: ignore[attr-defined]  # a message
        }

    def _type(self, declared: Type) -> list[Any]:
        match declared:
            case BoolType():
                return ["bool"]
            case IntType(low, high):
                return ["int", low, high]
            case EnumType(cls) | IdentType(cls):
                return ["symbol", self.number(cls)]
            case PairType(element):
                return ["pair", self._type(element)]
            case RecordType(cls):
                return ["record", self.number(cls)]
            case UnionType(alternatives, optional):
                return ["union", self._types(alternatives), optional]
            case SetType(element) if is_listed(declared):
                return ["set", self._type(element), list_type(declared).capacity]
            case SetType(element):
                return ["set", self._type(element)]
            case SeqType(element, capacity):
                return ["sequence", self._type(element), capacity]
            case MapType(key, value, total):
                return ["map", self._type(key), self._type(value), total]
            case MessageSetType(messages, capacity):
                return ["messages", self._types(messages), capacity]
            case MessageBagType(messages, capacity, count_max):
                return ["bag", self._types(messages), capacity, count_max]
            case _:
                assert_never(declared)

    def _types(self, declared: Sequence[Type]) -> list[Any]:
        return [self._type(item) for item in declared]


def _ancestors(cls: RecordMeta) -> list[RecordMeta]:
    """The record classes from which a class inherits fields, the most general first, and the class itself."""

    def with_base() -> Iterator[RecordMeta]:
        current: RecordMeta | None = cls
        while current is not None:
            yield current
            bases = [base for base in current.__bases__ if isinstance(base, RecordMeta) and base.fields]
            current = bases[0] if bases else None

    return list(with_base())[::-1]


def _symbols(cls: Any) -> dict[str, Any]:
    titles = [member.title for member in cls.members]
    if isinstance(cls, EnumMeta):
        return {"name": cls.__name__, "titles": titles}
    return {"name": cls.__name__, "titles": titles, "symmetric": cls.symmetric, "spawned": cls.spawned}


def _class(data: dict[str, Any], classes: Sequence[Any]) -> Any:
    if "fields" in data:
        return _record_class(data, classes)
    titles = tuple(data["titles"])
    if "spawned" in data:
        return ident_class(data["name"], titles, symmetric=data["symmetric"], spawned=data["spawned"])
    cls: Any = EnumMeta(data["name"], (Enum,), {})
    # As in `ident_class`, titles are given: Python's names cannot be recovered from them.
    type.__setattr__(cls, "members", tuple(cls(title, index) for index, title in enumerate(titles)))
    return cls


def _record_class(data: dict[str, Any], classes: Sequence[Any]) -> RecordMeta:
    ends = data["ends"]
    root = Record if ends is None else Message
    base = root if data["base"] is None else classes[data["base"]]
    annotations = {field: _restored_type(declared, classes) for field, declared in data["fields"]}
    options = {} if ends is None else {"source": ends[0], "dest": ends[1]}
    return RecordMeta(
        data["name"], (base,), {"__annotations__": annotations}, abstract=data["abstract"], tag=data["tag"], **options
    )


def _restored_type(data: Sequence[Any], classes: Sequence[Any]) -> Any:
    def inner(item: Sequence[Any]) -> Any:
        return _restored_type(item, classes)

    match data:
        case ["bool"]:
            return BoolType()
        case ["int", low, high]:
            return IntType(low, high)
        case ["symbol" | "record", number]:
            return classes[number].kmc_type
        case ["pair", element]:
            return PairType(inner(element))
        case ["union", alternatives, optional]:
            return UnionType(tuple(map(inner, alternatives)), optional)
        case ["set", element, *capacity]:
            return SetType(inner(element), *capacity)
        case ["sequence", element, capacity]:
            return SeqType(inner(element), capacity)
        case ["map", key, value, total]:
            return MapType(inner(key), inner(value), total)
        case ["messages", messages, capacity]:
            return MessageSetType(tuple(map(inner, messages)), capacity)
        case ["bag", messages, capacity, count_max]:
            return MessageBagType(tuple(map(inner, messages)), capacity, count_max)
    raise ValueError(f"{data!r} describes no type")
