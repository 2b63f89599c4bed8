"""Code that permutes a value: the words of the value with its identifiers exchanged.

A permutation of a class is a word with four bits per member: bits 4k to 4k + 3 hold the index of the image of member
k. Words beyond the length of a sequence stay 0, so permuted values have canonical words too. Every type that can be
stored can be permuted.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from kmc.compiler.ir import build as x
from kmc.compiler.ir.nodes import Const, Expr, Let, Var
from kmc.compiler.symmetry.member_change import MEMBER_BITS, MemberChange, mentions
from kmc.compiler.values.code import Code
from kmc.compiler.values.keys import key_code, key_value
from kmc.compiler.values.listed_sets import ListMaker
from kmc.compiler.values.masks import each_number, put_number
from kmc.compiler.values.packing import Words, array_of, combine, keep_words, value_words
from kmc.compiler.values.value import Packed
from kmc.lang.types import IdentType, MapType, PairType, SetType, Type
from kmc.runtime.state_layout import Place, key_count

Tables = Mapping[Any, Expr]
"""Permuted identifier classes with their permutations."""


def image(index: Expr, table: Expr) -> Expr:
    """The index of the image of member `index`."""
    return x.extract(table, x.binary("mul", index, Const(MEMBER_BITS)), MEMBER_BITS)


def permuted(code: Code, words: Words, declared: Type, tables: Tables) -> Words:
    """The words of a value of type `declared` with all identifiers exchanged."""
    return Permutation(code, tables).changed(words, declared)


class Permutation(MemberChange):
    """Each member becomes its image."""

    def __init__(self, code: Code, tables: Tables) -> None:
        super().__init__(code, tables)
        self._tables = tables

    def member(self, cls: Any, index: Expr) -> Expr:
        """The image of a member."""
        return image(index, self._tables[cls])

    def mask(self, mask: Words, kind: Type) -> Words:
        """The set of the images."""
        if len(mask) > 1:
            return self._moved_numbers(keep_words(self.code, mask), kind)
        return (_moved_bits(mask[0], _image_numbers(self.code, kind, self._tables)),)

    def listed(self, words: Words, declared: SetType) -> Words:
        """The set of the images, which are in another order, and as many."""
        made = ListMaker(self.code, declared, None)
        self.each_listed(words, declared, made.insert)
        return made.made().words

    def _moved_numbers(self, mask: Words, element: Type) -> Words:
        """The set of the images, made in a loop over the members: code for each possible one would be too long."""
        code = self.code
        names = [code.fresh("moved") for _ in mask]
        code.emit(*(Let(name, x.ZERO) for name in names))

        def move(number: Expr) -> None:
            put_number(code, names, _image_number(code, element, number, self._tables))

        each_number(code, mask, move)
        return tuple(map(Var, names))

    def keyed_by_many(self, declared: MapType, words: Words) -> Words:
        """The map in which each value is at the image of its key."""
        return self.moved(declared, words, lambda key: _image_number(self.code, declared.key, key, self._tables))

    def keyed(self, declared: MapType, head: Expr | None, items: list[Words]) -> Words:
        """The map in which each value is at the image of its key."""
        array = array_of(declared)
        images = [self.code.keep(image) for image in _image_numbers(self.code, declared.key, self._tables)]
        pieces: list[tuple[Place, int, Words]] = []
        if head is not None:
            pieces.append((Place(0, 0), array.head_bits, (_moved_bits(head, images),)))
        if array.element.narrow:
            return keep_words(self.code, _packed(combine(array.layout.words, pieces), declared, images, items))
        for position in range(len(items)):
            pieces.append((array.place(position), array.element.bits, _at(position, images, items)))
        return keep_words(self.code, combine(array.layout.words, pieces))


def pair_numbers(count: int) -> dict[tuple[int, int], int]:
    """The pairs of `count` members with their numbers, in the order of `kmc.lang.domains.members`."""
    pairs = [(first, second) for first in range(count) for second in range(first + 1, count)]
    return {pair: index for index, pair in enumerate(pairs)}


_LOOKED_UP = 4
"""The images of all masks of so many members fit into a word."""


def _image_numbers(code: Code, key: Type, tables: Tables) -> list[Expr]:
    """The number of the image of every scalar or pair of a type, in order."""
    match key:
        case IdentType(cls) if cls in tables:
            return [image(Const(k), tables[cls]) for k in range(len(cls.members))]
        case PairType(element) if mentions(element, tables):
            images = [code.keep(pair_image) for pair_image in _image_numbers(code, element, tables)]
            count = len(images)
            pair_images = []
            for first, second in pair_numbers(count):
                less = x.binary("slt", images[first], images[second])
                low = code.keep(x.select(less, images[first], images[second]))
                high = code.keep(x.select(less, images[second], images[first]))
                # Pairs with a smaller first member come before: count - 1, count - 2, ... of them.
                twice = x.binary("mul", low, x.sub(Const(2 * count - 1), low))
                before = x.binary("lshr", twice, x.ONE)
                pair_images.append(code.keep(x.add(before, x.sub(x.sub(high, low), x.ONE))))
            return pair_images
        case _ if mentions(key, tables):
            return [_image_number(code, key, Const(number), tables) for number in range(key_count(key))]
        case _:
            return [Const(k) for k in range(key_count(key))]


def _image_number(code: Code, key: Type, number: Expr, tables: Tables) -> Expr:
    """The number of the image of a value with parts."""
    words = keep_words(code, value_words(key_value(key, number)))
    moved = Packed(key, keep_words(code, permuted(code, words, key, tables)))
    return code.keep(key_code(code, moved, key, ast.Pass()))


def _moved_bits(mask: Expr, images: list[Expr]) -> Expr:
    """The mask of a set after each member is replaced by its image."""
    if len(images) <= _LOOKED_UP:
        return _looked_up(mask, images)
    result: Expr = x.ZERO
    for bit, to in enumerate(images):
        result = x.binary("or", result, x.place_at(x.extract(mask, bit, 1), to))
    return result


def _looked_up(mask: Expr, images: list[Expr]) -> Expr:
    """The same by a table of all masks in one word, which depends on the permutation only."""
    count = len(images)
    table: Expr = x.ZERO
    for bit, to in enumerate(images):
        holding = sum(1 << count * other for other in range(1 << count) if other >> bit & 1)
        table = x.binary("or", table, x.place_at(Const(x.signed(holding)), to))
    return x.extract(table, x.binary("mul", mask, Const(count)), count)


def _packed(words: Words, declared: MapType, images: list[Expr], items: list[Words]) -> Words:
    """`words` with every narrow item at the place of its image."""
    array = array_of(declared)
    result = list(words)
    width = Const(array.element.bits)
    for image, item in zip(images, items, strict=True):
        if array.layout.narrow:
            bit = x.add(Const(array.head_bits), x.binary("mul", image, width))
            result[0] = x.binary("or", result[0], x.place_at(item[0], bit))
            continue
        first = array.head_words
        for word in range(first, len(result)):
            index = x.sub(image, Const((word - first) * array.per_word))
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
