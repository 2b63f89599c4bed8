"""Projection of a value onto one member of a symmetry set: the value with all other members made anonymous.

`projected(code, words, type, distinguished)` is equivariant, and its users rely on nothing else: projecting a value
onto member i gives the same as projecting the permuted value onto the image of i. The projection loses information
(other members are anonymous, their map items are added up), so two members may look alike; then both orders are tried.

`distinguished` gives for each permuted class the index of the member that is projected onto, or None if all members of
the class are anonymous. The result has as many words as the value; words beyond the length of a sequence stay 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from kmc.compiler.ir import build as x
from kmc.compiler.ir.nodes import Const, Expr, Intrinsic
from kmc.compiler.symmetry.permute import if_there, mentions, pair_numbers, part_words
from kmc.compiler.values.code import Code
from kmc.compiler.values.packing import Words, array_of, combine, keep_words
from kmc.lang.types import IdentType, MapType, PairType, RecordType, SeqType, SetType, Type, UnionType
from kmc.runtime.state_layout import (
    WORD,
    Place,
    bits_for,
    key_count,
    layout_of,
    record_layout,
    scalar_count,
    union_layout,
)

SIGNATURE_SALT = 1 << 41
"""The first salt of signatures. Fingerprints use smaller salts, so the two never share a term."""

_ALL = (1 << WORD) - 1

Distinguished = Mapping[Any, Expr | None]
"""For each permuted class the index of the distinguished member, or None if all members are anonymous."""


def projected(code: Code, words: Words, declared: Type, distinguished: Distinguished) -> Words:
    """The words of a value of type `declared`, projected onto the distinguished members."""
    if not mentions(declared, distinguished):
        return words
    match declared:
        case IdentType(cls):
            return (_is_distinguished(words[0], distinguished[cls]),)
        case SetType(element):
            return (_projected_mask(code, words[0], element, distinguished),)
        case PairType(element):
            return (_projected_mask(code, words[0], element, distinguished),)
        case RecordType(cls) if len(cls.shapes) == 1:
            return _record(code, words, cls.shapes[0], distinguished)
        case UnionType() | RecordType():
            return _union(code, words, declared, distinguished)
        case SeqType():
            return _sequence(code, words, declared, distinguished)
        case MapType():
            return _map(code, words, declared, distinguished)
        case _:
            raise AssertionError(declared)  # no type without a layout lies in a row


def unmoved_bits(declared: Type, classes: Distinguished) -> tuple[int, ...]:
    """Masks of bits, word by word, that are the same in a value and in its image under any permutation."""
    layout = layout_of(declared)
    masks = [0] * layout.words
    if not mentions(declared, classes):
        return ((1 << layout.bits) - 1,) if layout.narrow else (_ALL,) * layout.words

    def put(place: Place, kind: Type) -> None:
        for offset, mask in enumerate(unmoved_bits(kind, classes)):
            masks[place.word + offset] |= mask << place.bit

    match declared:
        case RecordType(cls) if len(cls.shapes) == 1:
            for name, place in record_layout(cls.shapes[0]).fields.items():
                put(place, cls.shapes[0].fields[name])
        case UnionType() | RecordType() if not union_layout(declared).coded:
            masks[0] = (1 << union_layout(declared).tag_bits) - 1
        case SeqType(element, capacity):
            array = array_of(declared)
            masks[0] = (1 << array.head_bits) - 1
            for number in range(capacity):
                put(array.place(number), element)
        case _:
            pass
    return tuple(masks)


def digest(code: Code, words: Words) -> Expr:
    """One word for several: the sum of their hashes, each salted with its position."""
    total: Expr = x.ZERO
    for number, word in enumerate(words):
        total = x.add(total, x.mix(word, Const(SIGNATURE_SALT + number)))
    return code.keep(total, "digest")


def _is_distinguished(member: Expr, own: Expr | None) -> Expr:
    return x.ZERO if own is None else x.eq(member, own)


def _projected_mask(code: Code, mask: Expr, element: Type, distinguished: Distinguished) -> Expr:
    """A set: how many of its elements are or contain the distinguished member, and how many do not."""
    count = key_count(element)
    size = Intrinsic("popcount", (mask,))
    own_bits = _own(element, distinguished)
    if own_bits is None:
        return size
    own = code.keep(Intrinsic("popcount", (x.binary("and", mask, own_bits),)))
    _, members = element_class(element)
    shift = bits_for(members) if isinstance(element, PairType) else 1
    both = x.binary("or", own, x.place_at(x.sub(size, own), shift))
    return x.binary("and", both, x.low_mask(count)) if count < WORD else both


def element_class(element: Type) -> tuple[Any, int]:
    """The class of an identifier, or of the ends of a pair, and how many members it has."""
    inner = element.element if isinstance(element, PairType) else element
    assert isinstance(inner, IdentType)
    return inner.cls, len(inner.cls.members)


def _own(key: Type, distinguished: Distinguished) -> Expr | None:
    """The mask of the keys that are or contain the distinguished member; None if the class has none."""
    cls, count = element_class(key)
    own = distinguished[cls]
    if own is None:
        return None
    if isinstance(key, IdentType):
        return x.place_at(x.ONE, own)
    result: Expr = x.ZERO
    for member in range(count):
        mask = sum(1 << number for pair, number in pair_numbers(count).items() if member in pair)
        result = x.select(x.eq(own, Const(member)), Const(x.signed(mask)), result)
    return result


def _record(code: Code, words: Words, cls: Any, distinguished: Distinguished) -> Words:
    layout = record_layout(cls)
    pieces = []
    for name, kind in cls.fields.items():
        place = layout.fields[name]
        inner = projected(code, part_words(words, place, kind), kind, distinguished)
        pieces.append((place, layout_of(kind).bits, inner))
    return combine(layout.layout.words, pieces)


def _union(code: Code, words: Words, declared: UnionType | RecordType, distinguished: Distinguished) -> Words:
    union = union_layout(declared)
    words = keep_words(code, words)
    if union.coded:
        return (code.keep(_union_code(words[0], declared, distinguished)),)
    tag = code.keep(x.extract(words[0], 0, union.tag_bits))
    result = words
    for number, alternative in enumerate(union.alternatives):
        if not mentions(alternative, distinguished):
            continue
        inner = projected(code, part_words(words, union.payload, alternative), alternative, distinguished)
        pieces = [(Place(0, 0), union.tag_bits, (tag,)), (union.payload, layout_of(alternative).bits, inner)]
        changed = combine(union.layout.words, pieces)
        here = x.eq(tag, Const(number + union.optional))
        chosen = tuple(x.select(here, new, old) for new, old in zip(changed, result, strict=True))
        result = keep_words(code, chosen)
    return result


def _union_code(word: Expr, declared: UnionType | RecordType, distinguished: Distinguished) -> Expr:
    union = union_layout(declared)
    result = word
    first = int(union.optional)
    for alternative in union.alternatives:
        count = scalar_count(alternative)
        if isinstance(alternative, IdentType) and alternative.cls in distinguished:
            inside = x.both(x.binary("sle", Const(first), word), x.binary("slt", word, Const(first + count)))
            member = _is_distinguished(x.sub(word, Const(first)), distinguished[alternative.cls])
            result = x.select(inside, x.add(Const(first), member), result)
        first += count
    return result


def _sequence(code: Code, words: Words, declared: SeqType, distinguished: Distinguished) -> Words:
    array = array_of(declared)
    words = keep_words(code, words)
    length = code.keep(x.extract(words[0], 0, array.head_bits))
    pieces: list[tuple[Place, int, Words]] = [(Place(0, 0), array.head_bits, (length,))]
    for index in range(declared.capacity):
        place = array.place(index)
        # Without this, absent elements would read as the first member.
        there = x.binary("slt", Const(index), length)
        item = part_words(words, place, declared.element)
        change = partial(projected, code, item, declared.element, distinguished)
        inner = if_there(code, there, change, len(item))
        pieces.append((place, array.element.bits, inner))
    return keep_words(code, combine(array.layout.words, pieces))


def _map(code: Code, words: Words, declared: MapType, distinguished: Distinguished) -> Words:
    array = array_of(declared)
    words = keep_words(code, words)
    head = code.keep(x.extract(words[0], 0, array.head_bits)) if array.head_bits else x.ZERO
    items = []
    for number in range(key_count(declared.key)):
        item = projected(code, part_words(words, array.place(number), declared.value), declared.value, distinguished)
        if not declared.total and mentions(declared.value, distinguished):
            item = tuple(x.select(x.extract(head, number, 1), word, x.ZERO) for word in item)
        items.append(keep_words(code, item))
    if not mentions(declared.key, distinguished):
        kept: list[tuple[Place, int, Words]] = [(Place(0, 0), array.head_bits, (head,))] if array.head_bits else []
        kept += [(array.place(number), array.element.bits, item) for number, item in enumerate(items)]
        return combine(array.layout.words, kept)
    return _summed(code, declared, head, items, distinguished)


def _summed(code: Code, declared: MapType, head: Expr, items: list[Words], distinguished: Distinguished) -> Words:
    """A map keyed by permuted members: the sum of the distinguished member's items, and the sum of all others."""
    array = array_of(declared)
    own_bits = _own(declared.key, distinguished)
    hashed = not array.layout.narrow
    own: Expr = x.ZERO
    others: Expr = x.ZERO
    for number, item in enumerate(items):
        term = digest(code, item) if hashed else item[0]
        if hashed and not declared.total:
            term = code.keep(x.select(x.extract(head, number, 1), term, x.ZERO))
        is_own = x.ZERO if own_bits is None else x.extract(own_bits, number, 1)
        own = x.add(own, x.select(x.negate(x.eq(is_own, x.ZERO)), term, x.ZERO))
        others = x.add(others, x.select(x.eq(is_own, x.ZERO), term, x.ZERO))
    projected_head = _projected_mask(code, head, declared.key, distinguished) if array.head_bits else x.ZERO
    if hashed:
        total = x.add(x.mix(own, x.ONE), x.mix(others, Const(2)))
        place = 1 if array.head_bits else 0
        rest: Words = (x.ZERO,) * (array.layout.words - place - 1)
        first: Words = (projected_head,) if array.head_bits else ()
        return keep_words(code, (*first, total, *rest))
    body_bits = array.layout.bits - array.head_bits
    body = x.add(own, x.place_at(others, min(WORD - 1, array.element.bits))) if body_bits else x.ZERO
    body = x.binary("and", body, x.low_mask(body_bits)) if body_bits < WORD else body
    return (code.keep(x.binary("or", projected_head, x.place_at(body, array.head_bits))),)
