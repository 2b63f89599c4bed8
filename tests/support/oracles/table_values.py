"""What a table should hold for a state: the plain values that Arrow gives, made from the values of the language."""

from __future__ import annotations

from typing import Any, assert_never

from kmc.lang.domains import members
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
    shapes_of,
)
from kmc.runtime.codec import value_words
from kmc.runtime.state_layout import is_listed


def row_of_state(state: Any, state_class: RecordMeta) -> dict[str, Any]:
    """A state as a row; messages of networks in the order of their text."""
    return {name: plain(getattr(state, name), declared) for name, declared in state_class.fields.items()}


def plain(value: Any, declared: Type) -> Any:
    """A value of a type as Arrow gives it to Python."""
    match declared:
        case BoolType() | IntType():
            return value
        case EnumType() | IdentType():
            return value.title
        case SetType(element) if is_listed(declared):
            return [plain(one, element) for one in sorted(value, key=lambda one: value_words(one, element)[::-1])]
        case SetType(element):
            return [plain(one, element) for one in members(element) if one in value]
        case PairType(element):
            return [plain(one, element) for one in members(element) if one in value]
        case SeqType(element, _):
            return [plain(one, element) for one in value]
        case MapType(key, element, _):
            pairs = [(plain(one, key), plain(value[one], element)) for one in members(key) if one in value]
            may_be_none = isinstance(key, UnionType) and key.optional
            return [{"key": one, "value": item} for one, item in pairs] if may_be_none else pairs
        case RecordType(cls):
            return _one_of(value, list(cls.shapes)) if len(cls.shapes) > 1 else _record(value, cls.shapes[0])
        case UnionType(alternatives, _):
            return None if value is None else _of_union(value, alternatives)
        case MessageSetType(messages, _):
            return by_text(_one_of(message, list(shapes_of(messages))) for message in value)
        case MessageBagType(messages, _, _):
            shapes = list(shapes_of(messages))
            return by_text({**_one_of(message, shapes), "count": value.count(message)} for message in value)
        case _:
            assert_never(declared)


def by_text(entries: Any) -> list[Any]:
    """Entries of a network in an order that does not depend on the network's."""
    return sorted(entries, key=repr)


def _record(value: Any, shape: Any) -> dict[str, Any]:
    return {name: plain(getattr(value, name), declared) for name, declared in shape.fields.items()}


def _one_of(value: Any, shapes: list[Any]) -> dict[str, Any]:
    """A record of one of several shapes. In the specs of the tests fields of one name have one type."""
    if len(shapes) == 1:
        return _record(value, shapes[0])
    absent = dict.fromkeys(name for shape in shapes for name in shape.fields)
    return {"type": type(value).__name__, **absent, **_record(value, type(value))}


def _of_union(value: Any, alternatives: tuple[Type, ...]) -> Any:
    expanded: list[tuple[str, Type | None, Any]] = []
    for one in alternatives:
        match one:
            case RecordType(cls):
                expanded += [(shape.__name__, None, shape) for shape in cls.shapes]
            case EnumType(cls) | IdentType(cls):
                expanded.append((cls.__name__, one, cls))
            case BoolType():
                expanded.append(("bool", one, bool))
            case IntType():
                expanded.append(("int", one, int))
            case _:
                raise AssertionError("a union of the tests has scalars and records")
    if len(expanded) == 1:
        _, scalar, cls = expanded[0]
        return _record(value, cls) if scalar is None else plain(value, scalar)
    absent = dict.fromkeys(
        part for name, scalar, cls in expanded for part in (cls.fields if scalar is None else [name])
    )
    name, scalar, cls = next(one for one in expanded if type(value) is one[2])
    there = _record(value, cls) if scalar is None else {name: plain(value, scalar)}
    return {"type": name, **absent, **there}
