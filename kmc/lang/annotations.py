"""The words of type annotations: `Bool`, `Int(0, 3)`, `Opt[T]`, `A | B | None`, `Set[T]`, `Seq[T, n]`, `Map[K, V]`,
`PartialMap[K, V]`, `Pair[T]`, `MessageSet[...]`, `MessageBag[...]`, and classes of identifiers, enumerations, records.

Each evaluates to a value of `kmc.lang.types.Type`; classes are wrapped by `as_type`.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import FunctionType
from typing import Any, NoReturn

from kmc.errors import SpecError
from kmc.lang import types
from kmc.lang.showing import shown

CAPACITY_DEFAULT = 4096
COUNT_MAX_DEFAULT = 255
_INT_HELP = "write Int(least, greatest)"
_ANY_TYPE = "write one of the types of kmc.lang"

Bool = types.BoolType()


def Int(low: int, high: int) -> types.IntType:
    """The type of the integers from `low` to `high`, both included; SpecError when that is empty."""
    for bound in (low, high):
        if type(bound) is not int:
            raise SpecError("KMC141", f"the bounds of Int must be integers, not {shown(bound)}", help=_INT_HELP)
    if low > high:
        raise SpecError("KMC142", f"Int({low}, {high}) is empty", help=_INT_HELP)
    return types.IntType(low, high)


class _Subscripted:
    """Base of the words that take their arguments in brackets."""

    def __new__(cls, *args: object, **kwargs: object) -> NoReturn:
        raise SpecError("KMC143", f"{cls.__name__} is a type", help=f"write {cls.__name__}[...] in an annotation")


class Opt(_Subscripted):
    """`Opt[T]`: a value of T, or None."""

    def __class_getitem__(cls, item: Any) -> types.UnionType:
        return _union_of((item, None))


class Set(_Subscripted):
    """`Set[T]`: finite sets of T."""

    def __class_getitem__(cls, item: Any) -> types.SetType:
        return types.SetType(as_type(item, "Set[...]"))


class Seq(_Subscripted):
    """`Seq[T, n]`: sequences of at most n elements of T."""

    def __class_getitem__(cls, item: Any) -> types.SeqType:
        if not (isinstance(item, tuple) and len(item) == 2 and type(item[1]) is int and item[1] >= 0):
            raise SpecError("KMC144", "Seq needs an element type and a capacity", help="write Seq[Entry, 4]")
        return types.SeqType(as_type(item[0], "Seq[...]"), item[1])


def _map_type(word: str, item: Any, *, total: bool) -> types.MapType:
    if not (isinstance(item, tuple) and len(item) == 2):
        raise SpecError("KMC145", f"{word} needs a key type and a value type", help=f"write {word}[Server, Node]")
    key = as_type(item[0], f"the key of {word}")
    if not isinstance(key, types.IdentType | types.EnumType | types.PairType | types.IntType):
        raise SpecError("KMC146", f"{word} cannot have this key type", help="keys: identifiers, pairs, enums, Int")
    return types.MapType(key, as_type(item[1], f"the value of {word}"), total)


class Map(_Subscripted):
    """`Map[K, V]`: functions on all of K."""

    def __class_getitem__(cls, item: Any) -> types.MapType:
        return _map_type("Map", item, total=True)


class PartialMap(_Subscripted):
    """`PartialMap[K, V]`: functions on a subset of K."""

    def __class_getitem__(cls, item: Any) -> types.MapType:
        return _map_type("PartialMap", item, total=False)


class PairMeta(type):
    """Lets `Pair[Server]` stand for the type and `pair(a, b)` for a value."""

    def __getitem__(cls, item: Any) -> types.PairType:
        element = as_type(item, "Pair[...]")
        if not isinstance(element, types.IdentType):
            raise SpecError("KMC147", "Pair needs an identifier type", help="write Pair[Server]")
        return types.PairType(element)


class Pair(metaclass=PairMeta):
    """`Pair[Server]`: unordered pairs of two different servers."""


def _network(word: str, item: Any, extras: int) -> tuple[tuple[types.RecordType, ...], list[int]]:
    messages, *numbers = item if isinstance(item, tuple) else (item,)
    alternatives = _alternatives(messages)
    if len(numbers) > extras or any(type(number) is not int or number < 1 for number in numbers):
        usage = ", ".join(["Vote", "capacity", "largest count"][: extras + 1])
        raise SpecError("KMC148", f"the bounds of {word} must be positive integers", help=f"write {word}[{usage}]")
    if not alternatives or not all(isinstance(kind, types.RecordType) for kind in alternatives):
        raise SpecError("KMC149", f"{word} holds messages", help=f"write {word}[VoteRequest | VoteResponse]")
    return tuple(kind for kind in alternatives if isinstance(kind, types.RecordType)), numbers


class MessageSet(_Subscripted):
    """`MessageSet[A | B]` or `MessageSet[A | B, capacity]`: sets of messages."""

    def __class_getitem__(cls, item: Any) -> types.MessageSetType:
        messages, numbers = _network("MessageSet", item, 1)
        return types.MessageSetType(messages, *(numbers or [CAPACITY_DEFAULT]))


class MessageBag(_Subscripted):
    """`MessageBag[A | B]`, with an optional capacity and a largest count: bags that keep delivered messages."""

    def __class_getitem__(cls, item: Any) -> types.MessageBagType:
        messages, numbers = _network("MessageBag", item, 2)
        return types.MessageBagType(messages, *numbers, *(CAPACITY_DEFAULT, COUNT_MAX_DEFAULT)[len(numbers) :])


def as_type(annotation: Any, where: str) -> types.Type:
    """The type that `annotation` means; SpecError naming `where` when it is not a type."""
    if isinstance(annotation, types.Joinable):
        declared: types.Type = annotation  # type: ignore[assignment]  # only the classes of Type can be joined
        return declared
    described = getattr(annotation, "kmc_type", None)
    if isinstance(described, types.Joinable):
        return as_type(described, where)
    if isinstance(annotation, str):
        raise SpecError(
            "KMC151",
            f"{where} is annotated with text",
            help="remove the quotes",
        )
    named = annotation.__name__ if isinstance(annotation, type | FunctionType) else shown(annotation)
    raise SpecError("KMC152", f"{where} has no finite domain: {named}", help=_advice(annotation))


def _advice(annotation: Any) -> str:
    if annotation is None:
        return "write Opt[TYPE] for a field that may be None, such as the source of a message without a sender"
    if annotation is Int:
        return "write Int(least, greatest)"
    if isinstance(annotation, type) and issubclass(annotation, _Subscripted):
        return f"write {annotation.__name__}[...]"
    advice = {int: "write Int(least, greatest)", bool: "write Bool", set: "write Set[...]", list: "write Seq[..., n]"}
    advice |= {dict: "write Map[...] or PartialMap[...]", tuple: "write a Record", str: "write an Enum"}
    return advice.get(annotation, _ANY_TYPE) if isinstance(annotation, type) else _ANY_TYPE


def union(left: Any, right: Any) -> types.UnionType:
    """`left | right` in an annotation."""
    return _union_of((left, right))


def _union_of(parts: tuple[Any, ...]) -> types.UnionType:
    alternatives: list[types.Type] = []
    optional = False
    for part in parts:
        if part is None:
            optional = True
        elif isinstance(part, types.UnionType):
            optional = optional or part.optional
            alternatives.extend(part.alternatives)
        else:
            alternatives.append(as_type(part, "an alternative of a union"))
    unique = tuple(dict.fromkeys(alternatives))
    if not unique:
        raise SpecError("KMC153", "a union needs an alternative besides None", help="write Opt[Server]")
    _refuse_overlap(unique)
    return types.UnionType(unique, optional)


def _refuse_overlap(alternatives: tuple[types.Type, ...]) -> None:
    plain = [kind for kind in alternatives if isinstance(kind, types.BoolType | types.IntType)]
    compound = [kind for kind in alternatives if isinstance(kind, types.SetType | types.SeqType | types.MapType)]
    if len(plain) > 1 or (compound and len(alternatives) > 1):
        raise SpecError(
            "KMC154",
            "these alternatives cannot be told apart",
            help="a union joins identifiers, enums, records and at most one of Bool and Int",
        )


def _alternatives(item: Any) -> tuple[types.Type, ...]:
    if isinstance(item, types.UnionType):
        return item.alternatives
    return (as_type(item, "a network"),)


def shapes_of(messages: tuple[types.RecordType, ...]) -> Iterator[Any]:
    """The record classes that may travel in a network of `messages`."""
    for kind in messages:
        yield from kind.cls.shapes
