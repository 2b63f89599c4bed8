"""Layout: the place of every part of a value in 64-bit words.

Invariant: the layout of a type is canonical. Equal values have equal words, unused bits are 0, and a value of at most
64 bits never straddles a word; so equality is equality of words. A value of at most 64 bits is *narrow*: it lies in one
word, at any bit. A *wide* value begins at a word of its own. Fields of a base record lie at the same place in all
shapes that derive from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, assert_never

from kmc.errors import SpecError
from kmc.lang.assumed_range import assumed_range, forget_with_range
from kmc.lang.domains import describe, value_count
from kmc.lang.records import Message
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

WORD = 64

KEYS_MAX = 1 << 20
"""The number of keys of a map that has a place for the value of each key."""

MASK_MAX = 16 * WORD
"""The number of possible elements of a set that is stored as a mask, and of possible keys of a partial map: its bits.

A set of elements with more possible values is a list of its members instead, in the order of their words.
"""


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a part in its whole: word offset and, for a narrow part, the lowest bit."""

    word: int
    bit: int


@dataclass(frozen=True, slots=True)
class Layout:
    """The size of a type; `bits` at most 64 is narrow, else the value has `words` whole words."""

    bits: int

    @property
    def narrow(self) -> bool:
        """Whether a value lies inside of one word."""
        return self.bits <= WORD

    @property
    def words(self) -> int:
        """Words of a value that begins at a word."""
        return max(1, -(-self.bits // WORD))


def mask_words(count: int) -> int:
    """The number of words of a mask with a bit for each of `count` values."""
    return max(1, -(-count // WORD))


def bits_for(count: int) -> int:
    """The number of bits that distinguish `count` different values."""
    return max(0, count - 1).bit_length()


# A tuple: Python makes a union of classes anew each time, and this is asked most of all.
_SCALARS = (BoolType, IntType, EnumType, IdentType)


def is_scalar(declared: Type) -> bool:
    """Return whether the layout of a value is its number; `scalar_count` counts these."""
    return isinstance(declared, _SCALARS)


def scalar_count(declared: Type) -> int:
    """The number of values of a scalar type."""
    match declared:
        case BoolType():
            return 2
        case IntType(low, high):
            return high - low + 1
        case EnumType(cls) | IdentType(cls):
            return len(cls.members)
        case _:
            raise SpecError("KMC801", f"{describe(declared)} is not a scalar")


@lru_cache(maxsize=4096)
def layout_of(declared: Type) -> Layout:
    """The layout of a type; SpecError for a type without one (maps of too many keys, networks inside of values)."""
    match declared:
        case BoolType() | IntType() | EnumType() | IdentType():
            return Layout(bits_for(scalar_count(declared)))
        case PairType(element):
            return Layout(scalar_count(element))
        case SetType(element):
            if is_listed(declared):
                return layout_of(list_type(declared))
            count = key_count(element)
            return Layout(count if count <= WORD else WORD * mask_words(count))
        case RecordType(cls):
            return record_layout(cls).layout if len(cls.shapes) == 1 else union_layout(declared).layout
        case UnionType():
            return union_layout(declared).layout
        case SeqType(element, capacity):
            return array_layout(element, capacity, bits_for(capacity + 1)).layout
        case MapType(key, value, total):
            keys = key_count(key)
            if keys > (KEYS_MAX if total else MASK_MAX) or not is_numbered(key):
                raise SpecError("KMC802", f"{describe(declared)} has no layout", help="narrow the domain of its keys")
            return array_layout(value, keys, 0 if total else keys).layout
        case MessageSetType() | MessageBagType():
            raise SpecError("KMC803", "a network is a field of State", help="declare it there")
        case _:
            assert_never(declared)


def is_listed(declared: SetType) -> bool:
    """Return whether a set is stored as the list of its members: they have too many possible values for a mask."""
    return key_count(declared.element) > MASK_MAX or not is_numbered(declared.element)


def list_type(declared: SetType) -> SeqType:
    """The type of the list of the members of a set, which has its layout: distinct, in the order of their words.

    Of members of several words, a later word counts more.
    """
    room = assumed_range().members if declared.capacity is None else declared.capacity
    return SeqType(declared.element, min(room, key_count(declared.element)))


def key_count(key: Type) -> int:
    """The number of values of a type: possible keys of a map, or members of a set, with their numbers as bits.

    Integers without declared bounds are those of the range that compiled code assumes.
    """
    return scalar_count(key) if isinstance(key, UnboundedInt) else value_count(key)


LISTED_MAX = 256
"""The number of sequences or maps up to which they are keys, by a table of all of them."""


def is_numbered(key: Type) -> bool:
    """Return whether compiled code computes the numbers of the values of a type, as keys or members."""
    match key:
        case RecordType(cls):
            return all(is_numbered(kind) for shape in cls.shapes for kind in shape.fields.values())
        case UnionType(alternatives):
            return all(map(is_numbered, alternatives))
        case SetType(element):
            return is_numbered(element) and key_count(element) <= WORD
        case SeqType() | MapType():
            return key_count(key) <= LISTED_MAX and layout_of(key).narrow  # looked up by its only word
        case MessageSetType() | MessageBagType():
            return False
        case _:
            return True


def is_plain_key(key: Type) -> bool:
    """Return whether keys or members of a type are scalars or pairs, whose sets are masks wherever they occur."""
    return is_scalar(key) or isinstance(key, PairType)


@dataclass(frozen=True, slots=True)
class ExactShape:
    """Stands for a record class in a type that leaves out the shapes derived from it."""

    shape: RecordMeta

    @property
    def shapes(self) -> tuple[RecordMeta, ...]:
        """The class alone."""
        return (self.shape,)

    @property
    def fields(self) -> dict[str, Type]:
        """The fields of the class."""
        return self.shape.fields

    @property
    def __name__(self) -> str:
        return self.shape.__name__


def exact(cls: Any) -> Any:
    """A record class, or the `ExactShape` that represents it alone if other shapes derive from it."""
    return cls if isinstance(cls, ExactShape) or cls.shapes == (cls,) else ExactShape(cls)


def shape_type(shape: Any) -> RecordType:
    """The type of the records of just this class; its only shape is `shape_type(c).cls.shapes[0]`."""
    return RecordType(exact(shape))


@dataclass(frozen=True, slots=True)
class RecordLayout:
    """The places of a record's fields."""

    layout: Layout
    fields: dict[str, Place]


def place_fields(fields: dict[str, Type]) -> RecordLayout:
    """Lay fields one after another; a field that would straddle a word begins the next one."""
    places: dict[str, Place] = {}
    position = 0
    for name, declared in fields.items():
        layout = layout_of(declared)
        if position % WORD and (not layout.narrow or position % WORD + layout.bits > WORD):
            position += WORD - position % WORD
        places[name] = Place(position // WORD, position % WORD)
        position += layout.bits if layout.narrow else layout.words * WORD
    return RecordLayout(Layout(position if position <= WORD else -(-position // WORD) * WORD), places)


@lru_cache(maxsize=4096)
def record_layout(cls: RecordMeta | ExactShape) -> RecordLayout:
    """The layout of one record shape.

    Source and destination of a message come first, so that all messages that have them have them at the same place.
    """
    shape = cls.shape if isinstance(cls, ExactShape) else cls
    outermost = [base for base in shape.__mro__ if isinstance(base, RecordMeta) and base.fields][-1:]
    ends = [end for base in outermost if issubclass(base, Message) for end in (base.source_field, base.dest_field)]
    first = [end for end in ends if end is not None]
    return place_fields({name: cls.fields[name] for name in dict.fromkeys([*first, *cls.fields])})


@dataclass(frozen=True, slots=True)
class UnionLayout:
    """A union. With scalars only, a code: 0 is None if optional, then the values of each alternative in turn.

    Otherwise a tag (0 for None if optional, then the alternatives) with the payload behind it.
    """

    layout: Layout
    alternatives: tuple[Type, ...]
    optional: bool
    coded: bool
    tag_bits: int

    @property
    def payload(self) -> Place:
        """The place at which the payload begins."""
        return Place(0, self.tag_bits) if self.layout.narrow else Place(1, 0)


@lru_cache(maxsize=4096)
def union_layout(declared: UnionType | RecordType) -> UnionLayout:
    """The layout of a union, or of a record type with several shapes."""
    alternatives = tuple(expanded(declared))
    optional = isinstance(declared, UnionType) and declared.optional
    if all(map(is_scalar, alternatives)):
        count = sum(map(scalar_count, alternatives)) + optional
        return UnionLayout(Layout(bits_for(count)), alternatives, optional, True, 0)
    tag_bits = bits_for(len(alternatives) + optional)
    layouts = [layout_of(alternative) for alternative in alternatives]
    payload = max(layout.bits for layout in layouts)
    if tag_bits + payload <= WORD:
        return UnionLayout(Layout(tag_bits + payload), alternatives, optional, False, tag_bits)
    words = 1 + max(layout.words for layout in layouts)
    return UnionLayout(Layout(words * WORD), alternatives, optional, False, tag_bits)


def expanded(declared: UnionType | RecordType) -> list[Type]:
    """The alternatives with every record type replaced by its shapes, each once."""
    alternatives = declared.alternatives if isinstance(declared, UnionType) else (declared,)
    types: list[Type] = []
    for kind in alternatives:
        types.extend(map(shape_type, kind.cls.shapes) if isinstance(kind, RecordType) else [kind])
    return list(dict.fromkeys(types))


@dataclass(frozen=True, slots=True)
class ArrayLayout:
    """A sequence (head: its length) or a map (head: the mask of its keys, if partial): equal elements behind a head."""

    layout: Layout
    head_bits: int
    element: Layout
    per_word: int

    @property
    def head_words(self) -> int:
        """The words of the head, if the array is wide."""
        return mask_words(self.head_bits) if self.head_bits else 0

    def place(self, index: int) -> Place:
        """The place of element `index` (from 0)."""
        if self.layout.narrow:
            return Place(0, self.head_bits + index * self.element.bits)
        first = self.head_words
        if self.element.narrow:
            return Place(first + index // self.per_word, index % self.per_word * self.element.bits)
        return Place(first + index * self.element.words, 0)


@lru_cache(maxsize=4096)
def array_layout(element: Type, count: int, head_bits: int) -> ArrayLayout:
    """The layout of `count` elements behind `head_bits`."""
    inner = layout_of(element)
    total = head_bits + count * inner.bits
    if inner.narrow and total <= WORD:
        return ArrayLayout(Layout(total), head_bits, inner, 0)
    per_word = WORD // max(1, inner.bits) if inner.narrow else 1
    head_words = mask_words(head_bits) if head_bits else 0
    words = head_words + (-(-count // per_word) if inner.narrow else count * inner.words)
    return ArrayLayout(Layout(max(words, 2) * WORD), head_bits, inner, per_word)


@dataclass(frozen=True, slots=True)
class NetworkLayout:
    """Entries of a network: `[count | tag | payload]`, the count only in bags; `words` per entry."""

    shapes: tuple[RecordMeta, ...]
    count_bits: int
    tag_bits: int
    words: int

    @property
    def payload(self) -> Place:
        """The place at which the fields of a message begin."""
        return Place(0, self.count_bits + self.tag_bits) if self.words == 1 else Place(1, 0)


@lru_cache(maxsize=64)
def network_layout(declared: NetworkType) -> NetworkLayout:
    """The layout of a network's entries."""
    shapes = tuple(map(exact, shapes_of(declared.messages)))
    count_bits = bits_for(declared.count_max + 1) if isinstance(declared, MessageBagType) else 0
    tag_bits = bits_for(len(shapes))
    payloads = [record_layout(shape).layout for shape in shapes]
    if count_bits + tag_bits + max(payload.bits for payload in payloads) <= WORD:
        return NetworkLayout(shapes, count_bits, tag_bits, 1)
    return NetworkLayout(shapes, count_bits, tag_bits, 1 + max(payload.words for payload in payloads))


@dataclass(frozen=True, slots=True)
class RowLayout:
    """A state as a row of words: `[hash sum][fixed part][entries of each network: their number][entries...]`.

    The fixed part holds every field of State that is not a network; `counts` is the first word of the networks' sizes.
    """

    fixed: RecordLayout
    fixed_words: int
    networks: tuple[tuple[str, NetworkLayout], ...]

    @property
    def counts(self) -> int:
        """The word with the number of entries of the first network."""
        return 1 + self.fixed_words

    @property
    def entries(self) -> int:
        """The word where the entries of the first network begin."""
        return self.counts + len(self.networks)


@lru_cache(maxsize=64)
def row_layout(state_class: RecordMeta) -> RowLayout:
    """The layout of a spec's states."""
    networks = {f: t for f, t in state_class.fields.items() if isinstance(t, MessageSetType | MessageBagType)}
    fixed = place_fields({f: t for f, t in state_class.fields.items() if f not in networks})
    return RowLayout(fixed, fixed.layout.words, tuple((f, network_layout(t)) for f, t in networks.items()))


for _layouts in (layout_of, record_layout, union_layout, array_layout, network_layout, row_layout):
    forget_with_range(_layouts.cache_clear)
