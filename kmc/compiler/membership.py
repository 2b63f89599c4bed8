"""Membership and inclusion while they are compiled."""

from __future__ import annotations

import ast

from kmc.compiler import exprs as x
from kmc.compiler.equality import equal
from kmc.compiler.ir import Const, Expr, Let, Var
from kmc.compiler.iteration import any_of, settled
from kmc.compiler.keys import key_code, key_number
from kmc.compiler.kinds import common_type, joined_type, type_of
from kmc.compiler.lower import Lowering
from kmc.compiler.networks import contains
from kmc.compiler.parts import alternatives, array_head, pack, words
from kmc.compiler.values import (
    Comprehension,
    EmptySet,
    MapUpdate,
    Net,
    Num,
    Packed,
    Python,
    SetLiteral,
    Stored,
    Sym,
    Value,
)
from kmc.errors import SpecError
from kmc.kernels.layout import key_count
from kmc.lang.symbols import SymbolMeta
from kmc.lang.types import IntType, MapType, PairType, SetType, Type, UnionType


def member(low: Lowering, item: Value, whole: Value, node: ast.AST) -> Expr:
    """1 if `item` is in a set, map, sequence, range or network."""
    if isinstance(whole, Net):
        return contains(low, whole, item, node)
    if isinstance(whole, SetLiteral):
        return any_of(low, whole, lambda other: equal(low, item, other, node), node)
    whole = _settled_if_scalar(low, whole, node)
    if isinstance(whole, EmptySet):
        return x.ZERO
    if isinstance(whole, Python) and isinstance(whole.object, SymbolMeta):
        return Const(int(isinstance(item, Sym) and item.cls is whole.object))
    if isinstance(whole, Packed | Stored) and isinstance(whole.type, SetType | PairType):
        if isinstance(whole.type.element, PairType):
            return x.extract(words(whole)[0], key_code(low.code, item, whole.type.element, node), 1)
        return _bit(low, item, words(whole)[0], whole.type.element, node)
    if isinstance(whole, MapUpdate):
        return member(low, item, whole.base, node)
    if isinstance(whole, Packed | Stored) and isinstance(whole.type, MapType):
        full = x.low_mask(key_count(whole.type.key))
        if isinstance(whole.type.key, PairType):
            number = key_number(low.code, item, whole.type, node)
            return x.extract(full if whole.type.total else array_head(whole), number, 1)
        return _bit(low, item, full if whole.type.total else array_head(whole), whole.type.key, node)
    return any_of(low, whole, lambda other: equal(low, item, other, node), node)


def _settled_if_scalar(low: Lowering, whole: Value, node: ast.AST) -> Value:
    """A comprehension of scalars as a set; of anything else as it is, to be run through."""
    try:
        return settled(low, whole, node) if isinstance(whole, Comprehension) else whole
    except SpecError:
        return whole


def _bit(low: Lowering, item: Value, mask: Expr, declared: Type, node: ast.AST) -> Expr:
    """1 if a scalar is among the values of type `declared` whose bits are set; 0 for None and what is no such value."""
    if isinstance(item, Packed | Stored) and isinstance(item.type, UnionType):
        joint = joined_type(item.type, declared)
        if joint is None:
            return x.ZERO
        found = low.code.fresh("in")
        low.code.emit(Let(found, x.ZERO))
        for here, kind in alternatives(low.code, item):
            draft = low.code.capture(
                lambda kind=kind: low.code.emit(Let(found, _bit(low, kind, mask, declared, node)))  # type: ignore[misc]  # bound now
            )
            low.code.branch(here, draft)
        return Var(found)
    if isinstance(item, Num) and isinstance(declared, IntType):
        code = low.code.keep(item.code)
        above = x.ONE if item.low >= declared.low else x.binary("sle", Const(declared.low), code)
        below = x.ONE if item.high <= declared.high else x.binary("sle", code, Const(declared.high))
        inside = x.both(above, below)
        number = x.select(inside, x.sub(code, Const(declared.low)), x.ZERO)
        return x.both(inside, x.extract(mask, number, 1))
    if type_of(item) != declared:
        return x.ZERO
    return x.extract(mask, pack(low.code, item, declared, node)[0], 1)


def subset(low: Lowering, operator: ast.cmpop, left: Value, right: Value, node: ast.AST) -> Expr:
    """`s <= t` and its kin on sets."""
    left, right = settled(low, left, node), settled(low, right, node)
    declared = common_type(left, right)
    if isinstance(left, EmptySet) and isinstance(right, EmptySet):
        return Const(int(isinstance(operator, ast.LtE | ast.GtE)))
    if not isinstance(declared, SetType):
        low.code.refuse(node, "an order of values that are neither integers nor sets")
    a, b = (pack(low.code, value, declared, node)[0] for value in (left, right))
    if isinstance(operator, ast.Gt | ast.GtE):
        a, b = b, a
    inside = x.eq(x.binary("and", a, x.binary("xor", b, Const(-1))), x.ZERO)
    return x.both(inside, x.negate(x.eq(a, b))) if isinstance(operator, ast.Lt | ast.Gt) else inside
