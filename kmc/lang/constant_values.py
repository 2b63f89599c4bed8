"""The value of a constant, of any type but a network, from the text that a model gives.

`value_of(raw, declared)` follows the declared type. A name is a member of an enumeration, or of a set of identifiers
that the spec declares before; `Nil` is None. A record has the names of its fields, in snake_case or in camelCase.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn, assert_never

from kmc.errors import DomainError
from kmc.lang.admission import admitter
from kmc.lang.domains import describe, members
from kmc.lang.maps import MapValue
from kmc.lang.naming import lower_camel_case
from kmc.lang.seqs import seq_literal
from kmc.lang.tla import NIL, encode, shortened, text
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
from kmc.model_files.raw_values import (
    ModelValue,
    Raw,
    RawFunction,
    RawRecord,
    RawSequence,
    RawSet,
    render_raw,
)


def value_of(raw: Raw, declared: Type) -> Any:
    """Return the value of type `declared` that `raw` is; DomainError for the part of it that is in no such domain."""
    return admitter(declared)(_value(raw, declared))


def text_of(value: Any) -> str:
    """Return a value as a model file writes it, with the elements of sets and the keys of maps in display order."""
    if isinstance(value, SymbolMeta):
        return "{ " + ", ".join(map(str, value.members)) + " }"
    return text(encode(value))


def placeholder(declared: Type, share: float) -> Any:
    """Return a value of a type; among those of a listed type the one at `share`, from 0 (the least) to 1."""
    match declared:
        case SetType(element):
            chosen = _few(element)
            return admitter(declared)(frozenset(chosen[: round(share * len(chosen))]))
        case SeqType(element, capacity):
            count = min(capacity, round(share))
            return admitter(declared)(seq_literal([placeholder(element, share)] * count))
        case MapType(key, item, total):
            keys = members(key) if total else _few(key)[: round(share * 2)]
            return admitter(declared)(MapValue({one: placeholder(item, share) for one in keys}))
        case RecordType(cls):
            shape: Any = cls.shapes[0]
            return shape(**{name: placeholder(kind, share) for name, kind in shape.fields.items()})
        case UnionType((first, *_), optional):
            return None if optional and share == 0 else placeholder(first, share)
        case _:
            listed = members(declared)
            return listed[round(share * (len(listed) - 1))]


def _few(element: Type) -> Sequence[Any]:
    """Some values of a type, at most two."""
    first, last = placeholder(element, 0), placeholder(element, 1)
    return (first,) if first == last else (first, last)


def _value(raw: Raw, declared: Type) -> Any:
    """The value without its bounds and its keys checked, which admission does."""
    match declared:
        case BoolType():
            return raw if isinstance(raw, bool) else _refuse(raw, declared)
        case IntType():
            return raw if type(raw) is int else _refuse(raw, declared)
        case EnumType(cls) | IdentType(cls):
            return _member(raw, cls, declared)
        case PairType(element) | SetType(element):
            return _set(raw, element, declared)
        case SeqType(element):
            elements = raw.elements if isinstance(raw, RawSequence) else _refuse(raw, declared)
            return seq_literal([_value(part, element) for part in elements])
        case MapType(key, item):
            return MapValue({_value(k, key): value_of(part, item) for k, part in _pairs(raw, declared)})
        case RecordType(cls):
            return _record(raw, cls, declared)
        case UnionType():
            return _alternative(raw, declared)
        case MessageSetType() | MessageBagType():
            raise AssertionError("a constant is not a network")
        case _:
            assert_never(declared)


def _refuse(raw: Raw, declared: Type) -> NoReturn:
    raise DomainError("KMC201", f"{shortened(render_raw(raw))} is not in {describe(declared)}")


def _member(raw: Raw, cls: SymbolMeta, declared: Type) -> Any:
    written = raw.name if isinstance(raw, ModelValue) else str(raw) if type(raw) is int else None
    for member in cls.members:
        if member.title == written:
            return member
    _refuse(raw, declared)


def _set(raw: Raw, element: Type, declared: Type) -> frozenset[Any]:
    if not isinstance(raw, RawSet):
        _refuse(raw, declared)
    return frozenset(value_of(part, element) for part in raw.members)


def _pairs(raw: Raw, declared: Type) -> Sequence[tuple[Raw, Raw]]:
    match raw:
        case RawFunction(pairs):
            return pairs
        case RawRecord(fields):
            return [(ModelValue(name), part) for name, part in fields]
        case RawSequence(elements):
            return list(enumerate(elements, start=1))
        case _:
            _refuse(raw, declared)


def _record(raw: Raw, cls: RecordMeta, declared: Type) -> Any:
    given = {render_raw(name): part for name, part in _pairs(raw, declared)}
    for shape in cls.shapes:
        for written in (str, lower_camel_case):
            if given.keys() == {written(name) for name in shape.fields}:
                make: Any = shape
                return make(**{name: value_of(given[written(name)], kind) for name, kind in shape.fields.items()})
    _refuse(raw, declared)


def _alternative(raw: Raw, declared: UnionType) -> Any:
    if declared.optional and raw == ModelValue(NIL):
        return None
    for alternative in declared.alternatives:
        try:
            return value_of(raw, alternative)
        except DomainError:
            continue
    _refuse(raw, declared)
