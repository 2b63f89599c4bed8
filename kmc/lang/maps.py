"""Map values: immutable functions from keys to values.

`m.set(k, v)` changes an existing key and is an error otherwise (TLA+'s EXCEPT is silent there); `m.add(k, v)` grows a
partial map. A map that has been stored in a field knows its type and admits only the keys and values of that type.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from kmc.errors import DomainError, EvaluationError
from kmc.lang.showing import shown


class MapDomain(Protocol):
    """The type of a map, which decides which keys and values it admits. Others raise DomainError."""

    total: bool

    def key(self, key: Any) -> Any:
        """`key`, if it is in the domain of keys."""

    def value(self, value: Any) -> Any:
        """`value`, if it is in the domain of values."""


class MapValue:
    """A function with a finite domain; equal when keys and values are."""

    __slots__ = ("_hash", "_items", "domain")

    def __init__(self, items: dict[Any, Any], domain: MapDomain | None = None) -> None:
        self._items = items
        self._hash: int | None = None
        self.domain = domain

    def __getitem__(self, key: Any) -> Any:
        try:
            return self._items[key]
        except KeyError:
            raise EvaluationError("KMC226", f"{shown(key)} is not a key of this map", help=_advice(key)) from None

    def set(self, key: Any, value: Any) -> MapValue:
        """A map that differs at the existing `key`; EvaluationError when there is no such key."""
        if key not in self._items:
            raise EvaluationError(
                "KMC227",
                f"{shown(key)} is not a key of this map, so it cannot be changed",
                help="write map.add(key, value)",
            )
        changed = self._items.copy()
        changed[key] = value if self.domain is None else self._admitted(key, value)
        return MapValue(changed, self.domain)

    def _admitted(self, key: Any, value: Any) -> Any:
        """`value`, if it is in the domain of values; DomainError naming the key otherwise."""
        try:
            return value if self.domain is None else self.domain.value(value)
        except DomainError as error:
            raise DomainError(error.code, f"{shown(key)} of this map: {error.message}", help=error.help) from None

    def add(self, key: Any, value: Any) -> MapValue:
        """A map with one more key; EvaluationError when the key exists."""
        if key in self._items:
            raise EvaluationError(
                "KMC228", f"{shown(key)} is already a key of this map", help="write map.set(key, value)"
            )
        grown = self._items.copy()
        if self.domain is not None:
            key, value = self.domain.key(key), self._admitted(key, value)
        grown[key] = value
        return MapValue(grown, self.domain)

    def without(self, key: Any) -> MapValue:
        """A map without `key`; EvaluationError when there is no such key."""
        if key not in self._items:
            raise EvaluationError("KMC226", f"{shown(key)} is not a key of this map", help=_advice(key))
        return MapValue({k: v for k, v in self._items.items() if k is not key and k != key}, None)

    def keys(self) -> frozenset[Any]:
        """The set of keys, TLA+'s DOMAIN."""
        return frozenset(self._items)

    def values(self) -> Iterable[Any]:
        """The values, once per key, in no meaningful order."""
        return self._items.values()

    def items(self) -> Iterable[tuple[Any, Any]]:
        """The pairs of key and value, in no meaningful order."""
        return self._items.items()

    def __contains__(self, key: object) -> bool:
        return key in self._items

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __eq__(self, other: object) -> bool:
        # A bag of messages knows how to compare itself with a literal map.
        return self._items == other._items if isinstance(other, MapValue) else NotImplemented

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self._items.items()))
        return self._hash

    def __repr__(self) -> str:
        return "(" + " @@ ".join(f"{key!r} :> {value!r}" for key, value in self._items.items()) + ")"


def _advice(key: Any) -> str:
    if key is None:
        return "guard with `is not None` before using an Opt value"
    return "write pair(a, b)" if type(key) is tuple else "guard with `key in map`"


def map_literal(pairs: Iterable[tuple[Any, Any]]) -> MapValue:
    """The value of a dict literal or dict comprehension in a spec; EvaluationError for a key given two values."""
    items: dict[Any, Any] = {}
    for key, value in pairs:
        if key in items and items[key] != value:
            message = f"{shown(key)} is given two different values in one map"
            raise EvaluationError("KMC229", message, help="let each key occur once")
        items[key] = value
    return MapValue(items)
