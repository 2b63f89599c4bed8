"""Properties that no state can make false: they hold in every model, and checking them says nothing.

A property is run on a state whose variables get values when they are read: each value of the type in turn. It is a
tautology if it is true for all of them. Invariant: no property is called one that some typed state makes false. A
property with more than `CASES_MAX` cases, or one that reads a variable whose values cannot be listed, is not decided.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import islice, product
from typing import Any

from kmc.errors import KmcError
from kmc.invariants.properties import Predicate
from kmc.lang.admission import admitter
from kmc.lang.assumed_range import forget_with_range
from kmc.lang.domains import members
from kmc.lang.maps import map_literal
from kmc.lang.set_ranges import subsets
from kmc.lang.types import MapType, RecordType, SetType, Type

CASES_MAX = 1024
"""The greatest number of cases that are tried: some milliseconds. A property of interest is false in one of the first
few.
"""


class _Unread(BaseException):
    """A variable was read that has no value yet. No code of a spec catches it."""

    def __init__(self, position: int, name: str) -> None:
        self.read = position, name


class _Probe:
    """A state, number `place` of the property's parameters, with values for the variables that have been read."""

    __slots__ = ("_known", "_place", "_types")

    def __init__(self, position: int, types: Mapping[str, Type], known: Mapping[tuple[int, str], Any]) -> None:
        self._place, self._types, self._known = position, types, known

    def __eq__(self, other: object) -> bool:
        """A state as a whole has no value here, so a property that compares states is not decided."""
        raise TypeError

    def __hash__(self) -> int:
        """Nor is it a member of a collection."""
        raise TypeError

    def __getattr__(self, name: str) -> Any:
        if name not in self._types:
            raise AttributeError(name)
        if (self._place, name) not in self._known:
            raise _Unread(self._place, name)
        return self._known[self._place, name]


def tautology(prop: Predicate, types: Mapping[str, Type], states: int = 1) -> str | None:
    """The reason why a property is true whatever the state, as a clause; None if it is not, or not decided.

    `types` are those of the state's variables by name, and `states` the number of states that are arguments of the
    property.
    """
    waiting: list[dict[tuple[int, str], Any]] = [{}]
    cases, read = 0, dict[str, None]()
    while waiting:
        known = waiting.pop()
        cases += 1
        if cases + len(waiting) > CASES_MAX:
            return None
        try:
            if prop.function(*(_Probe(position, types, known) for position in range(states))) is not True:
                return None
        except _Unread as unread:
            read[unread.read[1]] = None
            try:
                values = _first_values(types[unread.read[1]])
            except KmcError:
                return None
            waiting += [{**known, unread.read: value} for value in values]
        except Exception:
            # An author's code may raise anything on such a state. Then it is not decided; the search reports the error.
            return None
    if not read:
        return "it reads no variable, and is true of every state"
    return f"it is true whatever {_listing(list(read))} {'is' if len(read) == 1 else 'are'}"


@lru_cache(maxsize=64)
def _first_values(declared: Type) -> tuple[Any, ...]:
    """The first values of a type, one more than `CASES_MAX` if there are so many; KmcError where they are not listed.

    Most properties of a spec read the same few variables.
    """
    return tuple(islice(_values(declared), CASES_MAX + 1))


forget_with_range(_first_values.cache_clear)


def _values(declared: Type) -> Iterator[Any]:
    """The values of a type; KmcError where they are not listed."""
    match declared:
        case SetType(element):
            yield from subsets(list(_values(element)))
        case MapType(key, value, True):
            admit: Callable[[Any], Any] = admitter(declared)
            keys = list(members(key))
            for chosen in product(list(islice(_values(value), CASES_MAX + 1)), repeat=len(keys)):
                yield admit(map_literal(zip(keys, chosen, strict=True)))
        case RecordType(cls):
            for shape in cls.shapes:
                fields = {name: list(islice(_values(kind), CASES_MAX + 1)) for name, kind in shape.fields.items()}
                for chosen in product(*fields.values()):
                    yield shape(**dict(zip(fields, chosen, strict=True)))
        case _:
            yield from members(declared)


def _listing(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
