"""Projection of a value onto one member of a symmetry set: the value with all other members made anonymous.

`projected(code, words, type, distinguished)` is equivariant, and its users rely on nothing else: projecting a value
onto member i gives the same as projecting the permuted value onto the image of i. The projection loses information
(other members are anonymous, their map items are added up), so two members may look alike; then both orders are tried.

`distinguished` gives for each permuted class the index of the member that is projected onto, or None if all members of
the class are anonymous. The result has as many words as the value; words beyond the length of a sequence stay 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kmc.compiler.ir import build as x
from kmc.compiler.ir.nodes import Const, Expr, Intrinsic, Let, Var
from kmc.compiler.symmetry.member_change import MemberChange, mentions, part_words
from kmc.compiler.symmetry.permute import pair_numbers
from kmc.compiler.values.code import Code
from kmc.compiler.values.keys import key_value
from kmc.compiler.values.masks import each_number
from kmc.compiler.values.packing import Words, array_of, element, keep_words, keys_mask, value_words
from kmc.compiler.values.value import Packed
from kmc.lang.types import IdentType, MapType, PairType, RecordType, SeqType, SetType, Type, UnionType
from kmc.runtime.state_layout import (
    WORD,
    Place,
    bits_for,
    is_listed,
    is_plain_key,
    key_count,
    layout_of,
    list_type,
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
    return Projection(code, distinguished).changed(words, declared)


class Projection(MemberChange):
    """The distinguished member becomes 1, every other one 0."""

    def __init__(self, code: Code, distinguished: Distinguished) -> None:
        super().__init__(code, distinguished)
        self._distinguished = distinguished

    def member(self, cls: Any, index: Expr) -> Expr:
        """1 for the distinguished member, 0 for any other one."""
        own = self._distinguished[cls]
        return x.ZERO if own is None else x.eq(index, own)

    def mask(self, mask: Words, kind: Type) -> Words:
        """The numbers of elements that are or contain the distinguished member, and of the others."""
        if len(mask) > 1:
            kept = keep_words(self.code, mask)
            total = _digests_of_numbers(self.code, kept, kind, lambda number: (x.ZERO,), self._distinguished)
            return (total, *(x.ZERO,) * (len(mask) - 1))
        return (_projected_mask(self.code, mask[0], kind, self._distinguished),)

    def listed(self, words: Words, declared: SetType) -> Words:
        """The sum of the digests of the members."""
        code, layout = self.code, layout_of(declared)
        total = code.fresh("digests")
        code.emit(Let(total, x.ZERO))
        self.each_listed(words, declared, lambda item: code.emit(Let(total, x.add(Var(total), digest(code, item)))))
        cut = x.binary("and", Var(total), x.low_mask(layout.bits)) if layout.bits < WORD else Var(total)
        return (cut, *(x.ZERO,) * (len(words) - 1))

    def keyed_by_many(self, declared: MapType, words: Words) -> Words:
        """The sum of the digests of the keys and their values."""
        code, whole = self.code, Packed(declared, words)

        def item(key: Expr) -> Words:
            return self.changed(value_words(element(whole, key)), declared.value)

        total = _digests_of_numbers(code, keys_mask(whole), declared.key, item, self._distinguished)
        return (total, *(x.ZERO,) * (len(words) - 1))

    def keyed(self, declared: MapType, head: Expr | None, items: list[Words]) -> Words:
        """The sum of the distinguished member's items, and the sum of all others."""
        return _summed(self.code, declared, x.ZERO if head is None else head, items, self._distinguished)


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
        case SetType() if is_listed(declared):
            masks[0] = (1 << array_of(list_type(declared)).head_bits) - 1
        case SeqType(element, capacity):
            array = array_of(declared)
            masks[0] = (1 << array.head_bits) - 1
            for index in range(capacity):
                put(array.place(index), element)
        case _:
            pass
    return tuple(masks)


def refers_to(words: Words, declared: Type, cls: Any, member: Expr, classes: Distinguished) -> Expr | None:
    """Return an expression that is 1 if a packed value refers to a member of `cls`, else 0.

    A map with members as keys refers to those whose item is not 0. The answer moves with the member under permutations
    of `classes`, as `projected` does; signatures rely on nothing else. Returns None for the types (sequences, pairs,
    partial maps) whose values would have to be searched.
    """
    match declared:
        case IdentType(owner) if owner is cls:
            return x.eq(words[0], member)
        case SetType(IdentType(owner)) if owner is cls:
            return x.extract(words[0], member, 1)
        case MapType(IdentType(owner), value, total=True) if owner is cls and layout_of(declared).narrow:
            array = array_of(declared)
            bits = array.element.bits
            item = x.extract(words[0], x.add(Const(array.head_bits), x.binary("mul", member, Const(bits))), bits)
            # An item that holds a member could be 0 because that is the first of its class.
            return None if mentions(value, classes) else x.negate(x.eq(item, x.ZERO))
        case RecordType(record) if len(record.shapes) == 1:
            places = record_layout(record.shapes[0]).fields
            present: Expr = x.ONE
            fields = [(places[name], kind, present) for name, kind in record.shapes[0].fields.items()]
            return _any_field_refers(words, fields, cls, member, classes)
        case UnionType() | RecordType() if union_layout(declared).coded:
            return _code_is_member(words[0], declared, cls, member)
        case UnionType() | RecordType():
            union = union_layout(declared)
            tag = x.extract(words[0], 0, union.tag_bits)
            alternatives = enumerate(union.alternatives, int(union.optional))
            fields = [(union.payload, kind, x.eq(tag, Const(index))) for index, kind in alternatives]
            return _any_field_refers(words, fields, cls, member, classes)
        case _:
            return None


def _any_field_refers(
    words: Words, fields: Sequence[tuple[Place, Type, Expr]], cls: Any, member: Expr, classes: Distinguished
) -> Expr | None:
    """Combine `refers_to` of the fields: each is its place in `words`, its type, and whether it is present, 1 or 0."""
    any_refers: Expr = x.ZERO
    for place, kind, present in fields:
        if mentions(kind, {cls: None}):
            refers = refers_to(part_words(words, place, kind), kind, cls, member, classes)
            if refers is None:
                return None
            any_refers = x.either(any_refers, x.both(present, refers))
    return any_refers


def _code_is_member(word: Expr, declared: UnionType | RecordType, cls: Any, member: Expr) -> Expr:
    """Return 1 if a union of scalars, packed as one code (see `UnionLayout`), is the member, else 0."""
    union = union_layout(declared)
    is_member: Expr = x.ZERO
    first = int(union.optional)
    for alternative in union.alternatives:
        if isinstance(alternative, IdentType) and alternative.cls is cls:
            is_member = x.either(is_member, x.eq(word, x.add(member, Const(first))))
        first += scalar_count(alternative)
    return is_member


def digest(code: Code, words: Words) -> Expr:
    """One word for several: the sum of their hashes, each salted with its position."""
    total: Expr = x.ZERO
    for index, word in enumerate(words):
        total = x.add(total, x.mix(word, Const(SIGNATURE_SALT + index)))
    return code.keep(total, "digest")


def _projected_mask(code: Code, mask: Expr, element: Type, distinguished: Distinguished) -> Expr:
    """A set: the number of its elements that are or contain the distinguished member, and the number of the others."""
    count = key_count(element)
    if not is_plain_key(element):
        total = _digests(code, mask, element, lambda number: (x.ZERO,), distinguished)
        return x.binary("and", total, x.low_mask(count)) if count < WORD else total
    size = Intrinsic("popcount", (mask,))
    own_bits = _own(element, distinguished)
    if own_bits is None:
        return size
    own = code.keep(Intrinsic("popcount", (x.binary("and", mask, own_bits),)))
    _, members = element_class(element)
    shift = bits_for(members) if isinstance(element, PairType) else 1
    both = x.binary("or", own, x.place_at(x.sub(size, own), shift))
    return x.binary("and", both, x.low_mask(count)) if count < WORD else both


def _digests(
    code: Code, mask: Expr | None, key: Type, item: Callable[[int], Words], distinguished: Distinguished
) -> Expr:
    """The sum of the digests of keys with parts, each projected, and of their items; of the keys in a mask if given."""
    total: Expr = x.ZERO
    for number in range(key_count(key)):
        words = projected(code, value_words(key_value(key, Const(number))), key, distinguished)
        term = x.mix(digest(code, keep_words(code, words)), digest(code, item(number)))
        here = x.ONE if mask is None else x.extract(mask, number, 1)
        total = code.keep(x.add(total, x.select(here, term, x.ZERO)), "digests")
    return total


def _digests_of_numbers(
    code: Code, mask: Words, key: Type, item: Callable[[Expr], Words], distinguished: Distinguished
) -> Expr:
    """The sum of the digests of keys, each projected, and of their items, made in a loop over the keys in a mask."""
    total = code.fresh("digests")
    code.emit(Let(total, x.ZERO))

    def add(number: Expr) -> None:
        words = keep_words(code, value_words(key_value(key, number)))
        mine = digest(code, keep_words(code, projected(code, words, key, distinguished)))
        term = x.mix(mine, digest(code, keep_words(code, item(number))))
        code.emit(Let(total, x.add(Var(total), term)))

    each_number(code, mask, add)
    return Var(total)


def element_class(element: Type) -> tuple[Any, int]:
    """The class of an identifier, or of the ends of a pair, and the number of its members."""
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
        mask = sum(1 << index for pair, index in pair_numbers(count).items() if member in pair)
        result = x.select(x.eq(own, Const(member)), Const(x.signed(mask)), result)
    return result


def _summed(code: Code, declared: MapType, head: Expr, items: list[Words], distinguished: Distinguished) -> Words:
    """A map keyed by permuted members: the sum of the distinguished member's items, and the sum of all others."""
    array = array_of(declared)
    if not is_plain_key(declared.key):
        total = _digests(code, None if declared.total else head, declared.key, lambda k: items[k], distinguished)
        bits = array.layout.bits
        cut = x.binary("and", total, x.low_mask(bits)) if bits < WORD else total
        return (cut, *(x.ZERO,) * (array.layout.words - 1))
    own_bits = _own(declared.key, distinguished)
    hashed = not array.layout.narrow
    own: Expr = x.ZERO
    others: Expr = x.ZERO
    for index, item in enumerate(items):
        term = digest(code, item) if hashed else item[0]
        if hashed and not declared.total:
            term = code.keep(x.select(x.extract(head, index, 1), term, x.ZERO))
        is_own = x.ZERO if own_bits is None else x.extract(own_bits, index, 1)
        own = x.add(own, x.select(x.negate(x.eq(is_own, x.ZERO)), term, x.ZERO))
        others = x.add(others, x.select(x.eq(is_own, x.ZERO), term, x.ZERO))
    projected_head = _projected_mask(code, head, declared.key, distinguished) if array.head_bits else x.ZERO
    if hashed:
        total = x.add(x.mix(own, x.ONE), x.mix(others, Const(2)))
        offset = array.head_words
        rest: Words = (x.ZERO,) * (array.layout.words - offset - 1)
        first: Words = (projected_head,) if array.head_bits else ()
        return keep_words(code, (*first, total, *rest))
    body_bits = array.layout.bits - array.head_bits
    body = x.add(own, x.place_at(others, min(WORD - 1, array.element.bits))) if body_bits else x.ZERO
    body = x.binary("and", body, x.low_mask(body_bits)) if body_bits < WORD else body
    return (code.keep(x.binary("or", projected_head, x.place_at(body, array.head_bits))),)
