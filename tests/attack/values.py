"""Values of drawn specs as plain Python: numbers, text for identifiers and enums, frozensets, tuples, `Fun`, `Rec`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations, product
from typing import Any

Value = Any
"""int, bool, str, None, frozenset, tuple (a sequence), Fun (a map or a bag) or Rec."""


class Fun(dict[Value, Value]):
    """A function: a map, a partial map, or a bag of messages with their counts. Never changed after it is made."""

    def __hash__(self) -> int:  # type: ignore[override]  # a dict has none, and this one is never changed
        return hash(frozenset(self.items()))

    def with_(self, key: Value, value: Value) -> Fun:
        """Return the function with another value of one key."""
        return Fun({**self, key: value})


@dataclass(frozen=True)
class Rec:
    """A record of a class, with its fields in the order of their declaration."""

    cls: str
    fields: tuple[tuple[str, Value], ...]

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((self.cls, self.fields))

    @cached_property
    def _values(self) -> dict[str, Value]:
        return dict(self.fields)

    def get(self, name: str) -> Value:
        """Return the value of a field."""
        return self._values[name]

    def with_(self, changes: Mapping[str, Value]) -> Rec:
        """Return the record with other values of some fields."""
        return Rec(self.cls, tuple((name, changes.get(name, value)) for name, value in self.fields))


def renamed(value: Value, names: Mapping[str, str]) -> Value:
    """Return a value with its identifiers permuted."""
    match value:
        case str():
            return names.get(value, value)
        case frozenset():
            return frozenset(renamed(item, names) for item in value)
        case tuple():
            return tuple(renamed(item, names) for item in value)
        case Fun():
            return Fun({renamed(key, names): renamed(item, names) for key, item in value.items()})
        case Rec():
            return Rec(value.cls, tuple((name, renamed(item, names)) for name, item in value.fields))
    return value


def shown(value: Value) -> str:
    """Return a text that is the same for equal values only."""
    match value:
        case frozenset():
            return "{" + ", ".join(sorted(map(shown, value))) + "}"
        case tuple():
            return "<" + ", ".join(map(shown, value)) + ">"
        case Fun():
            return "[" + ", ".join(sorted(f"{shown(key)}: {shown(item)}" for key, item in value.items())) + "]"
        case Rec():
            return value.cls + "(" + ", ".join(f"{name}={shown(item)}" for name, item in value.fields) + ")"
    return repr(value)


def renamings(groups: Iterable[tuple[str, ...]]) -> list[dict[str, str]]:
    """Return all permutations of the members of each group."""
    orders = [[dict(zip(group, order, strict=True)) for order in permutations(group)] for group in groups]
    return [{key: name for part in parts for key, name in part.items()} for parts in product(*orders)]
