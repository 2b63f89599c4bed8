"""Lowering of sequences: their elements, `append`, prefixes, slices, and one behind the other."""

from __future__ import annotations

import ast

from kmc.compiler.ir import build as x
from kmc.compiler.ir.nodes import Const, Expr
from kmc.compiler.lowering.context import Lowering
from kmc.compiler.lowering.map_literals import placed
from kmc.compiler.values.code import Origin
from kmc.compiler.values.packing import array_head, collection, element, keep_words, lift, make_seq, pack, value_words
from kmc.compiler.values.scope import Scope
from kmc.compiler.values.value import Num, Numbers, Packed, SeqLiteral, Stored, Value
from kmc.compiler.values.value_types import FreeSeq, joined_type, type_of, type_of_all
from kmc.lang.types import IntType, SeqType


def seq_method(low: Lowering, owner: Value, name: str, node: ast.Call, scope: Scope) -> Value:
    """A method of a sequence, stored or written in the spec."""
    values = [low.evaluate(argument, scope) for argument in node.args]
    if isinstance(owner, SeqLiteral):
        owner = _sequence(low, owner, values[0] if name == "append" else None, node)
    if isinstance(owner, Packed | Stored) and isinstance(owner.type, FreeSeq) and name == "append":
        owner = _with_room(low, owner, values[0], node)
    assert isinstance(owner, Packed | Stored)
    declared = owner.type
    assert isinstance(declared, SeqType)
    count, capacity = array_head(owner), declared.capacity
    if name == "offsets":
        return Numbers(Num(x.ONE, 1, 1), Num(x.add(count, x.ONE), 1, capacity + 1))
    items = [element(owner, Const(k)) for k in range(capacity)]
    if name == "append":
        low.code.check(x.binary("slt", count, Const(capacity)), node)
        return _appended(low, declared, count, items, values[0], node)
    index = collection(low.code, values[0], node, IntType)
    if name == "at" and isinstance(index, Num):
        low.code.check(x.both(x.binary("slt", x.ZERO, index.code), x.binary("sle", index.code, count)), node)
        return element(owner, low.code.keep(x.sub(index.code, x.ONE), "at"))
    if name == "upto" and isinstance(index, Num):
        low.code.check(x.both(x.binary("sle", x.ZERO, index.code), x.binary("sle", index.code, count)), node)
        return _prefix(low, declared, low.code.keep(index.code), items, node)
    low.code.refuse(node, f"'{name}' of a sequence")


def _sequence(low: Lowering, literal: SeqLiteral, more: Value | None, node: Origin) -> Packed:
    """A list that is written in the spec, in words, with room for one more element if that is to come."""
    items = literal.items if more is None else (*literal.items, more)
    element_type = type_of_all(items)
    if element_type is None:
        low.code.refuse(node, "a list of these elements")
    declared = FreeSeq(element_type, len(items))
    return Packed(declared, pack(low.code, literal, declared, node))


def _with_room(low: Lowering, owner: Packed | Stored, more: Value, node: Origin) -> Packed:
    """A list that is not stored, in a type that holds one more element."""
    assert isinstance(owner.type, SeqType)
    kind = type_of(more)
    element_type = owner.type.element if kind is None else joined_type(owner.type.element, kind)
    if element_type is None:
        low.code.refuse(node, "a list of these elements")
    declared = FreeSeq(element_type, owner.type.capacity + 1)
    return Packed(declared, keep_words(low.code, pack(low.code, owner, declared, node)))


def _appended(low: Lowering, declared: SeqType, count: Expr, items: list[Value], new: Value, node: Origin) -> Value:
    count = low.code.keep(count)
    added = keep_words(low.code, low.words_as(new, declared.element, node))
    longer = []
    for position, item in enumerate(items):
        here = x.eq(count, Const(position))
        longer.append(lift(declared.element, tuple(
            x.select(here, a, b) for a, b in zip(added, value_words(item), strict=True))))  # fmt: skip
    return Packed(declared, make_seq(low.code, declared, x.add(count, x.ONE), longer, node))


def _prefix(low: Lowering, declared: SeqType, count: Expr, items: list[Value], node: Origin) -> Value:
    kept = []
    for position, item in enumerate(items):
        here = x.binary("slt", Const(position), count)
        kept.append(lift(declared.element, tuple(x.select(here, word, x.ZERO) for word in value_words(item))))
    return Packed(declared, make_seq(low.code, declared, count, kept, node))


def is_sequence(value: Value) -> bool:
    """Return whether a value is a sequence, stored or written in the spec."""
    return isinstance(value, SeqLiteral) or (isinstance(value, Packed | Stored) and isinstance(value.type, SeqType))


def _in_words(low: Lowering, value: Value, node: Origin) -> Packed | Stored | None:
    """A sequence in words; None for `[]`."""
    if isinstance(value, SeqLiteral):
        return _sequence(low, value, None, node) if value.items else None
    assert isinstance(value, Packed | Stored)
    return value


def position(low: Lowering, owner: Value, key: Value, node: Origin) -> Value:
    """`s[k]`: the element at a position that counts from 0."""
    whole, index = _in_words(low, owner, node), collection(low.code, key, node, IntType)
    if not isinstance(index, Num):
        low.code.refuse(node, "brackets with this on a sequence")
    if whole is None:
        low.code.refuse(node, "an element of the empty sequence")
    at = low.code.keep(index.code, "at")
    inside = x.both(x.binary("sle", x.ZERO, at), x.binary("slt", at, array_head(whole)))
    low.code.check(inside, node)
    return element(whole, at)


def between(low: Lowering, owner: Value, node: ast.Slice, scope: Scope) -> Value:
    """`s[a:b]`: the elements from one position up to another; a bound outside of the sequence is an error."""
    whole = _in_words(low, owner, node)
    if whole is None:
        low.code.refuse(node, "a slice of the empty sequence")
    declared = whole.type
    assert isinstance(declared, SeqType)
    length = low.code.keep(array_head(whole), "len")
    first, end = (
        _bound(low, bound, length, default, scope) for bound, default in ((node.lower, x.ZERO), (node.upper, length))
    )
    count = low.code.keep(x.select(x.binary("slt", first, end), x.sub(end, first), x.ZERO), "count")
    kept: list[Value] = []
    for place in range(declared.capacity):
        here = x.binary("slt", Const(place), count)
        # A place that is not there reads element 0, so that no index leads out of the sequence.
        at = low.code.keep(x.select(here, x.add(first, Const(place)), x.ZERO), "at")
        if isinstance(at, Const) and at.value >= declared.capacity:
            break
        words = tuple(x.select(here, word, x.ZERO) for word in value_words(element(whole, at)))
        kept.append(lift(declared.element, keep_words(low.code, words)))
    return Packed(declared, make_seq(low.code, declared, count, kept, node))


def _bound(low: Lowering, bound: ast.expr | None, length: Expr, default: Expr, scope: Scope) -> Expr:
    if bound is None:
        return default
    value = collection(low.code, low.evaluate(bound, scope), bound, IntType)
    if not isinstance(value, Num):
        low.code.refuse(bound, "a slice that begins or ends at this")
    code = low.code.keep(value.code, "bound")
    low.code.check(x.both(x.binary("sle", x.ZERO, code), x.binary("sle", code, length)), bound)
    return code


def joined(low: Lowering, left: Value, right: Value, node: Origin) -> Value:
    """`s + t`: the elements of two sequences, one behind the other."""
    first, second = _in_words(low, left, node), _in_words(low, right, node)
    if first is None or second is None:
        return right if first is None else left
    assert isinstance(first.type, SeqType)
    assert isinstance(second.type, SeqType)
    kind = joined_type(first.type.element, second.type.element)
    if kind is None:
        low.code.refuse(node, "a sequence of elements of these types")
    declared = FreeSeq(kind, first.type.capacity + second.type.capacity)
    behind = FreeSeq(kind, second.type.capacity)
    before = low.code.keep(array_head(first), "before")
    words = keep_words(low.code, pack(low.code, first, declared, node))
    added = Packed(behind, keep_words(low.code, pack(low.code, second, behind, node)))
    for place in range(second.type.capacity):
        # Words behind the end of a sequence are 0, and change nothing where they are put.
        at = low.code.keep(x.add(before, Const(place)), "at")
        words = keep_words(low.code, placed(declared, words, at, value_words(element(added, Const(place)))))
    longer = x.binary("xor", x.binary("xor", words[0], before), x.add(before, array_head(added)))
    return Packed(declared, (longer, *words[1:]))
