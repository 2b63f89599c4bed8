"""The spec language as mypy, pyright and editors see it: an annotation is the type of the values that a field holds.

At run time the words build domains (`kmc.lang.annotations`); a test keeps both lists of names equal. A word that also
accepts Python's literals, such as `{}` for a map, is a union with Any: a type checker knows its methods and admits the
literal. `kmc.mypy_plugin` reads literals as kmc does, so there the words have no Any in them.
"""

import enum
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from types import EllipsisType, UnionType
from typing import Any, ClassVar, Generic, Self, TypeAlias, dataclass_transform, overload

from typing_extensions import TypeVar

_T = TypeVar("_T")
_T_co = TypeVar("_T_co", covariant=True)
_K = TypeVar("_K")
_V_co = TypeVar("_V_co", covariant=True)
_E = TypeVar("_E", bound=Enum | Ident | Record)
_Size = TypeVar("_Size", default=Any)
_Most = TypeVar("_Most", default=Any)

class SeqValue(Generic[_T_co, _Size]):
    """A sequence; `log.at(1)` is its first element, `len(log)` the offset of its last."""

    def at(self, offset: int) -> _T_co: ...
    def append(self, element: _T_co) -> Self: ...  # type: ignore[misc]  # a new sequence, so covariance is sound
    def upto(self, offset: int) -> Self: ...
    def offsets(self) -> range: ...
    @overload
    def __getitem__(self, position: int) -> _T_co: ...
    @overload
    def __getitem__(self, position: slice) -> Self: ...
    def __add__(self, other: SeqValue[_T, Any]) -> SeqValue[_T_co | _T, Any]: ...
    def __iter__(self) -> Iterator[_T_co]: ...
    def __len__(self) -> int: ...
    def __contains__(self, element: object) -> bool: ...
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...

class MapValue(Generic[_K, _V_co]):
    """A function with a finite domain: `m[k]`, `m.set(k, v)`, `m.add(k, v)`, `m.without(k)`."""

    def __getitem__(self, key: _K) -> _V_co: ...
    def set(self, key: _K, value: _V_co) -> Self: ...  # type: ignore[misc]  # a new map, so covariance is sound
    def add(self, key: _K, value: _V_co) -> Self: ...  # type: ignore[misc]  # as above
    def without(self, key: _K) -> Self: ...
    def keys(self) -> frozenset[_K]: ...
    def values(self) -> Iterable[_V_co]: ...
    def items(self) -> Iterable[tuple[_K, _V_co]]: ...
    def __contains__(self, key: object) -> bool: ...
    def __iter__(self) -> Iterator[_K]: ...
    def __len__(self) -> int: ...
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...

class _Network(Generic[_T_co]):
    def __contains__(self, message: object) -> bool: ...
    def __iter__(self) -> Iterator[_T_co]: ...
    def __len__(self) -> int: ...
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...

class MessageSetValue(_Network[_T_co], Generic[_T_co, _Size]):
    """A set of messages."""

    def send(self, message: _T_co) -> Self: ...  # type: ignore[misc]  # a new network, so covariance is sound
    def send_all(self, messages: Iterable[_T_co]) -> Self: ...
    def discard(self, message: _T_co) -> Self: ...  # type: ignore[misc]  # as above
    def keep(self, wanted: Callable[[_T_co], bool]) -> Self: ...
    def of(self, message_class: type[_T]) -> frozenset[_T]: ...

class MessageBagValue(_Network[_T_co], Generic[_T_co, _Size, _Most]):
    """A function from messages to how often each can still be delivered."""

    def count(self, message: _T_co) -> int: ...  # type: ignore[misc]  # it changes nothing, so covariance is sound
    def add(self, message: _T_co) -> Self: ...  # type: ignore[misc]  # a new network, so covariance is sound
    def add_all(self, messages: Iterable[_T_co]) -> Self: ...
    def take(self, message: _T_co) -> Self: ...  # type: ignore[misc]  # as above
    def of(self, message_class: type[_T]) -> frozenset[_T]: ...
    def counts(self) -> Iterable[tuple[_T_co, int]]: ...

Bool: TypeAlias = bool
Opt: TypeAlias = _T | None
Set: TypeAlias = frozenset[_T] | Any
Seq: TypeAlias = SeqValue[_T, _Size] | Any
Map: TypeAlias = MapValue[_K, _V_co] | Any
PartialMap: TypeAlias = MapValue[_K, _V_co] | Any
Pair: TypeAlias = frozenset[_T]
MessageSet: TypeAlias = MessageSetValue[_T, _Size] | Any
MessageBag: TypeAlias = MessageBagValue[_T, _Size, _Most] | Any

def Int(low: int, high: int) -> type[int]:
    """The integers from `low` to `high`, both included. Type checkers see an int."""

class _SymbolMeta(type):
    def __iter__(cls: type[_T]) -> Iterator[_T]: ...
    def __len__(cls) -> int: ...
    def __contains__(cls, value: object) -> bool: ...

class _IdentMeta(_SymbolMeta):
    def at(cls: type[_T], number: int) -> _T: ...
    def fresh(cls: type[_T], used: Collection[Any]) -> _T: ...

class Ident(metaclass=_IdentMeta):
    """Base of identifier types, which `constant` and `spawned` make."""

    title: str
    index: int

class Enum(enum.Enum):  # type: ignore[misc]  # its members are in the spec
    """Base of a spec's enumerations: `class Role(Enum): FOLLOWER, CANDIDATE, LEADER = range(3)`."""

    @property
    def title(self) -> str: ...
    @property
    def index(self) -> int: ...

@dataclass_transform(kw_only_default=True, frozen_default=True)
class Record:
    """Base of a spec's records: `Node(role=..., epoch=...)` makes one; `node.set(epoch=2)` is a changed copy."""

    def __init_subclass__(cls, *, abstract: bool = False, tag: str | None = None) -> None: ...
    def set(self, **changes: Any) -> Self: ...
    def items(self) -> Iterator[tuple[str, Any]]: ...

class Message(Record):
    """A record that travels; `source` and `dest` name the fields that hold its sender and its receiver, if any."""

    source_field: ClassVar[str | None]
    dest_field: ClassVar[str | None]
    def __init_subclass__(
        cls, *, abstract: bool = False, tag: str | None = None, source: str | None = "source", dest: str | None = "dest"
    ) -> None: ...

class IdentSet:
    """The type of a constant that is a set of identifiers: `Server = {n1, n2, n3}`."""

    def __init__(self, symmetric: bool = False, at_most: int = 16) -> None: ...

class Operator:
    """The type of a constant that is an operator with so many parameters: `Better(_, _)`, `Better <- Longer`."""

    def __init__(self, arity: int) -> None: ...

@overload
def constant(name: str, domain: IdentSet, meaning: str) -> type[Ident]: ...
@overload
def constant(name: str, domain: Operator, meaning: str, default: Callable[..., Any] = ...) -> Callable[..., Any]: ...
@overload
def constant(name: str, domain: type[bool], meaning: str, default: bool = ...) -> bool: ...
@overload
def constant(name: str, domain: type[int], meaning: str, default: int = ...) -> int: ...
@overload
def constant(name: str, domain: type[_E], meaning: str, default: _E = ...) -> _E: ...
@overload
def constant(name: str, domain: EllipsisType | UnionType, meaning: str, default: Any = ...) -> Any:
    """Declare a constant and get its value in this model; with a `default`, models may leave it out."""

def spawned(name: str, count: int, *, started: str | None = None) -> type[Ident]:
    """A type of identifiers 1..`count` that come into use while the model runs."""

def require(condition: bool) -> None:
    """Go on only if `condition` holds; otherwise the innermost choice, or the action, ends."""

def ways(*conditions: bool) -> range:
    """One round of a `for` per condition that holds: `for _ in ways(a, b): yield ...`."""

def count(conditions: Iterable[bool]) -> int:
    """The number of conditions that hold."""

def product(numbers: Iterable[int]) -> int:
    """The product of the numbers, 1 if there are none."""

def fold(function: Callable[[_K, _T], _K], first: _K, elements: Iterable[_T]) -> _K:
    """The last of the values `first`, `function(first, e1)`, ...: of a sequence or range, element by element."""

def the(values: Iterable[_T]) -> _T:
    """The only element of a collection; an error if there is none, or if two differ."""

def subsets(elements: Iterable[_T]) -> Collection[frozenset[_T]]:
    """All subsets of a set, smallest first."""

def functions(keys: Iterable[_K], values: Iterable[_T]) -> Collection[MapValue[_K, _T]]:
    """All maps on `keys` with values from `values`."""

def sequences(elements: Iterable[_T], longest: int) -> Collection[SeqValue[_T]]:
    """All sequences of at most `longest` elements of a set."""

def permutations(elements: Iterable[_T]) -> Collection[MapValue[_T, _T]]:
    """All maps from a set onto itself that give each element once."""

def equals_any(first: object, second: object) -> bool:
    """Whether two values are equal, of whatever types: those of different kinds never are."""

def pair(first: _T, second: _T) -> frozenset[_T]:
    """The unordered pair of two different identifiers."""

def pairs(elements: Iterable[_T]) -> frozenset[frozenset[_T]]:
    """All unordered pairs of different identifiers."""

__all__ = [
    "Bool",
    "Enum",
    "IdentSet",
    "Int",
    "Map",
    "Message",
    "MessageBag",
    "MessageSet",
    "Operator",
    "Opt",
    "Pair",
    "PartialMap",
    "Record",
    "Seq",
    "Set",
    "constant",
    "count",
    "equals_any",
    "fold",
    "functions",
    "pair",
    "pairs",
    "permutations",
    "product",
    "require",
    "sequences",
    "spawned",
    "subsets",
    "the",
    "ways",
]

# Written by `kmc.mypy_plugin` into a spec in memory, for the literals and generators that kmc reads in its own way.
_Steps: TypeAlias = Iterator[_T]
_Field: TypeAlias = _T | _K
_set = frozenset

def _seq(elements: Iterable[_T]) -> SeqValue[_T]: ...
def _map(items: Mapping[_K, _V_co]) -> MapValue[_K, _V_co]: ...
def _empty_set() -> frozenset[Any]: ...
def _empty_seq() -> SeqValue[Any]: ...
def _empty_map() -> MapValue[Any, Any]: ...
def returned(value: bool) -> bool: ...

class _OfState(Generic[_T]):
    def __init__(self, predicate: Callable[[_T], bool]) -> None: ...
    def __call__(self, state: _T) -> bool: ...

class _OfStep(Generic[_T]):
    def __init__(self, predicate: Callable[[_T, _T], bool]) -> None: ...
    def __call__(self, state: _T, successor: _T) -> bool: ...
