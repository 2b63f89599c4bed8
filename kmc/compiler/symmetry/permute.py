"""Code that permutes a value: the words of the value with its identifiers exchanged.

A permutation of a class is a word with four bits per member: bits 4k to 4k + 3 hold the index of the image of member
k. Words beyond the length of a sequence stay 0, so permuted values have canonical words too. Every type that can be
stored can be permuted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, assert_never

from kmc.compiler.ir import build as x
from kmc.compiler.ir.nodes import Const, Expr, Let, Var
from kmc.compiler.values.code import Code
from kmc.compiler.values.packing import Words, array_of, combine, keep_words
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
from kmc.runtime.state_layout import (
    Place,
    key_count,
    layout_of,
    record_layout,
    scalar_count,
    union_layout,
)

MEMBER_BITS = 4

Tables = Mapping[Any, Expr]
"""Permuted identifier classes with their permutations."""


def image(index: Expr, table: Expr) -> Expr:
    """The index of the image of member `index`."""
    return x.extract(table, x.binary("mul", index, Const(MEMBER_BITS)), MEMBER_BITS)


def mentions(declared: Type, classes: Mapping[Any, object]) -> bool:
    """Whether values of a type can hold members of one of the classes."""
    match declared:
        case IdentType(cls):
            return cls in classes
        case BoolType() | IntType() | EnumType():
            return False
        case PairType(element) | SetType(element) | SeqType(element):
            return mentions(element, classes)
        case RecordType(cls):
            return any(mentions(kind, classes) for shape in cls.shapes for kind in shape.fields.values())
        case UnionType(alternatives):
            return any(mentions(kind, classes) for kind in alternatives)
        case MapType(key, value):
            return mentions(key, classes) or mentions(value, classes)
        case MessageSetType(messages) | MessageBagType(messages):
            return any(mentions(kind, classes) for kind in messages)
        case _:
            assert_never(declared)


def part_words(words: Words, place: Place, declared: Type) -> Words:
    """The words of the part at `place`."""
    layout = layout_of(declared)
    if layout.narrow:
        return (x.extract(words[place.word], place.bit, layout.bits),)
    return words[place.word : place.word + layout.words]


def permuted(code: Code, words: Words, declared: Type, tables: Tables) -> Words:
    """The words of a value of type `declared` with all identifiers exchanged."""
    if not mentions(declared, tables):
        return words
    match declared:
        case IdentType(cls):
            return (image(words[0], tables[cls]),)
        case SetType(element):
            return (_moved_bits(words[0], _image_numbers(code, element, tables)),)
        case PairType(element):
            return (_moved_bits(words[0], _image_numbers(code, element, tables)),)
        case RecordType(cls) if len(cls.shapes) == 1:
            return _record(code, words, cls.shapes[0], tables)
        case UnionType() | RecordType():
            return _union(code, words, declared, tables)
        case SeqType():
            return _sequence(code, words, declared, tables)
        case MapType():
            return _map(code, words, declared, tables)
        case _:
            raise AssertionError(declared)  # no type without a layout lies in a row


def pair_numbers(count: int) -> dict[tuple[int, int], int]:
    """The pairs of `count` members with their numbers, in the order of `kmc.lang.domains.members`."""
    pairs = [(first, second) for first in range(count) for second in range(first + 1, count)]
    return {pair: number for number, pair in enumerate(pairs)}


_LOOKED_UP = 4
"""The images of all masks of so many members fit into a word."""


def _image_numbers(code: Code, key: Type, tables: Tables) -> list[Expr]:
    """The number of the image of every scalar or pair of a type, in order."""
    match key:
        case IdentType(cls) if cls in tables:
            return [image(Const(k), tables[cls]) for k in range(len(cls.members))]
        case PairType(element) if mentions(element, tables):
            images = [code.keep(number) for number in _image_numbers(code, element, tables)]
            count = len(images)
            found = []
            for first, second in pair_numbers(count):
                less = x.binary("slt", images[first], images[second])
                low = code.keep(x.select(less, images[first], images[second]))
                high = code.keep(x.select(less, images[second], images[first]))
                # Pairs with a smaller first member come before: count - 1, count - 2, ... of them.
                twice = x.binary("mul", low, x.sub(Const(2 * count - 1), low))
                before = x.binary("lshr", twice, x.ONE)
                found.append(code.keep(x.add(before, x.sub(x.sub(high, low), x.ONE))))
            return found
        case _:
            return [Const(k) for k in range(key_count(key))]


def _moved_bits(mask: Expr, images: list[Expr]) -> Expr:
    """The mask of a set after each member is replaced by its image."""
    if len(images) <= _LOOKED_UP:
        return _looked_up(mask, images)
    result: Expr = x.ZERO
    for number, to in enumerate(images):
        result = x.binary("or", result, x.place_at(x.extract(mask, number, 1), to))
    return result


def _looked_up(mask: Expr, images: list[Expr]) -> Expr:
    """The same by a table of all masks in one word, which depends on the permutation only."""
    count = len(images)
    table: Expr = x.ZERO
    for number, to in enumerate(images):
        holding = sum(1 << count * other for other in range(1 << count) if other >> number & 1)
        table = x.binary("or", table, x.place_at(Const(x.signed(holding)), to))
    return x.extract(table, x.binary("mul", mask, Const(count)), count)


def _record(code: Code, words: Words, cls: Any, tables: Tables) -> Words:
    layout = record_layout(cls)
    pieces = []
    for name, kind in cls.fields.items():
        place = layout.fields[name]
        inner = permuted(code, part_words(words, place, kind), kind, tables)
        pieces.append((place, layout_of(kind).bits, inner))
    return combine(layout.layout.words, pieces)


def _union(code: Code, words: Words, declared: UnionType | RecordType, tables: Tables) -> Words:
    union = union_layout(declared)
    words = keep_words(code, words)
    if union.coded:
        return (code.keep(_union_code(words[0], declared, tables)),)
    tag = code.keep(x.extract(words[0], 0, union.tag_bits))
    result = words
    for number, alternative in enumerate(union.alternatives):
        if not mentions(alternative, tables):
            continue
        inner = permuted(code, part_words(words, union.payload, alternative), alternative, tables)
        pieces = [(Place(0, 0), union.tag_bits, (tag,)), (union.payload, layout_of(alternative).bits, inner)]
        changed = combine(union.layout.words, pieces)
        here = x.eq(tag, Const(number + union.optional))
        chosen = tuple(x.select(here, new, old) for new, old in zip(changed, result, strict=True))
        result = keep_words(code, chosen)
    return result


def _union_code(word: Expr, declared: UnionType | RecordType, tables: Tables) -> Expr:
    union = union_layout(declared)
    result = word
    first = int(union.optional)
    for alternative in union.alternatives:
        count = scalar_count(alternative)
        if isinstance(alternative, IdentType) and alternative.cls in tables:
            inside = x.both(x.binary("sle", Const(first), word), x.binary("slt", word, Const(first + count)))
            member = x.binary("and", x.sub(word, Const(first)), Const((1 << MEMBER_BITS) - 1))
            result = x.select(inside, x.add(Const(first), image(member, tables[alternative.cls])), result)
        first += count
    return result


def _sequence(code: Code, words: Words, declared: SeqType, tables: Tables) -> Words:
    array = array_of(declared)
    words = keep_words(code, words)
    length = code.keep(x.extract(words[0], 0, array.head_bits))
    pieces: list[tuple[Place, int, Words]] = [(Place(0, 0), array.head_bits, (length,))]
    for index in range(declared.capacity):
        place = array.place(index)
        item = part_words(words, place, declared.element)
        change = partial(permuted, code, item, declared.element, tables)
        inner = if_there(code, x.binary("slt", Const(index), length), change, len(item))
        pieces.append((place, array.element.bits, inner))
    return keep_words(code, combine(array.layout.words, pieces))


def if_there(code: Code, there: Expr, change: Callable[[], Words], count: int) -> Words:
    """The words of an element of a sequence, computed if it is there, else 0."""
    names = [code.fresh("item") for _ in range(count)]
    code.emit(*(Let(name, x.ZERO) for name in names))
    draft = code.capture(lambda: code.emit(*(Let(name, word) for name, word in zip(names, change(), strict=True))))
    code.branch(there, draft)
    return tuple(map(Var, names))


def _map(code: Code, words: Words, declared: MapType, tables: Tables) -> Words:
    array = array_of(declared)
    words = keep_words(code, words)
    head: Words = () if declared.total else part_head(words, array.head_bits)
    items = []
    for number in range(key_count(declared.key)):
        item = permuted(code, part_words(words, array.place(number), declared.value), declared.value, tables)
        if not declared.total and mentions(declared.value, tables):
            item = tuple(x.select(x.extract(head[0], number, 1), word, x.ZERO) for word in item)
        items.append(keep_words(code, item))
    images = [code.keep(number) for number in _image_numbers(code, declared.key, tables)]
    head = tuple(_moved_bits(word, images) for word in head)
    pieces: list[tuple[Place, int, Words]] = [(Place(0, 0), array.head_bits, head)] if head else []
    if all(isinstance(number, Const) for number in images):
        pieces += [(array.place(number), array.element.bits, item) for number, item in enumerate(items)]
        return keep_words(code, combine(array.layout.words, pieces))
    if array.element.narrow:
        return keep_words(code, _packed(combine(array.layout.words, pieces), declared, images, items))
    for position in range(len(items)):
        pieces.append((array.place(position), array.element.bits, _at(position, images, items)))
    return keep_words(code, combine(array.layout.words, pieces))


def part_head(words: Words, bits: int) -> Words:
    """The mask of the keys of a partial map, at its beginning."""
    return (x.extract(words[0], 0, bits),)


def _packed(words: Words, declared: MapType, images: list[Expr], items: list[Words]) -> Words:
    """`words` with every narrow item at the place of its image."""
    array = array_of(declared)
    result = list(words)
    width = Const(array.element.bits)
    for number, item in zip(images, items, strict=True):
        if array.layout.narrow:
            bit = x.add(Const(array.head_bits), x.binary("mul", number, width))
            result[0] = x.binary("or", result[0], x.place_at(item[0], bit))
            continue
        first = 1 if array.head_bits else 0
        for word in range(first, len(result)):
            index = x.sub(number, Const((word - first) * array.per_word))
            here = x.binary("ult", index, Const(array.per_word))
            moved = x.place_at(item[0], x.binary("mul", x.select(here, index, x.ZERO), width))
            result[word] = x.binary("or", result[word], x.select(here, moved, x.ZERO))
    return tuple(result)


def _at(position: int, images: list[Expr], items: list[Words]) -> Words:
    """The item whose key's image is `position`."""
    result = items[0]
    for index in range(1, len(items)):
        here = x.eq(images[index], Const(position))
        result = tuple(x.select(here, new, old) for new, old in zip(items[index], result, strict=True))
    return result
