"""Interned atoms: the members of identifier classes and of enumerations.

Invariant: within one loaded model a member is one object, so identity is equality and hashing costs nothing. Nothing
may iterate in the order of these hashes: they differ from run to run.
"""

from __future__ import annotations

from typing import Self


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
