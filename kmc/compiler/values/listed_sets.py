"""Sets that are stored as lists: of elements with more possible values than a mask has bits.

Invariant: the members are distinct and in the order of their words, with zeros behind the last one. So sets are equal
if their words are. A set that outgrows its list ends the kernel, and the search starts again with longer lists.
"""

from __future__ import annotations

from functools import reduce
from typing import TypeGuard

from kmc.compiler.ir import build as x
from kmc.compiler.ir.nodes import Const, Expr, Let, Var
from kmc.compiler.values.code import Code, Origin
from kmc.compiler.values.packing import (
    Words,
    array_head,
    array_of,
    combine,
    element,
    halved,
    keep_words,
    lift,
    part,
    value_words,
)
from kmc.compiler.values.value import Packed, Stored, Value
from kmc.lang.types import SeqType, SetType
from kmc.runtime.kernel_errors import RangeEnd
from kmc.runtime.state_layout import Place, is_listed, layout_of, list_type


def is_list(value: Value) -> TypeGuard[Packed | Stored]:
    """Return whether a value is a set that is stored as a list."""
    return isinstance(value, Packed | Stored) and isinstance(value.type, SetType) and is_listed(value.type)


def as_sequence(value: Packed | Stored) -> Packed | Stored:
    """The list of the members of a set: the same words, or the same place in memory."""
    assert isinstance(value.type, SetType)
    kind = list_type(value.type)
    if isinstance(value, Packed):
        return Packed(kind, value.words)
    return Stored(kind, value.pointer, value.word, value.bit)


def member_at(members: Packed | Stored, index: Expr) -> Value:
    """The member at an index of a list, which is within its length."""
    assert isinstance(members.type, SeqType)
    array = array_of(members.type)
    if isinstance(members, Stored) or isinstance(index, Const) or array.layout.narrow:
        return element(members, index)
    kind = members.type.element
    places = map(array.place, range(members.type.capacity))
    return lift(kind, halved(index, [value_words(part(members, place, kind)) for place in places]))


class ListMaker:
    """The variables in which a list of members is made: its length, and the words of each member."""

    def __init__(self, code: Code, declared: SetType, node: Origin | None) -> None:
        """Emit code for the empty list. Adding a member checks at `node` that it has room; None leaves that out."""
        self._code, self._node = code, node
        self._declared = declared
        self._list = list_type(declared)
        self._length = code.fresh("length")
        width = layout_of(self._list.element).words
        self._members = [[code.fresh("member") for _ in range(width)] for _ in range(self._list.capacity)]
        code.emit(Let(self._length, x.ZERO))
        code.emit(*(Let(name, x.ZERO) for names in self._members for name in names))

    def start_with(self, whole: Packed | Stored) -> None:
        """Emit code that makes the list that of a set of the same type."""
        members = as_sequence(whole)
        self._code.emit(Let(self._length, array_head(members)))
        for place, names in enumerate(self._members):
            self._set(names, value_words(element(members, Const(place))))

    def insert(self, item: Words) -> None:
        """Emit code that puts a member where its words belong, unless it is there."""
        code, length = self._code, Var(self._length)
        item = keep_words(code, item)
        place, is_there = code.fresh("place"), code.fresh("there")
        code.emit(Let(place, x.ZERO), Let(is_there, x.ZERO))
        for index, names in enumerate(self._members):
            within = x.binary("slt", Const(index), length)
            member = tuple(map(Var, names))
            code.emit(Let(place, x.add(Var(place), x.both(within, _is_before(member, item)))))
            code.emit(Let(is_there, x.either(Var(is_there), x.both(within, _is_same(member, item)))))

        def put() -> None:
            if self._node is not None:
                code.check(x.binary("slt", length, Const(len(self._members))), self._node, RangeEnd.MEMBERS)
            for index in reversed(range(len(self._members))):
                self._move(index, Var(place), item)
            code.emit(Let(self._length, x.add(length, x.ONE)))

        code.branch(x.negate(Var(is_there)), code.capture(put))

    def _move(self, index: int, place: Expr, item: Words) -> None:
        """Let the member at an index be the one before it if the new one comes earlier, or the new one."""
        old = tuple(map(Var, self._members[index]))
        before = tuple(map(Var, self._members[index - 1])) if index else old
        is_behind, is_here = x.binary("slt", place, Const(index)), x.eq(place, Const(index))
        moved = (
            x.select(is_behind, one, x.select(is_here, new, other))
            for one, new, other in zip(before, item, old, strict=True)
        )
        self._set(self._members[index], tuple(moved))

    def _set(self, names: list[str], words: Words) -> None:
        self._code.emit(*(Let(name, word) for name, word in zip(names, words, strict=True)))

    def made(self) -> Packed:
        """The set."""
        array = array_of(self._list)
        pieces: list[tuple[Place, int, Words]] = [(Place(0, 0), array.head_bits, (Var(self._length),))]
        for index, names in enumerate(self._members):
            pieces.append((array.place(index), array.element.bits, tuple(map(Var, names))))
        return Packed(self._declared, keep_words(self._code, combine(array.layout.words, pieces)))


def _is_before(left: Words, right: Words) -> Expr:
    """1 if the words of one member come before those of another, of which the last ones count most."""
    pairs = list(zip(left, right, strict=True))
    earlier = x.binary("ult", *pairs[0])
    for a, b in pairs[1:]:
        earlier = x.either(x.binary("ult", a, b), x.both(x.eq(a, b), earlier))
    return earlier


def _is_same(left: Words, right: Words) -> Expr:
    return reduce(x.both, (x.eq(a, b) for a, b in zip(left, right, strict=True)))
