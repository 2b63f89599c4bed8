"""Values of declared classes from JSON that may be forged: their types and ranges are those of the declarations.

Invariant: a value that is read has exactly the types of its class; a number is never accepted as a text, nor a truth
value as a number. An integer is a count, so not below 0, but for the fields that hold words of 64 bits.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

T = TypeVar("T")

# A billion states a second reach it after two years; above, sums would leave 64 bits.
_COUNT_END = 1 << 56
_WORD_START, _WORD_END = -(1 << 63), 1 << 64
_PLAIN = frozenset({str, int, float, bool, NoneType})
_WORD_FIELDS = frozenset({"checksum", "digest", "fingerprint", "rank", "reachable_asked", "reached", "source", "value"})


def typed(cls: type[T], value: Any) -> T:
    """Make an instance of a dataclass of the object that JSON has for one; ValueError for anything else."""
    converted: T = _of_type(cls, value, is_word=False)
    return converted


def plain(value: Any) -> Any:
    """Make of a value of declared classes what JSON has for it: objects for instances of dataclasses.

    It is `asdict` without copies, which a manifest of a hundred thousand files is too large for.
    """
    cls = type(value)
    if cls in _PLAIN:
        return value
    if cls in (tuple, list):
        return [plain(held) for held in value]
    if is_dataclass(cls):
        return {name: plain(getattr(value, name)) for name in _names(cls)}
    if isinstance(value, Mapping):
        return {name: plain(held) for name, held in value.items()}
    return value.value if isinstance(value, Enum) else value


@cache
def _names(cls: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(cls))


def _of_type(wanted: Any, value: Any, *, is_word: bool) -> Any:
    origin, arguments = get_origin(wanted), get_args(wanted)
    match value:
        case _ if origin is UnionType:
            return _of_union(arguments, value, is_word=is_word)
        case list() | tuple() if origin is tuple:
            return tuple(_of_type(arguments[0], held, is_word=is_word) for held in value)
        case Mapping() if origin is not None and issubclass(origin, Mapping):
            key, held = arguments
            return {_key(key, name): _of_type(held, one, is_word=is_word) for name, one in value.items()}
        case Mapping() if is_dataclass(wanted):
            return _of_class(wanted, value)
        case bool() | str() if type(value) is wanted or wanted is Any:
            return value
        case int() if wanted is int and not isinstance(value, bool):
            return _in_range(value, is_word)
        case int() | float() if wanted is float and not isinstance(value, bool):
            return _time(value)
        case int() if isinstance(wanted, type) and issubclass(wanted, Enum) and not isinstance(value, bool):
            return wanted(value)
        case _ if wanted is Any:
            return value
    raise ValueError(f"a value is no {wanted}")


def _of_union(alternatives: tuple[Any, ...], value: Any, *, is_word: bool) -> Any:
    if value is None and NoneType in alternatives:
        return None
    (one,) = (alternative for alternative in alternatives if alternative is not NoneType)
    return _of_type(one, value, is_word=is_word)


def _of_class(wanted: Any, value: Mapping[str, Any]) -> Any:
    kinds = _kinds(wanted)
    if kinds.keys() != value.keys():
        raise ValueError(f"{wanted.__name__} has other fields")
    return wanted(**{name: _of_type(kind, value[name], is_word=name in _WORD_FIELDS) for name, kind in kinds.items()})


@cache
def _kinds(cls: Any) -> dict[str, Any]:
    hints = get_type_hints(cls)
    return {field.name: hints[field.name] for field in fields(cls)}


def _key(wanted: Any, name: str) -> Any:
    """Read a key of an object, which JSON writes as a text, in the one way that it is written."""
    if wanted is str:
        return name
    key = int(name[:20])
    if str(key) != name or key < 0:
        raise ValueError("a key is not a number")
    return key


def _in_range(value: int, is_word: bool) -> int:
    low, end = (_WORD_START, _WORD_END) if is_word else (0, _COUNT_END)
    if not low <= value < end:
        raise ValueError("a number is out of range")
    return value


def _time(value: float) -> float:
    if not (math.isfinite(value) and value >= 0):
        raise ValueError("a time is out of range")
    return float(value)
