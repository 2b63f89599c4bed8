"""The words of type annotations: `Bool`, `Int(0, 3)`, `Opt[T]`, `A | B | None`, `Set[T]`, `Seq[T, n]`, `Map[K, V]`,
`PartialMap[K, V]`, `Pair[T]`, `MessageSet[...]`, `MessageBag[...]`, and classes of identifiers, enumerations, records.

Each evaluates to a value of `kmc.lang.types.Type`; classes are wrapped by `types.as_type`. The brackets of a
word are a method of its metaclass, since a type checker ignores `__class_getitem__`.
"""

from __future__ import annotations

from typing import Any

from kmc.errors import SpecError
from kmc.lang import types
from kmc.lang.showing import shown

CAPACITY_DEFAULT = 4096
COUNT_MAX_DEFAULT = 255
_INT_HELP = "write Int(least, greatest)"

Bool = types.BoolType()


def Int(low: int, high: int) -> types.IntType:
    """The type of the integers from `low` to `high`, both included; SpecError when that is empty."""
    for bound in (low, high):
        if type(bound) is not int:
            raise SpecError("KMC141", f"the bounds of Int must be integers, not {shown(bound)}", help=_INT_HELP)
    if low > high:
        raise SpecError("KMC142", f"Int({low}, {high}) is empty", help=_INT_HELP)
    return types.IntType(low, high)


class _OptBrackets(type):
    def __getitem__(cls, item: Any) -> types.UnionType:
        return types.union_of((item, None))


class Opt(types.Subscripted, metaclass=_OptBrackets):
    """`Opt[T]`: a value of T, or None."""


class _SetBrackets(type):
    def __getitem__(cls, item: Any) -> types.SetType:
        return types.SetType(types.as_type(item, "Set[...]"))


class Set(types.Subscripted, metaclass=_SetBrackets):
    """`Set[T]`: finite sets of T."""


class _SeqBrackets(type):
    def __getitem__(cls, item: Any) -> types.SeqType:
        if not (isinstance(item, tuple) and len(item) == 2 and type(item[1]) is int and item[1] >= 0):
            raise SpecError("KMC144", "Seq needs an element type and a capacity", help="write Seq[Entry, 4]")
        return types.SeqType(types.as_type(item[0], "Seq[...]"), item[1])


class Seq(types.Subscripted, metaclass=_SeqBrackets):
    """`Seq[T, n]`: sequences of at most n elements of T."""


def _map_type(word: str, item: Any, *, total: bool) -> types.MapType:
    if not (isinstance(item, tuple) and len(item) == 2):
        raise SpecError("KMC145", f"{word} needs a key type and a value type", help=f"write {word}[Server, Node]")
    key = types.as_type(item[0], f"the key of {word}")
    if isinstance(key, types.MessageSetType | types.MessageBagType):
        raise SpecError("KMC146", f"{word} cannot have networks as keys", help="keys: values of any other type")
    return types.MapType(key, types.as_type(item[1], f"the value of {word}"), total)


class _MapBrackets(type):
    def __getitem__(cls, item: Any) -> types.MapType:
        return _map_type("Map", item, total=True)


class Map(types.Subscripted, metaclass=_MapBrackets):
    """`Map[K, V]`: functions on all of K."""


class _PartialMapBrackets(type):
    def __getitem__(cls, item: Any) -> types.MapType:
        return _map_type("PartialMap", item, total=False)


class PartialMap(types.Subscripted, metaclass=_PartialMapBrackets):
    """`PartialMap[K, V]`: functions on a subset of K."""


class _PairBrackets(type):
    """Lets `Pair[Server]` mean the type and `pair(a, b)` a value."""

    def __getitem__(cls, item: Any) -> types.PairType:
        element = types.as_type(item, "Pair[...]")
        if not isinstance(element, types.IdentType):
            raise SpecError("KMC147", "Pair needs an identifier type", help="write Pair[Server]")
        return types.PairType(element)


class Pair(metaclass=_PairBrackets):
    """`Pair[Server]`: unordered pairs of two different servers."""


def _network(word: str, item: Any, extras: int) -> tuple[tuple[types.RecordType, ...], list[int]]:
    messages, *bounds = item if isinstance(item, tuple) else (item,)
    alternatives = _alternatives(messages)
    if len(bounds) > extras or any(type(bound) is not int or bound < 1 for bound in bounds):
        usage = ", ".join(["Vote", "capacity", "largest count"][: extras + 1])
        raise SpecError("KMC148", f"the bounds of {word} must be positive integers", help=f"write {word}[{usage}]")
    if not alternatives or not all(isinstance(kind, types.RecordType) for kind in alternatives):
        raise SpecError("KMC149", f"{word} holds messages", help=f"write {word}[VoteRequest | VoteResponse]")
    return tuple(kind for kind in alternatives if isinstance(kind, types.RecordType)), bounds


class _MessageSetBrackets(type):
    def __getitem__(cls, item: Any) -> types.MessageSetType:
        messages, bounds = _network("MessageSet", item, 1)
        return types.MessageSetType(messages, *(bounds or [CAPACITY_DEFAULT]))


class MessageSet(types.Subscripted, metaclass=_MessageSetBrackets):
    """`MessageSet[A | B]` or `MessageSet[A | B, capacity]`: sets of messages."""


class _MessageBagBrackets(type):
    def __getitem__(cls, item: Any) -> types.MessageBagType:
        messages, bounds = _network("MessageBag", item, 2)
        return types.MessageBagType(messages, *bounds, *(CAPACITY_DEFAULT, COUNT_MAX_DEFAULT)[len(bounds) :])


class MessageBag(types.Subscripted, metaclass=_MessageBagBrackets):
    """`MessageBag[A | B]`, with an optional capacity and a largest count: bags that keep delivered messages."""


def _alternatives(item: Any) -> tuple[types.Type, ...]:
    if isinstance(item, types.UnionType):
        return item.alternatives
    return (types.as_type(item, "a network"),)
