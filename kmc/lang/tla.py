"""Spec values as TLA+ values: a neutral tree between Python objects and every format that knows TLA+.

`encode` and `decode` are driven by a `Naming` (how Python's field names and message tags are written in TLA+) and, on
the way in, by the declared type. TLA+'s identities are kept: a function on 1..n is a sequence, and the function
without arguments is the empty sequence. Formats (text, JSON, ITF) only see the tree.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NoReturn, TypeAlias, assert_never

from kmc.errors import TraceError
from kmc.lang.domains import describe
from kmc.lang.maps import MapValue
from kmc.lang.networks import MessageBagValue, MessageSetValue, bag_of_messages, set_of_messages
from kmc.lang.order import ordered
from kmc.lang.records import Message, Record
from kmc.lang.seqs import SeqValue, seq_literal
from kmc.lang.showing import digits, shown, shown_python
from kmc.lang.symbols import Symbol
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


@dataclass(frozen=True, slots=True)
class TlaSet:
    """A set; elements in display order."""

    elements: tuple[Tla, ...]


@dataclass(frozen=True, slots=True)
class TlaSeq:
    """A sequence or tuple, a function on 1..n, or the function without arguments."""

    elements: tuple[Tla, ...]


@dataclass(frozen=True, slots=True)
class TlaMap:
    """Any other function; pairs in display order of the keys."""

    pairs: tuple[tuple[Tla, Tla], ...]


@dataclass(frozen=True, slots=True)
class TlaRecord:
    """A record; fields in the order of declaration."""

    fields: tuple[tuple[str, Tla], ...]


class TlaText(str):
    """A string of TLA+, which TLC prints in quotes; any other str is a name, such as a model value."""

    __slots__ = ()


Tla: TypeAlias = bool | int | str | TlaSet | TlaSeq | TlaMap | TlaRecord
"""A TLA+ value; a str is a model value, unless it is a `TlaText`."""

NIL = "Nil"
"""The TLA+ name of None: a model value, as the TLA+ specs have it."""


def _name_in_tla(member: Symbol) -> Tla:
    return int(member.title) if getattr(type(member), "spawned", False) else member.title


@dataclass(frozen=True, slots=True)
class Naming:
    """The names of a spec in TLA+: fields through `field`, the type of a message in a field called `tag`.

    `symbol` writes an identifier or a member of an enumeration: a spawned one is a number in TLA+, and carries a letter
    for people. With `as_sequences`, as in TLA+, a map on 1..n is a sequence, and the empty map the empty sequence; for
    people a map stays a map.
    """

    field: Callable[[str], str] = str
    tag: str = "type"
    symbol: Callable[[Symbol], Tla] = _name_in_tla
    as_sequences: bool = True


PYTHON_NAMING = Naming()
_SHORT = 80


def quoted(string: str) -> str:
    """A string as TLA+ writes it."""
    escaped = string.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped}"'


def text(tree: Tla) -> str:
    """A TLA+ value in one line, as TLC prints it."""
    match tree:
        case bool():
            return "TRUE" if tree else "FALSE"
        case int():
            return digits(tree)
        case TlaText():
            return quoted(tree)
        case str():
            return tree
        case TlaSet(elements):
            return "{" + ", ".join(map(text, elements)) + "}"
        case TlaSeq(elements):
            return "<<" + ", ".join(map(text, elements)) + ">>"
        case TlaMap(pairs):
            return "(" + " @@ ".join(f"{text(key)} :> {text(value)}" for key, value in pairs) + ")"
        case TlaRecord(fields):
            return "[" + ", ".join(f"{name} |-> {text(value)}" for name, value in fields) + "]"
        case _:
            assert_never(tree)


def shortened(line: str) -> str:
    """A text cut to one line of an error, at most 80 characters."""
    return line if len(line) <= _SHORT else line[: _SHORT - 3] + "..."


def encode(value: Any, naming: Naming = PYTHON_NAMING) -> Tla:
    """The TLA+ value of a spec value; TypeError for anything else."""
    if value is None:
        return NIL
    if isinstance(value, bool | int):
        return value
    if isinstance(value, Symbol):
        return naming.symbol(value)
    if isinstance(value, SeqValue):
        return TlaSeq(tuple(encode(element, naming) for element in value))
    if isinstance(value, frozenset | MessageSetValue):
        return TlaSet(tuple(encode(element, naming) for element in ordered(value)))
    if isinstance(value, Record):
        return _encode_record(value, naming)
    if isinstance(value, MapValue):
        pairs = [(encode(key, naming), encode(value[key], naming)) for key in ordered(value)]
        return function(pairs) if naming.as_sequences else TlaMap(tuple(pairs))
    if isinstance(value, MessageBagValue):
        return function([(encode(message, naming), value.count(message)) for message in ordered(value)])
    raise TypeError(f"a value of Python's type {type(value).__name__} is not one of the spec language")


@shown.register(Symbol)
@shown.register(SeqValue)
@shown.register(frozenset)
@shown.register(MessageSetValue)
@shown.register(MessageBagValue)
@shown.register(Record)
def _shown_value(value: Any) -> str:
    try:
        return shortened(text(encode(value)))
    except TypeError:
        return shown_python(value)


@shown.register
def _shown_map(value: MapValue) -> str:
    return _shown_value(value) if value else "the empty map"


def function(pairs: list[tuple[Tla, Tla]]) -> TlaMap | TlaSeq:
    """The function with these pairs; a sequence if its domain is 1..n."""
    if [key for key, _ in pairs] == list(range(1, len(pairs) + 1)):
        return TlaSeq(tuple(value for _, value in pairs))
    return TlaMap(tuple(pairs))


def _encode_record(record: Record, naming: Naming) -> TlaRecord:
    fields: list[tuple[str, Tla]] = []
    written = type(record).written_type
    if written is not None:
        fields.append((naming.tag, written))
    fields.extend((naming.field(field), encode(value, naming)) for field, value in record.items())
    return TlaRecord(tuple(fields))


def _mismatch(tree: Tla, declared: Type) -> NoReturn:
    raise TraceError(
        "KMC411",
        f"{shortened(text(tree))} is not in {describe(declared)}",
        help="the value lies outside the spec's declared domain, or the file belongs to another spec or model",
    )


def decode(tree: Tla, declared: Type, naming: Naming = PYTHON_NAMING) -> Any:
    """The spec value of type `declared` that `tree` represents; TraceError when there is none.

    Literal values come back (an untyped sequence, map or network): storing them in a field admits them.
    """
    match declared, tree:
        case BoolType(), bool():
            return tree
        case IntType(low, high), int() if not isinstance(tree, bool) and low <= tree <= high:
            return tree
        case ((EnumType(cls) | IdentType(cls)), (int() | str())) if not isinstance(tree, bool):
            for member in cls.members:
                if member.title == str(tree):
                    return member
        case ((PairType(element) | SetType(element)), TlaSet(elements)):
            return frozenset(decode(item, element, naming) for item in elements)
        case SeqType(element), TlaSeq(elements):
            return seq_literal(decode(item, element, naming) for item in elements)
        case RecordType(), TlaRecord():
            return _decode_record(tree, declared, naming)
        case UnionType(), _:
            return _decode_union(tree, declared, naming)
        case MapType(key, value), (TlaMap() | TlaSeq()):
            return MapValue({decode(k, key, naming): decode(v, value, naming) for k, v in _pairs(tree)})
        case MessageSetType(messages), TlaSet(elements):
            return set_of_messages(decode(item, UnionType(messages, False), naming) for item in elements)
        case MessageBagType(messages), (TlaMap() | TlaSeq()):
            return bag_of_messages(
                [(decode(k, UnionType(messages, False), naming), _natural(v, declared)) for k, v in _pairs(tree)]
            )
    _mismatch(tree, declared)


def _pairs(tree: TlaMap | TlaSeq) -> tuple[tuple[Tla, Tla], ...]:
    return tree.pairs if isinstance(tree, TlaMap) else tuple(enumerate(tree.elements, start=1))


def _natural(tree: Tla, declared: Type) -> int:
    return tree if isinstance(tree, int) and not isinstance(tree, bool) and tree >= 0 else _mismatch(tree, declared)


def _decode_union(tree: Tla, declared: UnionType, naming: Naming) -> Any:
    if declared.optional and tree == NIL:
        return None
    for alternative in declared.alternatives:
        if isinstance(alternative, RecordType):
            if isinstance(tree, TlaRecord) and written_shape(tree, alternative.cls, naming) is not None:
                return _decode_record(tree, alternative, naming)
            continue
        try:
            return decode(tree, alternative, naming)
        except TraceError:
            continue
    _mismatch(tree, declared)


def written_shape(tree: TlaRecord, cls: RecordMeta, naming: Naming) -> RecordMeta | None:
    """The shape of `cls` that `tree` is a record of, by its written type or its fields; None if there is none."""
    fields = dict(tree.fields)
    tag = fields.get(naming.tag)
    return _shape_with(frozenset(fields), tag if isinstance(tag, str) else None, cls, naming)


@lru_cache(maxsize=4096)
def _shape_with(present: frozenset[str], tag: str | None, cls: RecordMeta, naming: Naming) -> RecordMeta | None:
    for shape in cls.shapes:
        names = {naming.field(field) for field in shape.fields}
        if shape.written_type is not None and tag == shape.written_type and present == names | {naming.tag}:
            return shape
        if present == names and Message not in shape.__mro__:  # TLC writes no type of a record
            return shape
    return None


def _decode_record(tree: TlaRecord, declared: RecordType, naming: Naming) -> Any:
    shape = written_shape(tree, declared.cls, naming)
    if shape is None:
        _mismatch(tree, declared)
    given = dict(tree.fields)
    return shape(**{field: decode(given[naming.field(field)], kind, naming) for field, kind in shape.fields.items()})
