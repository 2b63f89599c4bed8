"""A change of the members of some classes in a packed value, wherever the value holds them; its form stays.

The fold over types is here once. A subclass replaces a member, a set, and a map whose keys are members:
`permute` gives each member its image, `project` makes all members but one anonymous.
"""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, assert_never

from kmc.compiler.ir import build as x
from kmc.compiler.ir.nodes import Const, Expr, Let, Var
from kmc.compiler.values.code import Code
from kmc.compiler.values.listed_sets import as_sequence, member_at
from kmc.compiler.values.masks import each_number, put_number
from kmc.compiler.values.packing import (
    Words,
    array_head,
    array_of,
    combine,
    element,
    keep_words,
    keys_mask,
    lift,
    pack,
    value_words,
)
from kmc.compiler.values.value import MapUpdate, Packed
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
from kmc.runtime.state_layout import Place, is_listed, key_count, layout_of, record_layout, scalar_count, union_layout

MEMBER_BITS = 4
"""The bits of the index of a member: a permuted class has 16 members at most."""


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
    if layout.bits == 0:  # one value only, whose place may be behind the last word
        return (x.ZERO,)
    if layout.narrow:
        return (x.extract(words[place.word], place.bit, layout.bits),)
    return words[place.word : place.word + layout.words]


class MemberChange(ABC):
    """Replaces the members of `classes` in packed values. Words beyond the length of a sequence stay 0."""

    def __init__(self, code: Code, classes: Mapping[Any, object]) -> None:
        self.code, self.classes = code, classes

    @abstractmethod
    def member(self, cls: Any, index: Expr) -> Expr:
        """The index that replaces the index of a member of `cls`."""

    @abstractmethod
    def mask(self, mask: Words, kind: Type) -> Words:
        """The mask that replaces the mask of a set, or of the keys of a partial map, with elements of this type."""

    @abstractmethod
    def listed(self, words: Words, declared: SetType) -> Words:
        """The words that replace those of a set that is stored as a list, whose members are or contain members."""

    @abstractmethod
    def keyed_by_many(self, declared: MapType, words: Words) -> Words:
        """The words that replace those of a partial map with a mask of several words, whose keys contain members."""

    @abstractmethod
    def keyed(self, declared: MapType, head: Expr | None, items: list[Words]) -> Words:
        """The words that replace those of a map whose keys are or contain members.

        `items` are its values, changed already, by the number of their key. `head` is the mask of the keys of a partial
        map, None for a total one; absent keys have the value 0 if the values hold members.
        """

    def changed(self, words: Words, declared: Type) -> Words:
        """The words of a value of type `declared`, changed."""
        if not mentions(declared, self.classes):
            return words
        match declared:
            case IdentType(cls):
                return (self.member(cls, words[0]),)
            case SetType() if is_listed(declared):
                return self.listed(keep_words(self.code, words), declared)
            case SetType(element) | PairType(element):
                return self.mask(words, element)
            case RecordType(cls) if len(cls.shapes) == 1:
                return self._record(words, cls.shapes[0])
            case UnionType() | RecordType():
                return self._union(words, declared)
            case SeqType():
                return self._sequence(words, declared)
            case MapType():
                return self._map(words, declared)
            case _:
                raise AssertionError(declared)  # no type without a layout lies in a row

    def each_listed(self, words: Words, declared: SetType, then: Callable[[Words], None]) -> None:
        """Emit a loop in which `then` is called with each member of a set that is stored as a list, changed."""
        members = as_sequence(Packed(declared, words))

        def one(index: Expr) -> None:
            item = keep_words(self.code, value_words(member_at(members, index)))
            then(keep_words(self.code, self.changed(item, declared.element)))

        self.code.count_up(x.ZERO, self.code.keep(array_head(members), "len"), one, "member")

    def moved(self, declared: MapType, words: Words, number: Callable[[Expr], Expr]) -> Words:
        """A partial map with its values changed, each under another key, given by numbers; made in a loop over them."""
        code, layout = self.code, layout_of(declared)
        names = [code.fresh("moved") for _ in range(layout.words)]
        code.emit(*(Let(name, x.ZERO) for name in names))
        so_far = Packed(declared, tuple(map(Var, names)))
        whole = Packed(declared, words)

        def move(key: Expr) -> None:
            item = keep_words(code, self.changed(value_words(element(whole, key)), declared.value))
            to = code.keep(number(key), "key")
            update = MapUpdate(declared, so_far, to, lift(declared.value, item))
            changed = keep_words(code, pack(code, update, declared, ast.Pass()))
            code.emit(*(Let(name, word) for name, word in zip(names, changed, strict=True)))
            put_number(code, names[: array_of(declared).head_words], to)

        each_number(code, keys_mask(whole), move)
        return so_far.words

    def _record(self, words: Words, cls: Any) -> Words:
        layout = record_layout(cls)
        pieces = []
        for name, kind in cls.fields.items():
            place = layout.fields[name]
            pieces.append((place, layout_of(kind).bits, self.changed(part_words(words, place, kind), kind)))
        return combine(layout.layout.words, pieces)

    def _union(self, words: Words, declared: UnionType | RecordType) -> Words:
        union = union_layout(declared)
        words = keep_words(self.code, words)
        if union.coded:
            return (self.code.keep(self._union_code(words[0], declared)),)
        tag = self.code.keep(x.extract(words[0], 0, union.tag_bits))
        result = words
        for index, alternative in enumerate(union.alternatives):
            if not mentions(alternative, self.classes):
                continue
            inner = self.changed(part_words(words, union.payload, alternative), alternative)
            pieces = [(Place(0, 0), union.tag_bits, (tag,)), (union.payload, layout_of(alternative).bits, inner)]
            changed = combine(union.layout.words, pieces)
            here = x.eq(tag, Const(index + union.optional))
            chosen = tuple(x.select(here, new, old) for new, old in zip(changed, result, strict=True))
            result = keep_words(self.code, chosen)
        return result

    def _union_code(self, word: Expr, declared: UnionType | RecordType) -> Expr:
        """A union in one code: the members of each alternative follow those of the one before."""
        union = union_layout(declared)
        result = word
        first = int(union.optional)
        for alternative in union.alternatives:
            count = scalar_count(alternative)
            if isinstance(alternative, IdentType) and alternative.cls in self.classes:
                inside = x.both(x.binary("sle", Const(first), word), x.binary("slt", word, Const(first + count)))
                # Outside, the index is another alternative's: cut, so that no shift by it is too far.
                index = x.binary("and", x.sub(word, Const(first)), Const((1 << MEMBER_BITS) - 1))
                result = x.select(inside, x.add(Const(first), self.member(alternative.cls, index)), result)
            first += count
        return result

    def _sequence(self, words: Words, declared: SeqType) -> Words:
        array = array_of(declared)
        words = keep_words(self.code, words)
        length = self.code.keep(x.extract(words[0], 0, array.head_bits))
        pieces: list[tuple[Place, int, Words]] = [(Place(0, 0), array.head_bits, (length,))]
        for index in range(declared.capacity):
            place = array.place(index)
            item = part_words(words, place, declared.element)
            # Without this, absent elements would read as the first member.
            inner = self._if_there(x.binary("slt", Const(index), length), item, declared.element)
            pieces.append((place, array.element.bits, inner))
        return keep_words(self.code, combine(array.layout.words, pieces))

    def _if_there(self, there: Expr, item: Words, declared: Type) -> Words:
        """An element of a sequence, changed if it is there, else 0."""
        names = [self.code.fresh("item") for _ in item]
        self.code.emit(*(Let(name, x.ZERO) for name in names))
        change: Callable[[], Words] = partial(self.changed, item, declared)
        draft = self.code.capture(
            lambda: self.code.emit(*(Let(name, word) for name, word in zip(names, change(), strict=True)))
        )
        self.code.branch(there, draft)
        return tuple(map(Var, names))

    def _map(self, words: Words, declared: MapType) -> Words:
        array = array_of(declared)
        words = keep_words(self.code, words)
        if array.head_words > 1:
            is_keyed = mentions(declared.key, self.classes)
            return self.keyed_by_many(declared, words) if is_keyed else self.moved(declared, words, lambda key: key)
        head = self.code.keep(x.extract(words[0], 0, array.head_bits)) if array.head_bits else None
        items = []
        for index in range(key_count(declared.key)):
            item = self.changed(part_words(words, array.place(index), declared.value), declared.value)
            if head is not None and mentions(declared.value, self.classes):
                item = tuple(x.select(x.extract(head, index, 1), word, x.ZERO) for word in item)
            items.append(keep_words(self.code, item))
        if mentions(declared.key, self.classes):
            return self.keyed(declared, head, items)
        pieces: list[tuple[Place, int, Words]] = [(Place(0, 0), array.head_bits, (head,))] if head is not None else []
        pieces += [(array.place(index), array.element.bits, item) for index, item in enumerate(items)]
        return keep_words(self.code, combine(array.layout.words, pieces))
