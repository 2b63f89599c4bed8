"""Admission: whether a value is in the domain of a type, decided once per field at the moment it is stored.

`admitter(type)` gives a function from a value to the value to store: the same value, or a literal (a set, a list, a
dict of the spec's source) turned into a value that knows its type. A value outside the domain raises a
DomainError that shows the value and the domain. The caller adds the field, and the loader adds the author's line.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from types import FunctionType, GeneratorType
from typing import Any, NoReturn, TypeAlias, assert_never

from kmc.errors import DomainError
from kmc.lang.assumed_range import INT_MAX
from kmc.lang.domains import describe, members
from kmc.lang.maps import MapValue
from kmc.lang.networks import MessageBagValue, MessageSetValue, bag_of_messages, set_of_messages
from kmc.lang.order import ordered
from kmc.lang.seqs import SeqValue, seq_class
from kmc.lang.showing import shown
from kmc.lang.types import (
    BoolType,
    EnumType,
    IdentType,
    IntType,
    MapType,
    MessageBagType,
    MessageSetType,
    NetworkType,
    PairType,
    RecordMeta,
    RecordType,
    SeqType,
    SetType,
    Type,
    UnboundedInt,
    UnionType,
    shapes_of,
)

Admit: TypeAlias = Callable[[Any], Any]


def refuse(value: object, declared: Type) -> NoReturn:
    """Raise DomainError: `value` is not in the domain of `declared`."""
    raise DomainError("KMC201", f"{shown(value)} is not in {describe(declared)}", help=advice_on_value(value, declared))


def advice_on_value(value: object, declared: Type) -> str:
    """The advice for a value that is outside of a domain."""
    match declared:
        case _ if isinstance(value, set | dict | list):
            return "in a Python session, write kmc.literal(...) around a set, a list or a dict"
        case EnumType(cls) | IdentType(cls) if isinstance(value, str):
            return f"write a member of {cls.__name__}; in a Python session, list(spec.{cls.__name__}) has them"
        case UnboundedInt() if type(value) is int:
            return "an int is at most 2**52, and at least -2**52; guard the action"
        case IntType():
            return _int_advice(value)
        case BoolType():
            return "write True, False or a condition"
        case UnionType((only,), _) if value is not None:
            return advice_on_value(value, only)
        case UnionType():
            return "the declaration names the kinds of values that may stand here"
        case _ if value is None:
            return "declare it Opt[...] if there may be none"
        case _ if isinstance(value, FunctionType):
            return "call it, with its arguments in parentheses"
        case _ if isinstance(value, GeneratorType):
            return "a helper that yields is delegated to: yield from helper(...)"
        case SetType() if isinstance(value, MapValue) and not value:
            return "write set() for the empty set; {} is the empty map"
        case MessageSetType() if isinstance(value, MapValue) and not value:
            return "write set() for a message set without messages; {} is the empty map"
        case MessageBagType() if isinstance(value, frozenset) and not value:
            return "write {} for a message bag without messages; a bag is a map from messages to counts"
        case SetType():
            return "write a set: {x, y}, {x for x in ...}, set()"
        case SeqType():
            return "write a sequence: [x, y], [x for x in ...], []"
        case MapType():
            return "write a map: {key: value for key in ...}, {}"
        case EnumType(cls) | IdentType(cls):
            return f"write a member of {cls.__name__}, or declare it {cls.__name__} | ..."
        case RecordType(cls):
            return f"make a {' or a '.join(map(repr, cls.shapes))}, or declare what else may stand here"
        case _:
            return "the declaration says what may stand here"


def _int_advice(value: object) -> str:
    if isinstance(value, bool):
        return "a Bool is not a number; write 1 if x else 0"
    return "guard the action, or widen the Int(...) of the declaration" if isinstance(value, int) else "write a number"


@lru_cache(maxsize=4096)
def admitter(declared: Type) -> Admit:
    """The admission function of `declared`; see the module docstring."""
    match declared:
        case BoolType():
            return _exact(bool, declared)
        case EnumType(cls) | IdentType(cls):
            return _exact(cls, declared)
        case UnboundedInt():
            return _integer(-INT_MAX, INT_MAX, declared)
        case IntType(low, high):
            return _integer(low, high, declared)
        case PairType(element):
            return _pair(element, declared)
        case RecordType(cls):
            return _record(cls, declared)
        case UnionType():
            return _union(declared)
        case SetType(element):
            return _set(admitter(element), declared)
        case SeqType(element):
            return _seq(admitter(element), declared)
        case MapType():
            return _map(declared)
        case MessageSetType():
            return _message_set(declared)
        case MessageBagType():
            return _message_bag(declared)
        case _:
            assert_never(declared)


def _exact(cls: type, declared: Type) -> Admit:
    def admit(value: Any) -> Any:
        return value if type(value) is cls else refuse(value, declared)

    return admit


def _integer(low: int, high: int, declared: Type) -> Admit:
    def admit(value: Any) -> Any:
        return value if type(value) is int and low <= value <= high else refuse(value, declared)

    return admit


def _pair(element: IdentType, declared: Type) -> Admit:
    def admit(value: Any) -> Any:
        fits = type(value) is frozenset and len(value) == 2 and all(type(member) is element.cls for member in value)
        return value if fits else refuse(value, declared)

    return admit


def _record(cls: Any, declared: Type) -> Admit:
    shapes = cls._shapes  # grows while later files declare records that derive from this one

    def admit(value: Any) -> Any:
        return value if type(value) in shapes else refuse(value, declared)

    return admit


def _union(declared: UnionType) -> Admit:
    alternatives = [admitter(alternative) for alternative in declared.alternatives]

    def admit(value: Any) -> Any:
        if value is None and declared.optional:
            return None
        for alternative in alternatives:
            try:
                return alternative(value)
            except DomainError:
                continue
        refuse(value, declared)

    return admit


def _set(admit_element: Admit, declared: Type) -> Admit:
    def admit(value: Any) -> Any:
        if type(value) is not frozenset:
            refuse(value, declared)
        try:
            for element in value:
                if admit_element(element) is not element:
                    return frozenset(admit_element(element) for element in value)
        except DomainError:
            # Which element is reported must not depend on the order in memory.
            for element in _in_order(value):
                admit_element(element)
            raise
        return value

    return admit


def _in_order(elements: frozenset[Any]) -> list[Any]:
    """The elements in display order; by their texts, where some are not values of the language."""
    try:
        return ordered(elements)
    except TypeError:
        return sorted(elements, key=shown)


def _seq(admit_element: Admit, declared: SeqType) -> Admit:
    typed = seq_class(declared)

    def admit(value: Any) -> Any:
        if type(value) is typed and len(value) <= declared.capacity:
            # Appended elements have not been admitted one by one.
            return value if not value else tuple.__new__(typed, map(admit_element, value))
        if not isinstance(value, SeqValue):
            refuse(value, declared)
        if len(value) > declared.capacity:
            raise DomainError(
                "KMC203",
                f"{len(value)} elements are too many for {describe(declared)}",
                help="guard the action, or raise the capacity of Seq[...]",
            )
        return tuple.__new__(typed, map(admit_element, value))

    return admit


class TypedMap:
    """The domain that a stored map knows (`kmc.lang.maps.MapDomain`)."""

    __slots__ = ("declared", "key", "total", "value")

    def __init__(self, declared: MapType) -> None:
        self.declared = declared
        self.total = declared.total
        self.key = admitter(declared.key)
        self.value = admitter(declared.value)


def _map(declared: MapType) -> Admit:
    domain = TypedMap(declared)
    keys = frozenset(members(declared.key)) if declared.total else None

    def admit(value: Any) -> Any:
        if type(value) is not MapValue:
            refuse(value, declared)
        if value.domain is domain:
            return value
        if keys is not None and value.keys() != keys:
            missing = sorted(shown(key) for key in keys - value.keys())
            extra = sorted(shown(key) for key in value.keys() - keys)
            raise DomainError(
                "KMC202",
                f"a total map needs exactly the keys {describe(declared.key)}"
                + (f"; missing: {', '.join(missing)}" if missing else "")
                + (f"; not a key: {', '.join(extra)}" if extra else ""),
                help="write {k: ... for k in ...} over the whole key type, or declare a PartialMap",
            )
        return MapValue({domain.key(key): domain.value(item) for key, item in value.items()}, domain)

    return admit


class TypedNetwork:
    """The domain that a stored network knows (`kmc.lang.networks.NetworkDomain`)."""

    __slots__ = ("capacity", "classes", "count_max", "declared")

    def __init__(self, declared: NetworkType) -> None:
        self.declared = declared
        self.classes: frozenset[type] = frozenset(shapes_of(declared.messages))
        self.capacity = declared.capacity
        self.count_max = declared.count_max if isinstance(declared, MessageBagType) else 1

    def refuse(self, message: Any, size: int, count: int) -> None:
        """Raise DomainError for too many messages, a message of another class, or too large a count."""
        if size > self.capacity:
            raise DomainError(
                "KMC204",
                f"this network holds at most {self.capacity} messages, but this step can make it {size}",
                help="raise the capacity of the network in its declaration",
            )
        if type(message) not in self.classes:
            # A file that is loaded later may derive further shapes.
            self.classes = frozenset(shapes_of(self.declared.messages))
        if type(message) not in self.classes:
            kinds = " | ".join(describe(kind) for kind in self.declared.messages)
            is_record = isinstance(type(message), RecordMeta)
            kind = type(message).__name__ if is_record else shown(message)
            advice = f"declare it with [{kinds} | {kind}]" if is_record else "send a message"
            raise DomainError("KMC206", f"this network holds {kinds}, not {kind}", help=advice)
        if count > self.count_max:
            raise DomainError(
                "KMC205",
                f"a message can be delivered at most {self.count_max} times, but this step makes it {count}",
                help="raise the largest count of MessageBag[...]",
            )


def _message_set(declared: MessageSetType) -> Admit:
    domain = TypedNetwork(declared)

    def admit(value: Any) -> Any:
        if type(value) is MessageSetValue and value.domain is domain:
            return value
        if type(value) is not frozenset and type(value) is not MessageSetValue:
            refuse(value, declared)
        return set_of_messages(value, domain)

    return admit


def _message_bag(declared: MessageBagType) -> Admit:
    domain = TypedNetwork(declared)

    def admit(value: Any) -> Any:
        if type(value) is MessageBagValue:
            return value if value.domain is domain else bag_of_messages(value.counts(), domain)
        if type(value) is not MapValue:
            refuse(value, declared)
        return bag_of_messages(value.items(), domain)

    return admit
