r"""The kinds of values: numbers, strings, Booleans, model values, sets, sequences and other functions.

Invariant: two hashable values are equal in Python exactly if they are the same value of TLA+, and then they hash alike.
So TRUE and FALSE are `TlaBoolean` (in Python, `True == 1`), a function on 1..n is always a tuple, and every other
function a `FunctionValue` over an interned `Domain`. Records are functions of strings. A set is a frozenset; a
`SymbolicSet`, such as `Nat` or `SUBSET S`, is a value only until it is stored: `kmc.tla.values.sets` enumerates it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar, Final, TypeAlias, Union, final


@final
class TlaBoolean:
    """TRUE or FALSE; there are no others."""

    __slots__ = ("holds",)

    def __init__(self, holds: bool) -> None:
        self.holds: Final = holds

    def __repr__(self) -> str:
        return "TRUE" if self.holds else "FALSE"

    def __reduce__(self) -> tuple[object, tuple[bool]]:
        return truth, (self.holds,)


TRUE: Final = TlaBoolean(True)
FALSE: Final = TlaBoolean(False)


def truth(holds: bool) -> TlaBoolean:
    """Return TRUE or FALSE."""
    return TRUE if holds else FALSE


@final
class TlaModelValue:
    """A model value, equal to itself only; `type_letter` is the T of a typed one, such as `T_1`, else empty."""

    __slots__ = ("name", "type_letter")
    _known: ClassVar[dict[str, TlaModelValue]] = {}

    name: str
    type_letter: str

    def __new__(cls, name: str) -> TlaModelValue:
        known = cls._known.get(name)
        if known is None:
            known = object.__new__(cls)
            known.name = name
            known.type_letter = name[0] if len(name) > 2 and name[1] == "_" else ""
            known = cls._known.setdefault(name, known)
        return known

    @classmethod
    def is_known(cls, name: str) -> bool:
        """Return whether a model value of this name has been made."""
        return name in cls._known

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return TlaModelValue, (self.name,)


class SymbolicSet:
    """A set that is described, not listed: a membership test and, if it is finite, an enumeration."""

    __slots__ = ()

    @property
    def is_finite(self) -> bool:
        """Whether its elements can be listed."""
        return True

    def contains(self, value: Value) -> bool:
        """Return whether the value is an element; EvaluationError where TLC cannot compare it with one."""
        raise NotImplementedError

    def elements(self) -> Iterator[Value]:
        """Enumerate the elements, each once, in TLC's order for CHOOSE."""
        raise NotImplementedError

    def size(self) -> int:
        """Return the number of elements."""
        return sum(1 for _ in self.elements())

    def text(self) -> str:
        """Return the set as TLC prints it."""
        raise NotImplementedError


@final
class Domain:
    """The domain of functions: its keys, and where each one is. There is one object per set of keys.

    The keys have no order of their own, since sorting them would cost more than most functions are used for; those of a
    sequence, `are_positions`, are 1..n in order.
    """

    __slots__ = ("__weakref__", "are_positions", "are_strings", "index", "key_set", "keys")

    def __init__(self, key_set: frozenset[Value]) -> None:
        size = len(key_set)
        self.key_set = key_set
        self.are_positions = all(type(key) is int and 0 < key <= size for key in key_set)
        self.keys: tuple[Value, ...] = tuple(range(1, size + 1)) if self.are_positions else tuple(key_set)
        self.index = {key: position for position, key in enumerate(self.keys)}
        self.are_strings = all(type(key) is str for key in key_set)


@final
class FunctionValue:
    """A function whose domain is not 1..n: `values[i]` belongs to `domain.keys[i]`."""

    __slots__ = ("_hash", "domain", "values")

    def __init__(self, domain: Domain, values: tuple[Value, ...]) -> None:
        self.domain = domain
        self.values = values
        self._hash: int | None = None

    def __eq__(self, other: object) -> bool:
        return self is other or (
            type(other) is FunctionValue and self.domain is other.domain and self.values == other.values
        )

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash((self.domain.key_set, self.values))
        return self._hash

    def items(self) -> Iterable[tuple[Value, Value]]:
        """Return the pairs of a key and its value, in no order."""
        return zip(self.domain.keys, self.values, strict=True)


Value: TypeAlias = Union[
    int, str, TlaBoolean, TlaModelValue, "frozenset[Value]", "tuple[Value, ...]", FunctionValue, SymbolicSet
]
"""A value of TLA+. A bool of Python never is one."""
