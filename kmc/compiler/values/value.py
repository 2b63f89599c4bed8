"""The compile-time value of a spec's expression: typed code, never an object at run time.

Scalars are code in the form in which they are computed with (an Int as its own number). Everything else is words in the
layout of its type: already computed (`Packed`), still in memory (`Stored`), or a base with changes on top (`Rec`,
`MapUpdate`, `Net`), so that a successor writes only the words that differ.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from kmc.compiler.ir.nodes import Expr
from kmc.lang.types import MapType, RecordType, Type


@dataclass(frozen=True, slots=True)
class Bool:
    """0 or 1."""

    code: Expr


@dataclass(frozen=True, slots=True)
class Num:
    """An integer known to lie in low..high."""

    code: Expr
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Sym:
    """A member of an enumeration or identifier class, by index."""

    cls: Any
    code: Expr


@dataclass(frozen=True, slots=True)
class Nothing:
    """None."""


@dataclass(frozen=True, slots=True)
class Packed:
    """A value as words; one word, in its lowest bits, if the type is narrow."""

    type: Type
    words: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Stored:
    """A value at `pointer[word]`, from `bit` on; loaded when it is needed."""

    type: Type
    pointer: str
    word: Expr
    bit: int


@dataclass(frozen=True, slots=True)
class Rec:
    """A record: all fields in `fields`, or those that differ from `base`."""

    type: RecordType
    base: Value | None
    fields: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class MapUpdate:
    """A map that differs from `base` at one key (its number)."""

    type: MapType
    base: Value
    key: Expr
    value: Value


@dataclass(frozen=True, slots=True)
class Received:
    """A message that lies in a network: entry `index` of network `network` of the state at its pointer."""

    value: Stored
    network: int
    index: Expr


@dataclass(frozen=True, slots=True)
class NetOp:
    """A change of a network, if `guard` holds: `words` are the entry without its count; `index` if it is known."""

    kind: str
    words: tuple[Expr, ...]
    guard: Expr
    index: Expr | None = None


@dataclass(frozen=True, slots=True)
class Net:
    """The network with the index `network`, of the state at `pointer`, with changes."""

    network: int
    pointer: str
    changes: tuple[NetOp | Each, ...] = ()


@dataclass(frozen=True, slots=True)
class Each:
    """The same change for every distinct message of a collection; for a map, as often as its value says."""

    kind: str
    messages: Value
    guard: Expr


@dataclass(frozen=True, slots=True)
class Comprehension:
    """A generator expression or set comprehension, evaluated where it is used."""

    node: ast.GeneratorExp | ast.SetComp
    scope: Any


@dataclass(frozen=True, slots=True)
class MapLiteral:
    """A map comprehension, evaluated where its type is known."""

    node: ast.DictComp
    scope: Any


@dataclass(frozen=True, slots=True)
class MapItems:
    """A map whose keys and values have been evaluated; keys may be equal."""

    items: tuple[tuple[Value, Value], ...]


@dataclass(frozen=True, slots=True)
class Several:
    """The values of a tuple, or of a helper that returns several."""

    items: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class SetOp:
    """A union ("or"), intersection ("and") or difference ("sub") of collections that are never built."""

    kind: str
    left: Value
    right: Value


@dataclass(frozen=True, slots=True)
class Chosen:
    """The results of branches that are collections; the one whose guard is 1 counts."""

    options: tuple[tuple[Expr, Value], ...]


@dataclass(frozen=True, slots=True)
class Picked:
    """The elements of a collection whose position in iteration order has its bit set in `mask`."""

    whole: Value
    mask: Expr


@dataclass(frozen=True, slots=True)
class Generator:
    """A call of a helper that yields, iterated where it is used."""

    node: ast.FunctionDef
    arguments: Mapping[str, Value]
    scope: Any


@dataclass(frozen=True, slots=True)
class SeqLiteral:
    """A list literal."""

    items: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class SetLiteral:
    """A set literal of anything but symbols."""

    items: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class EmptySet:
    """set()."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """range(start, stop, step)."""

    start: Num
    stop: Num
    step: int = 1


@dataclass(frozen=True, slots=True)
class Messages:
    """The messages of some shapes in the network with the index `network`, of the state at `pointer`, after changes."""

    network: int
    pointer: str
    shapes: tuple[Any, ...]
    changes: tuple[NetOp | Each, ...] = ()


@dataclass(frozen=True, slots=True)
class Joint:
    """The messages of several networks together."""

    networks: tuple[Messages, ...]


@dataclass(frozen=True, slots=True)
class Entries:
    """`values` or `items` of a map, or the messages of a bag with their counts (`items`)."""

    owner: Value
    kind: str


@dataclass(frozen=True, slots=True)
class Subsets:
    """All subsets of a set."""

    of: Value


@dataclass(frozen=True, slots=True)
class AllFunctions:
    """All functions on a set of keys with values from a set; only those of different values if `different`."""

    keys: Value
    values: Value
    different: bool


@dataclass(frozen=True, slots=True)
class AllSequences:
    """All sequences of at most `longest` elements of a set."""

    elements: Value
    longest: int


@dataclass(frozen=True, slots=True)
class Closure:
    """A lambda or nested function with the scope it was written in."""

    node: ast.Lambda | ast.FunctionDef
    scope: Any


@dataclass(frozen=True, slots=True)
class Precomputed:
    """A nested function without parameters whose value is computed where it is defined.

    The variable `failure` is not 0 if the computation has failed, which matters where the function is called.
    """

    value: Value
    failure: str


@dataclass(frozen=True, slots=True)
class Python:
    """A Python object of the spec's modules: a class, a function, a word of the language."""

    object: Any


Value: TypeAlias = (
    Bool
    | Num
    | Sym
    | Nothing
    | Packed
    | Stored
    | Rec
    | MapUpdate
    | Received
    | Net
    | Comprehension
    | MapLiteral
    | MapItems
    | Several
    | SetOp
    | Chosen
    | Picked
    | Generator
    | SeqLiteral
    | SetLiteral
    | EmptySet
    | Numbers
    | Messages
    | Joint
    | Entries
    | Subsets
    | AllFunctions
    | AllSequences
    | Closure
    | Precomputed
    | Python
)
