"""Interned atoms: the members of identifier classes and of enumerations.

Invariant: within one loaded model a member is one object, so identity is equality and hashing costs nothing. Nothing
may iterate in the order of these hashes: they differ from run to run.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

from kmc.lang.annotations import union
from kmc.lang.types import UnionType


class SymbolMeta(type):
    """The class of symbol classes. A symbol class is a collection: its members, in the order of declaration."""

    members: tuple[Any, ...]

    def __iter__(cls) -> Iterator[Any]:
        return iter(cls.members)

    def __len__(cls) -> int:
        return len(cls.members)

    def __contains__(cls, value: object) -> bool:
        return type(value) is cls

    def __or__(cls, other: Any) -> UnionType:  # type: ignore[override]  # a kmc union, not Python's
        return NotImplemented if isinstance(other, frozenset) else union(cls, other)

    def __ror__(cls, other: Any) -> UnionType:  # type: ignore[override]  # as above
        return NotImplemented if isinstance(other, frozenset) else union(other, cls)

    def __repr__(cls) -> str:
        return cls.__name__


class Symbol:
    """A named atom; `title` is how a person and TLA+ see it, `index` its place in its class."""

    __slots__ = ("index", "title")

    index: int
    title: str

    def __init__(self, title: str, index: int) -> None:
        object.__setattr__(self, "title", title)
        object.__setattr__(self, "index", index)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"'{self.title}' is immutable")

    def __repr__(self) -> str:
        return self.title

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self
