"""Lowering of sequences: their elements, `append` and prefixes."""

from __future__ import annotations

import ast

from kmc.compiler.ir import build as x
from kmc.compiler.ir.nodes import Const, Expr
from kmc.compiler.lowering.context import Lowering
from kmc.compiler.values.code import Origin
from kmc.compiler.values.packing import array_head, element, keep_words, lift, make_seq, pack, unwrap, value_words
from kmc.compiler.values.scope import Scope
from kmc.compiler.values.value import Num, Numbers, Packed, SeqLiteral, Stored, Value
from kmc.compiler.values.value_types import FreeSeq, joined_type, type_of, type_of_all
from kmc.lang.types import SeqType


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
    index = unwrap(low.code, values[0], node)
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
    added = keep_words(low.code, pack(low.code, new, declared.element, node))
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
