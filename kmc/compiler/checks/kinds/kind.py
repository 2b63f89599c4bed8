"""The kind of a value, known before a spec runs: a number, a member of Server, a set of numbers.

Domains are left out: that a number is in 0..3 only shows in a state. Invariant: `Kinds` of an expression contain the
kind of every value that it can have, so an error for all of them is an error in every state.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, assert_never

from kmc.lang.admission import TypedNetwork
from kmc.lang.kinds import kind_in_words
from kmc.lang.maps import MapValue
from kmc.lang.naming import with_article
from kmc.lang.networks import bag_of_messages, set_of_messages
from kmc.lang.seqs import SeqValue, seq_literal
from kmc.lang.symbols import Symbol
from kmc.lang.types import (
    BoolType,
    EnumType,
    IdentType,
    IntType,
    MapType,
    MessageBagType,
    MessageSetType,
    PairType,
    RecordMeta,
    RecordType,
    SeqType,
    SetType,
    SymbolMeta,
    Type,
    UnionType,
    shapes_of,
)

Kinds: TypeAlias = "frozenset[Kind] | None"
"""The alternatives of a value. None: nothing is known. Empty: there is no value, as in an empty set."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind; `parts` are kinds inside of it.

    `of` is the class of a symbol or record, the type of a network, or a Bool that is known: code that a constant
    excludes in a model is not checked.
    """

    word: str
    of: Any = None
    parts: tuple[Kinds, ...] = ()


ANYTHING: Kinds = None
NOTHING: Kinds = frozenset()
BOOL: Kinds = frozenset([Kind("Bool")])
NUMBER: Kinds = frozenset([Kind("number")])
NONE: Kinds = frozenset([Kind("None")])


def one(word: str, *parts: Kinds, of: Any = None) -> Kinds:
    """A single alternative."""
    return frozenset([Kind(word, of, parts)])


def any_of(alternatives: Iterable[Kinds]) -> Kinds:
    """The alternatives of all; those of one word, class and shape become one, part by part."""
    merged: dict[tuple[str, Any, int], Kind] = {}
    for kinds in alternatives:
        if kinds is None:
            return None
        for kind in kinds:
            key = kind.word, kind.of, len(kind.parts)
            before = merged.get(key)
            if before is not None and before.parts != kind.parts:
                pairs = zip(before.parts, kind.parts, strict=True)
                kind = replace(kind, parts=tuple(any_of(pair) for pair in pairs))
            merged[key] = kind
    return frozenset(merged.values())


def of_type(declared: Type) -> Kinds:
    """The kinds of the values of a type."""
    match declared:
        case BoolType():
            return BOOL
        case IntType():
            return NUMBER
        case EnumType(cls) | IdentType(cls):
            return one("symbol", of=cls)
        case PairType(element):
            return one("set", of_type(element))
        case RecordType(cls):
            return of_shapes(cls)
        case UnionType(alternatives, optional):
            return any_of([*map(of_type, alternatives), *([NONE] if optional else [])])
        case SetType(element):
            return one("set", of_type(element))
        case SeqType(element, _):
            return one("seq", of_type(element))
        case MapType(key, value, _):
            return one("map", of_type(key), of_type(value))
        case MessageSetType() | MessageBagType():
            return one("network", of=declared)
        case _:
            assert_never(declared)


def of_shapes(cls: Any) -> Kinds:
    """The kinds of the records of a class and of those that derive from it."""
    return frozenset(Kind("record", shape) for shape in cls.shapes)


def of_value(value: Any) -> Kinds:
    """The kind of a value that a file of the spec holds."""
    match value:
        case None:
            return NONE
        case bool():
            return one("Bool", of=value)
        case int():
            return NUMBER
        case Symbol():
            return one("symbol", of=type(value))
        case frozenset():
            return one("set", any_of(map(of_value, value)))
        case SeqValue():
            return one("seq", any_of(map(of_value, value)))
        case MapValue():
            items = list(value.items())
            return one("map", any_of(of_value(key) for key, _ in items), any_of(of_value(item) for _, item in items))
        case SymbolMeta():
            return one("symbols", of=value)
        case range():
            return one("range")
    if isinstance(type(value), RecordMeta):
        return one("record", of=type(value))
    return ANYTHING


def elements(kinds: Kinds) -> Kinds:
    """The kinds of the elements that a `for` iterates over: members, elements, keys, messages."""
    return None if kinds is None else any_of(map(_elements, kinds))


def _elements(kind: Kind) -> Kinds:
    match kind.word:
        case "set" | "seq" | "map" | "generator":
            return kind.parts[0]
        case "tuple":
            return any_of(kind.parts)
        case "range":
            return NUMBER
        case "symbols":
            return one("symbol", of=kind.of)
        case "network":
            return frozenset(Kind("record", shape) for shape in shapes_of(kind.of.messages))
        case _:
            return ANYTHING


def may_be_in(kinds: Kinds, declared: Type) -> bool:
    """Whether a value of one of these kinds may be stored in a field of this type."""
    return not kinds or any(_may_be_in(kind, declared) for kind in kinds)


def _may_be_in(kind: Kind, declared: Type) -> bool:
    match declared:
        case BoolType():
            return kind.word == "Bool"
        case IntType():
            return kind.word == "number"
        case EnumType(cls) | IdentType(cls):
            return kind.word == "symbol" and kind.of is cls
        case RecordType(cls):
            return kind.word == "record" and kind.of in cls.shapes
        case UnionType(alternatives, optional):
            none = optional and kind.word == "None"
            return none or any(_may_be_in(kind, alternative) for alternative in alternatives)
        case SetType(element) | PairType(element):
            return kind.word == "set" and may_be_in(kind.parts[0], element)
        case SeqType(element, _):
            return kind.word == "seq" and may_be_in(kind.parts[0], element)
        case MapType(key, value, _):
            return kind.word == "map" and may_be_in(kind.parts[0], key) and may_be_in(kind.parts[1], value)
        case MessageSetType() | MessageBagType():
            if kind.word == ("set" if isinstance(declared, MessageSetType) else "map"):
                return any(may_be_in(kind.parts[0], message) for message in declared.messages)
            return kind.word == "network"
        case _:
            assert_never(declared)


_EMPTY: tuple[Any, ...] = ()
# Kinds of which a value of one may equal a value of the other.
_ALIKE = ({"set", "network", "symbols"}, {"map", "network"}, {"seq", "tuple", "range"})


def may_be_equal(left: Kinds, right: Kinds) -> bool:
    """Whether two values of these kinds may be equal."""
    return not left or not right or any(_alike(one, other) for one in left for other in right)


def _alike(left: Kind, right: Kind) -> bool:
    if left.word != right.word:
        return any({left.word, right.word} <= words for words in _ALIKE) or "other" in (left.word, right.word)
    if left.word in ("symbol", "record"):
        return left.of is right.of
    if left.word == "tuple":
        same = len(left.parts) == len(right.parts)
        return same and all(may_be_equal(a, b) for a, b in zip(left.parts, right.parts, strict=True))
    return True


def sample(kind: Kind) -> Any:
    """A value of a kind, by which Python shows which operations it rejects; its parts do not matter."""
    match kind.word:
        case "Bool":
            return True
        case "number":
            return 1
        case "None":
            return None
        case "symbol":
            return kind.of.members[0]
        case "record":
            return tuple.__new__(kind.of, (kind.of,))
        case "set":
            return frozenset()
        case "seq":
            return seq_literal(())
        case "map":
            return MapValue({})
        case "network" if isinstance(kind.of, MessageSetType):
            return set_of_messages((), TypedNetwork(kind.of))
        case "network":
            return bag_of_messages((), TypedNetwork(kind.of))
        case "range":
            return range(1)
        case "symbols":
            return kind.of
        case "generator":
            return (item for item in _EMPTY)
        case _:
            return ()


def in_words(kinds: Kinds) -> str:
    """Kinds as an error names them: 'a number', 'a Server or None'."""
    assert kinds, "only what is known is named"
    return " or ".join(sorted(map(_word, kinds), key=lambda word: (word == "None", word)))


def truth_of(kinds: Kinds) -> bool | None:
    """The Bool that is the only value of these kinds; None if there is none."""
    known = [kind.of for kind in kinds or () if kind.word == "Bool"]
    return known[0] if kinds and len(known) == len(kinds) == 1 else None


def _word(kind: Kind) -> str:
    match kind.word:
        case "symbol" | "record":
            return with_article(kind.of.__name__)
        case "symbols":
            return f"the type {kind.of.__name__}"
        case "None":
            return "None"
        case _:
            return kind_in_words(sample(kind))
