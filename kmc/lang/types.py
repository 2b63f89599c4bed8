"""The static types of the spec language, the classes of classes that mean types, and the unions that `|` makes of both.

Every type is finite, so a compiler can lay it out in bits, and an error can show its domain. A type is data only; its
operations are in modules of their own: `admission` (is a value in the domain), `domains`
(enumerate and describe it), `order`, `permutation`, `tla`. Dispatch is by `match` over the closed union `Type`.

A class of identifiers, an enumeration and a record class are types too: a type holds its class, the class gives its
type, and `|` joins both. So these are one module, and all values of the language lie above it.
"""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from types import FunctionType, NoneType
from types import UnionType as PythonUnion
from typing import Any, NoReturn, TypeAlias

from kmc.errors import EvaluationError, SpecError
from kmc.lang.assumed_range import assumed_range
from kmc.lang.naming import camel_case
from kmc.lang.showing import shown

_ANY_TYPE = "write one of the types of kmc.lang"
RESERVED_FIELDS = (
    "set",
    "items",
    "fields",
    "shapes",
    "tag",
    "abstract",
    "kmc_type",
    "written_type",
    "source_field",
    "dest_field",
)
"""Names that no field of a record has: those of the attributes of record classes."""


class Joinable:
    """Lets `Int(0, 3) | None` join types to a union, as classes do."""

    __slots__ = ()

    def __or__(self, other: Any) -> UnionType:
        return union(self, other)

    def __ror__(self, other: Any) -> UnionType:
        return union(other, self)


@dataclass(frozen=True, slots=True)
class BoolType(Joinable):
    """TRUE or FALSE."""


@dataclass(frozen=True, slots=True)
class IntType(Joinable):
    """The integers from `low` to `high`, both included."""

    low: int
    high: int


class UnboundedInt(IntType):
    """The integers without declared bounds, `int` in an annotation.

    For compiled code they end where it assumes that they end now (`kmc.lang.assumed_range`).
    """

    __slots__ = ()

    def __init__(self) -> None:
        """Make the type, which has no fields of its own."""

    @property
    def low(self) -> int:
        """The least integer that compiled code assumes."""
        return assumed_range().low

    @property
    def high(self) -> int:
        """The largest integer that compiled code assumes."""
        return assumed_range().high

    def __hash__(self) -> int:
        return hash(UnboundedInt)


UNBOUNDED_INT = UnboundedInt()


@dataclass(frozen=True, slots=True)
class EnumType(Joinable):
    """The members of an `Enum` class."""

    cls: SymbolMeta


@dataclass(frozen=True, slots=True)
class IdentType(Joinable):
    """The members of an identifier class: those that a model gives, or those that are spawned while it runs."""

    cls: IdentMeta


@dataclass(frozen=True, slots=True)
class PairType(Joinable):
    """Unordered pairs of two different members of an identifier class."""

    element: IdentType


@dataclass(frozen=True, slots=True)
class RecordType(Joinable):
    """A record class and all shapes of it: the class itself unless it is abstract, and its subclasses."""

    cls: RecordMeta


@dataclass(frozen=True, slots=True)
class UnionType(Joinable):
    """One of several alternatives, and None (shown as Nil) if `optional`."""

    alternatives: tuple[Type, ...]
    optional: bool


@dataclass(frozen=True, slots=True)
class SetType(Joinable):
    """Finite sets of elements.

    `capacity` is the number of members for which a set that is stored as a list has room, where that is fixed: in the
    types of a compiled spec that was read from a file. It is None in a declaration.
    """

    element: Type
    capacity: int | None = None


@dataclass(frozen=True, slots=True)
class SeqType(Joinable):
    """Sequences of at most `capacity` elements; offsets count from 1."""

    element: Type
    capacity: int


@dataclass(frozen=True, slots=True)
class MapType(Joinable):
    """Functions from keys to values; on every key if `total`, else on a subset of the keys."""

    key: Type
    value: Type
    total: bool


@dataclass(frozen=True, slots=True)
class MessageSetType(Joinable):
    """Sets of at most `capacity` messages, each a shape of one of `messages`."""

    messages: tuple[RecordType, ...]
    capacity: int


@dataclass(frozen=True, slots=True)
class MessageBagType(Joinable):
    """Functions from at most `capacity` messages to delivery counts in 0..`count_max`; a count of 0 is kept."""

    messages: tuple[RecordType, ...]
    capacity: int
    count_max: int


NetworkType: TypeAlias = MessageSetType | MessageBagType

Type: TypeAlias = (
    BoolType
    | IntType
    | EnumType
    | IdentType
    | PairType
    | RecordType
    | UnionType
    | SetType
    | SeqType
    | MapType
    | MessageSetType
    | MessageBagType
)


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


class IdentMeta(SymbolMeta):
    """The class of identifier classes."""

    symmetric: bool
    spawned: bool
    started: str | None

    @property
    def kmc_type(cls) -> IdentType:
        """The domain that the class means in an annotation."""
        return IdentType(cls)

    def at(cls, number: int) -> Any:
        """The member at `number` in 1..len, in the order of the model; EvaluationError outside."""
        if type(number) is int and 0 < number <= len(cls.members):
            return cls.members[number - 1]
        raise EvaluationError(
            "KMC234",
            f"{cls.__name__} has no member number {shown(number)}",
            help=f"members are numbered 1..len({cls.__name__})",
        )

    def fresh(cls, used: Collection[Any]) -> Any:
        """The first member that is not in `used`; an error when all are used (guard with `len`)."""
        for member in cls.members:
            if member not in used:
                return member
        raise EvaluationError(
            "KMC231",
            f"all {len(cls.members)} identifiers of {cls.__name__} are in use",
            help=f"guard the action with len(...) < len({cls.__name__})",
        )


class RecordMeta(type):
    """Turns the annotations of a class body into fields."""

    fields: dict[str, Type]
    tag: str
    abstract: bool
    written_type: str | None
    """The type in a TLA+ value of the class: for a message its tag; for any other record None, if its fields identify
    it.
    """

    def __new__(
        mcs,
        name: str,
        bases: tuple[type, ...],
        namespace: dict[str, Any],
        *,
        abstract: bool = False,
        tag: str | None = None,
        root: bool = False,
        **message: str | None,
    ) -> RecordMeta:
        cls = super().__new__(mcs, name, bases, {**namespace, "__slots__": ()})
        if root:
            cls.fields, cls.tag, cls.abstract, cls.written_type = {}, name, True, None
            return cls
        inherited = [base for base in bases if isinstance(base, RecordMeta)]
        own = _own_fields(cls, name, namespace)
        cls.fields = {**inherited[0].fields, **own}
        cls.tag = tag or (inherited[0].tag if inherited[0].fields else camel_case(name))
        cls.abstract = abstract
        cls.written_type = None
        _link_shapes(cls)
        cls._declare(message)  # type: ignore[attr-defined]  # defined by Record and Message
        return cls

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: object) -> None:
        super().__init__(name, bases, namespace)

    def __or__(cls, other: Any) -> UnionType:  # type: ignore[override]  # a kmc union, not Python's
        return NotImplemented if isinstance(other, frozenset) else union(cls, other)

    def __ror__(cls, other: Any) -> UnionType:  # type: ignore[override]  # as above
        return NotImplemented if isinstance(other, frozenset) else union(other, cls)

    def __repr__(cls) -> str:
        return cls.__name__

    @property
    def kmc_type(cls) -> RecordType:
        """The domain that the class means in an annotation."""
        return RecordType(cls)

    @property
    def shapes(cls) -> tuple[RecordMeta, ...]:
        """The classes that have instances: this one unless it is abstract, and all that derive from it.

        `Record` has none: the classes of one spec are not those of another.
        """
        return tuple(getattr(cls, "_shapes", ()))  # set by _link_shapes


def _own_fields(cls: RecordMeta, name: str, namespace: dict[str, Any]) -> dict[str, Type]:
    fields: dict[str, Type] = {}
    for field, annotation in inspect.get_annotations(cls).items():
        if field in RESERVED_FIELDS or field.startswith("_"):
            raise SpecError("KMC131", f"'{field}' cannot be the name of a field of {name}", help="choose another name")
        fields[field] = as_type(annotation, f"field '{field}' of {name}")
    stray = [key for key in namespace if not key.startswith("__") and key not in fields]
    if stray:
        raise SpecError(
            "KMC132",
            f"'{stray[0]}' in record {name} is not a field",
            help="a record holds annotated fields only: name: Type; write helpers as functions",
        )
    return fields


def _link_shapes(cls: RecordMeta) -> None:
    type.__setattr__(cls, "_shapes", [] if cls.abstract else [cls])
    if not cls.abstract:
        for base in cls.__mro__[1:]:
            if isinstance(base, RecordMeta) and base.fields:
                base._shapes.append(cls)  # type: ignore[attr-defined]  # as above


class Subscripted:
    """Base of the words that have their arguments in brackets."""

    def __new__(cls, *args: object, **kwargs: object) -> NoReturn:
        raise SpecError("KMC143", f"{cls.__name__} is a type", help=f"write {cls.__name__}[...] in an annotation")


def as_type(annotation: Any, where: str) -> Type:
    """The type that `annotation` means; SpecError naming `where` when it is not a type."""
    if isinstance(annotation, Joinable):
        declared: Type = annotation  # type: ignore[assignment]  # only the classes of Type can be joined
        return declared
    if annotation is int:
        return UNBOUNDED_INT
    if isinstance(annotation, PythonUnion):  # int | None: Python makes it before a type of kmc is asked
        return union_of(tuple(None if part is NoneType else part for part in annotation.__args__))
    described = getattr(annotation, "kmc_type", None)
    if isinstance(described, Joinable):
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
    of_integers = "write Int(least, greatest), or int for integers without bounds"
    if isinstance(annotation, FunctionType) and annotation.__name__ == "Int":
        return of_integers
    if isinstance(annotation, type) and issubclass(annotation, Subscripted):
        return f"write {annotation.__name__}[...]"
    advice = {bool: "write Bool", set: "write Set[...]", list: "write Seq[..., n]"}
    advice |= {dict: "write Map[...] or PartialMap[...]", tuple: "write a Record", str: "write an Enum"}
    return advice.get(annotation, _ANY_TYPE) if isinstance(annotation, type) else _ANY_TYPE


def union(left: Any, right: Any) -> UnionType:
    """`left | right` in an annotation."""
    return union_of((left, right))


def union_of(members: tuple[Any, ...]) -> UnionType:
    """The union of these parts of an annotation, where None makes it optional; SpecError for what no union can hold."""
    alternatives: list[Type] = []
    optional = False
    for member in members:
        if member is None:
            optional = True
        elif isinstance(member, UnionType):
            optional = optional or member.optional
            alternatives.extend(member.alternatives)
        else:
            alternatives.append(as_type(member, "an alternative of a union"))
    unique = tuple(kind for kind in dict.fromkeys(alternatives) if not _is_shape_of_another(kind, alternatives))
    if not unique:
        raise SpecError("KMC153", "a union needs an alternative besides None", help="write Opt[Server]")
    _refuse_overlap(unique)
    return UnionType(unique, optional)


def _is_shape_of_another(kind: Type, alternatives: list[Type]) -> bool:
    """Return whether another alternative is a record class that has all shapes of this one: they would count twice."""
    if not isinstance(kind, RecordType):
        return False
    records = [other.cls for other in alternatives if isinstance(other, RecordType)]
    return any(other in kind.cls.__mro__[1:] and other.fields for other in records)


def _refuse_overlap(alternatives: tuple[Type, ...]) -> None:
    for kinds in (BoolType | IntType, SetType | PairType, SeqType | MapType):
        if sum(isinstance(kind, kinds) for kind in alternatives) > 1:
            raise SpecError(
                "KMC154",
                "these alternatives cannot be told apart",
                help="a union joins identifiers, enums and records, and at most one of Bool and Int, "
                "one of Set and Pair, and one of Seq and maps",
            )


def shapes_of(messages: tuple[RecordType, ...]) -> Iterator[Any]:
    """The record classes that may travel in a network of `messages`, each once: it may derive from two."""
    yield from dict.fromkeys(shape for kind in messages for shape in kind.cls.shapes)


def parts_of(alternatives: tuple[Type, ...]) -> tuple[Any, ...]:
    """The alternatives of a union, with the shapes of its record classes, each once: it may derive from two of them."""
    parts = [kind.cls.shapes if isinstance(kind, RecordType) else (kind,) for kind in alternatives]
    return tuple(dict.fromkeys(part for several in parts for part in several))
