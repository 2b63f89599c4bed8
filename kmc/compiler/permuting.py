"""Permuted values in code: the words of a value after its identifiers were exchanged.

A permutation of a class is a word with four bits per member: bits 4k to 4k + 3 hold the index of the image of member
k. What lies beyond the length of a sequence stays 0, so that permuted values are canonical too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_never

from kmc.compiler import exprs as x
from kmc.compiler.ir import Const, Expr
from kmc.compiler.parts import Words, combine
from kmc.errors import SpecError
from kmc.kernels.layout import (
    Place,
    array_layout,
    bits_for,
    key_count,
    layout_of,
    record_layout,
    scalar_count,
    union_layout,
)
from kmc.lang.types import (
    BoolType,
    EnumType,
    IdentType,
    IntType,
    MapType,
    MessageBagType,
    MessageSetType,
    PairType,
    RecordType,
    SeqType,
    SetType,
    Type,
    UnionType,
)

MEMBER_BITS = 4
MEMBERS_MAX = 16

Tables = Mapping[Any, Expr]
"""Permuted identifier classes with their permutations."""


def image(index: Expr, table: Expr) -> Expr:
    """The index of the image of member `index`."""
    return x.extract(table, x.binary("mul", index, Const(MEMBER_BITS)), MEMBER_BITS)


def mentions(declared: Type, tables: Tables) -> bool:
    """Whether values of a type can hold members of a permuted class."""
    match declared:
        case IdentType(cls):
            return cls in tables
        case BoolType() | IntType() | EnumType():
            return False
        case PairType(element) | SetType(element) | SeqType(element):
            return mentions(element, tables)
        case RecordType(cls):
            return any(mentions(kind, tables) for shape in cls.shapes for kind in shape.fields.values())
        case UnionType(alternatives):
            return any(mentions(kind, tables) for kind in alternatives)
        case MapType(key, value):
            return mentions(key, tables) or mentions(value, tables)
        case MessageSetType(messages) | MessageBagType(messages):
            return any(mentions(kind, tables) for kind in messages)
        case _:
            assert_never(declared)


def part_words(words: Words, place: Place, declared: Type) -> Words:
    """The words of the part at `place`."""
    layout = layout_of(declared)
    if layout.narrow:
        return (x.extract(words[place.word], place.bit, layout.bits),)
    return words[place.word : place.word + layout.words]


def permuted(words: Words, declared: Type, tables: Tables) -> Words:
    """The words of a value of type `declared` with all identifiers exchanged."""
    if not mentions(declared, tables):
        return words
    match declared:
        case IdentType(cls):
            return (image(words[0], tables[cls]),)
        case SetType(IdentType(cls)) | PairType(IdentType(cls)):
            return (permuted_mask(words[0], len(cls.members), tables[cls]),)
        case RecordType(cls) if len(cls.shapes) == 1:
            return _record(words, cls.shapes[0], tables)
        case UnionType() | RecordType():
            return _union(words, declared, tables)
        case SeqType(element, capacity):
            return _sequence(words, element, capacity, tables)
        case MapType():
            return _map(words, declared, tables)
        case _:
            raise SpecError("KMC821", "symmetry over this type is not compiled", help="run with --engine python")


def permuted_mask(mask: Expr, count: int, table: Expr) -> Expr:
    """A set of members, each replaced by its image."""
    result: Expr = x.ZERO
    for member in range(count):
        bit = x.extract(mask, member, 1)
        result = x.binary("or", result, x.place_at(bit, image(Const(member), table)))
    return result


def _record(words: Words, cls: Any, tables: Tables) -> Words:
    layout = record_layout(cls)
    pieces = []
    for name, kind in cls.fields.items():
        place = layout.fields[name]
        inner = permuted(part_words(words, place, kind), kind, tables)
        pieces.append((place, layout_of(kind).bits, inner))
    return combine(layout.layout.words, pieces)


def _union(words: Words, declared: UnionType | RecordType, tables: Tables) -> Words:
    union = union_layout(declared)
    if union.coded:
        return (_code(words[0], declared, tables),)
    tag = x.extract(words[0], 0, union.tag_bits)
    result = words
    for number, alternative in enumerate(union.alternatives):
        if not mentions(alternative, tables):
            continue
        inner = permuted(part_words(words, union.payload, alternative), alternative, tables)
        pieces = [(Place(0, 0), union.tag_bits, (tag,)), (union.payload, layout_of(alternative).bits, inner)]
        changed = combine(union.layout.words, pieces)
        here = x.eq(tag, Const(number + union.optional))
        result = tuple(x.select(here, new, old) for new, old in zip(changed, result, strict=True))
    return result


def _code(code: Expr, declared: UnionType | RecordType, tables: Tables) -> Expr:
    union = union_layout(declared)
    result = code
    first = int(union.optional)
    for alternative in union.alternatives:
        count = scalar_count(alternative)
        if isinstance(alternative, IdentType) and alternative.cls in tables:
            inside = x.both(x.binary("sle", Const(first), code), x.binary("slt", code, Const(first + count)))
            moved = x.add(
                Const(first), image(x.binary("and", x.sub(code, Const(first)), Const(15)), tables[alternative.cls])
            )
            result = x.select(inside, moved, result)
        first += count
    return result


def _sequence(words: Words, element: Type, capacity: int, tables: Tables) -> Words:
    array = array_layout(element, capacity, bits_for(capacity + 1))
    length = x.extract(words[0], 0, array.head_bits)
    pieces: list[tuple[Place, int, Words]] = [(Place(0, 0), array.head_bits, (length,))]
    for index in range(capacity):
        place = array.place(index)
        there = x.binary("slt", Const(index), length)
        inner = permuted(part_words(words, place, element), element, tables)
        pieces.append((place, array.element.bits, tuple(x.select(there, word, x.ZERO) for word in inner)))
    return combine(array.layout.words, pieces)


def _map(words: Words, declared: MapType, tables: Tables) -> Words:
    count = key_count(declared.key)
    array = array_layout(declared.value, count, 0 if declared.total else count)
    items = [permuted(part_words(words, array.place(k), declared.value), declared.value, tables) for k in range(count)]
    moved = isinstance(declared.key, IdentType) and declared.key.cls in tables
    if mentions(declared.key, tables) and not moved:
        raise SpecError("KMC821", "symmetry over maps keyed by pairs is not compiled", help="run with --engine python")
    head: Words = () if declared.total else (x.extract(words[0], 0, array.head_bits),)
    if moved:
        table = tables[declared.key.cls]  # type: ignore[union-attr]  # an identifier type
        images = [image(Const(k), table) for k in range(count)]
        items = [_at(position, images, items) for position in range(count)]
        head = tuple(permuted_mask(mask, count, table) for mask in head)
    if not declared.total and moved is False and mentions(declared.value, tables):
        items = [
            tuple(x.select(x.extract(head[0], k, 1), word, x.ZERO) for word in item) for k, item in enumerate(items)
        ]
    pieces: list[tuple[Place, int, Words]] = [(Place(0, 0), array.head_bits, head)] if head else []
    pieces += [(array.place(k), array.element.bits, item) for k, item in enumerate(items)]
    return combine(array.layout.words, pieces)


def _at(position: int, images: list[Expr], items: list[Words]) -> Words:
    """The item whose key's image is `position`."""
    result = items[0]
    for index in range(1, len(items)):
        here = x.eq(images[index], Const(position))
        result = tuple(x.select(here, new, old) for new, old in zip(items[index], result, strict=True))
    return result
