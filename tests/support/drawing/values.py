"""Hypothesis strategies for types of the spec language and for their values, as a spec would store them."""

from __future__ import annotations

from itertools import count
from typing import Any, cast

from hypothesis import strategies as some

from kmc.lang.admission import admitter
from kmc.lang.annotations import Bool, Int
from kmc.lang.domains import members
from kmc.lang.enums import Enum, EnumMeta
from kmc.lang.idents import ident_class
from kmc.lang.maps import map_literal
from kmc.lang.networks import bag_of_messages, set_of_messages
from kmc.lang.records import Message, Record
from kmc.lang.seqs import seq_literal
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

Server: Any = ident_class("Server", ("s1", "s2", "s3"), symmetric=True)
Value: Any = ident_class("Value", ("v1", "v2"), symmetric=True)
Id: Any = ident_class("Id", ("1", "2", "3"), symmetric=False, spawned=True)
Role: Any = EnumMeta("Role", (Enum,), {"FOLLOWER": 0, "CANDIDATE": 1, "FENCED_LEADER": 2})

_numbers = count(1)


def record_class(fields: dict[str, Any], base: Any = Record, name: str | None = None, **options: Any) -> Any:
    """A record class with these fields, as `class name(base, **options)` declares one."""
    return RecordMeta(name or f"Record{next(_numbers)}", (base,), {"__annotations__": fields}, **options)


VoteRequest: Any = record_class({"source": Server, "dest": Server, "epoch": Int(0, 3)}, Message, "VoteRequest")
VoteResponse: Any = record_class(
    {"source": Server, "dest": Server, "granted": Bool, "leader": Server | None}, Message, "VoteResponse"
)
FetchResponse: Any = record_class({"source": Server, "dest": Server}, Message, "FetchResponse", abstract=True)
FetchOk: Any = record_class({"entries": Int(0, 2)}, FetchResponse, "FetchOk")
FetchDiverging: Any = record_class({"offset": Int(0, 2), "request": VoteRequest}, FetchResponse, "FetchDiverging")

Slip: Any = record_class({"number": Int(1, 2), "by": Server | None}, Record, "Slip")
Base: Any = record_class({"who": Value}, Record, "Base", abstract=True)
Ask: Any = record_class({"pair": PairType(IdentType(Server))}, Base, "Ask")
Tell: Any = record_class({"seen": SetType(IdentType(Value))}, Base, "Tell")
Mother: Any = record_class({"who": Value}, Record, "Mother")
Father: Any = record_class({"who": Value}, Record, "Father")
Child: Any = RecordMeta("Child", (Mother, Father), {"__annotations__": {"ok": Bool}})

_MESSAGES = tuple(RecordType(cls) for cls in (VoteRequest, VoteResponse, FetchResponse))

_atoms: some.SearchStrategy[Type] = some.one_of(
    some.just(cast(Type, BoolType())),
    some.builds(lambda low, size: IntType(low, low + size), some.integers(-3, 3), some.integers(0, 5)),
    some.sampled_from([EnumType(Role), IdentType(Server), IdentType(Value), IdentType(Id)]),
    some.just(PairType(IdentType(Server))),
)
_keys: some.SearchStrategy[Type] = some.sampled_from(
    [IdentType(Server), IdentType(Id), EnumType(Role), PairType(IdentType(Server)), IntType(1, 3), IntType(0, 2)]
)
_composite: some.SearchStrategy[Type] = some.sampled_from(
    [
        UnionType((IdentType(Value), IntType(0, 1)), True),
        UnionType((SetType(IdentType(Value)), EnumType(Role)), False),
        *[SetType(IdentType(Value)), SetType(SetType(IdentType(Value))), SeqType(IdentType(Value), 2)],
        *[RecordType(Base), RecordType(Slip)],
    ]
)


def _records(fields: some.SearchStrategy[Type]) -> some.SearchStrategy[Type]:
    # The names of the fields differ from class to class, so that TLA+ can tell the records of a union apart.
    def declared(kinds: list[Type]) -> Type:
        number = next(_numbers)
        return RecordType(record_class({f"field_{number}_{place}": kind for place, kind in enumerate(kinds)}))

    return some.lists(fields, min_size=1, max_size=3).map(declared)


def _unions(alternatives: some.SearchStrategy[Type]) -> some.SearchStrategy[Type]:
    # Numbers and spawned identifiers are both numbers in TLA+.
    symbols = some.sampled_from([EnumType(Role), IdentType(Server), IdentType(Value)])
    kinds = some.lists(some.one_of(symbols, alternatives), min_size=1, max_size=3, unique=True)
    return some.builds(lambda found, optional: UnionType(tuple(found), optional), kinds, some.booleans())


def _with_set(union: Type, element: Type) -> Type:
    assert isinstance(union, UnionType)
    return UnionType((SetType(element), *union.alternatives), union.optional)


def _compound(inner: some.SearchStrategy[Type]) -> some.SearchStrategy[Type]:
    return some.one_of(
        some.builds(SetType, inner),
        some.builds(SeqType, inner, some.integers(0, 3)),
        some.builds(MapType, _keys, inner, some.booleans()),
        _records(inner),
        _unions(_records(inner)),
        _atoms.map(lambda atom: UnionType((atom,), True)),
    )


_of_composites: some.SearchStrategy[Type] = some.one_of(
    some.builds(SetType, _composite),
    some.builds(MapType, _composite, _atoms, some.booleans()),
    some.builds(_with_set, _unions(_records(_atoms)), some.one_of(_keys, _composite)),
)

types: some.SearchStrategy[Type] = some.one_of(
    some.recursive(_atoms, _compound, max_leaves=5),
    some.one_of(_of_composites, _records(_of_composites)),
    some.just(cast(Type, MessageSetType(_MESSAGES, 50))),
    some.just(cast(Type, MessageBagType(_MESSAGES, 50, 9))),
)
"""Any type of the language."""


def values(declared: Type) -> some.SearchStrategy[Any]:
    """Values of a type, as stored."""
    return _literals(declared).map(admitter(declared))


def _literals(declared: Type) -> some.SearchStrategy[Any]:
    match declared:
        case BoolType() | IntType() | EnumType() | IdentType() | PairType():
            return some.sampled_from(list(members(declared)))
        case UnionType(alternatives, optional):
            parts = [_literals(alternative) for alternative in alternatives]
            return some.one_of(*([some.none()] if optional else []), *parts)
        case SetType(element):
            return some.frozensets(values(element), max_size=3)
        case SeqType(element, capacity):
            return some.lists(_literals(element), max_size=capacity).map(seq_literal)
        case MapType(key, value, total):
            keys = list(members(key))
            chosen = some.just(keys) if total else some.lists(some.sampled_from(keys), unique=True)
            return chosen.flatmap(lambda found: _maps(found, value))
        case RecordType(cls):
            return some.one_of([_instances(shape) for shape in cls.shapes])
        case MessageSetType(messages):
            return some.lists(values(UnionType(messages, False)), max_size=4).map(set_of_messages)
        case MessageBagType(messages):
            counted = some.tuples(values(UnionType(messages, False)), some.integers(0, 3))
            return some.lists(counted, max_size=4, unique_by=lambda item: item[0]).map(bag_of_messages)


def _maps(keys: list[Any], value: Type) -> some.SearchStrategy[Any]:
    return some.tuples(*(_literals(value) for _ in keys)).map(lambda found: map_literal(zip(keys, found, strict=True)))


def _instances(cls: Any) -> some.SearchStrategy[Any]:
    return some.fixed_dictionaries({field: _literals(kind) for field, kind in cls.fields.items()}).map(
        lambda fields: cls(**fields)
    )


typed_values: some.SearchStrategy[tuple[Type, Any]] = types.flatmap(
    lambda declared: values(declared).map(lambda value: (declared, value))
)
"""A type with one of its values."""

typed_pairs: some.SearchStrategy[tuple[Type, Any, Any]] = types.flatmap(
    lambda declared: some.tuples(some.just(declared), values(declared), values(declared))
)
"""A type with two of its values."""

any_values: some.SearchStrategy[Any] = typed_values.map(lambda found: found[1])
"""Values of any type."""
