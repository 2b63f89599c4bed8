"""Identifiers: members of a set that the model gives (`Server = {n1, n2, n3}`), or ids spawned while the model runs.

Identifiers can be compared for equality and used as keys. They have no order and no arithmetic. A symmetric identifier
type may be permuted (TLC's symmetry sets); the model decides whether it is. A spawned type has members 1, 2, ..., n,
and a state uses the first of them: `Id.fresh(used)` gives the next one. A spawned type is symmetric if `started` names
the field of the state whose keys are the members in use. Initial states may name members by their position in the
model (`Server.at(1)`); anywhere else this would break symmetry.
"""

from __future__ import annotations

from typing import Any, ClassVar, cast

from kmc.lang.symbols import Symbol
from kmc.lang.types import IdentMeta


class Ident(Symbol, metaclass=IdentMeta):
    """Base of identifier classes; made by `constant` and `spawned`, never subclassed by a spec."""

    __slots__ = ()

    members: ClassVar[tuple[Any, ...]] = ()
    symmetric: ClassVar[bool] = False
    spawned: ClassVar[bool] = False
    started: ClassVar[str | None] = None


def ident_class(
    name: str, titles: tuple[str, ...], *, symmetric: bool, spawned: bool = False, started: str | None = None
) -> type[Ident]:
    """A new identifier class called `name` with one member per title, in this order."""
    namespace = {"__slots__": (), "symmetric": symmetric, "spawned": spawned, "started": started}
    cls = cast(type[Ident], IdentMeta(name, (Ident,), namespace))
    members = tuple(cls(title, index) for index, title in enumerate(titles))
    type.__setattr__(cls, "members", members)
    return cls
