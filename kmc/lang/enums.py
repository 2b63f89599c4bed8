"""Enumerations of a spec: `class Role(Enum): FOLLOWER, CANDIDATE, LEADER = range(3)`.

A member is shown in CamelCase (`FENCED_LEADER_EPOCH` as `FencedLeaderEpoch`), as TLA+ model values are written.
Enumerations have no order and no arithmetic.
"""

from __future__ import annotations

from typing import Any

from kmc.errors import SpecError
from kmc.lang.naming import camel_case
from kmc.lang.showing import shown
from kmc.lang.symbols import Symbol
from kmc.lang.types import EnumType, SymbolMeta

_RESERVED = ("title", "index", "members", "kmc_type")


class EnumMeta(SymbolMeta):
    """Turns the integers of a class body into members."""

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> EnumMeta:
        if not any(isinstance(base, EnumMeta) for base in bases):
            return super().__new__(mcs, name, bases, namespace)
        named = {key: value for key, value in namespace.items() if not key.startswith("_")}
        for key, value in named.items():
            if key in _RESERVED:
                raise SpecError(
                    "KMC160", f"'{key}' cannot be the name of a member of {name}", help="choose another name"
                )
            if type(value) is not int:
                raise SpecError(
                    "KMC121",
                    f"'{key}' of enumeration {name} is {shown(value)}, not an integer",
                    help=f"write class {name}(Enum): A, B, C = range(3)",
                )
        if sorted(named.values()) != list(range(len(named))):
            raise SpecError(
                "KMC122", f"the members of {name} must be numbered 0, 1, 2, ...", help="write A, B, C = range(3)"
            )
        body = {key: value for key, value in namespace.items() if key not in named}
        cls = super().__new__(mcs, name, bases, {**body, "__slots__": ()})
        members = [cls(camel_case(key), index) for key, index in sorted(named.items(), key=lambda item: item[1])]
        for key, index in named.items():
            type.__setattr__(cls, key, members[index])
        cls.members = tuple(members)
        return cls

    @property
    def kmc_type(cls) -> EnumType:
        """The domain that the class means in an annotation."""
        return EnumType(cls)


class Enum(Symbol, metaclass=EnumMeta):
    """Base of a spec's enumerations; see the module docstring."""

    __slots__ = ()
