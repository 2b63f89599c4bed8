"""Membership and inclusion while they are compiled."""

from __future__ import annotations

import ast

from kmc.compiler import exprs as x
from kmc.compiler.equality import equal
from kmc.compiler.ir import Const, Expr
from kmc.compiler.iteration import any_of, settled
from kmc.compiler.lower import Lowering
from kmc.compiler.networks import contains
from kmc.compiler.parts import array_head, key_number, pack, type_of, unwrap, words
from kmc.compiler.values import EmptySet, MapUpdate, Net, Nothing, Packed, Python, Stored, Sym, Value
from kmc.lang.symbols import SymbolMeta
from kmc.lang.types import MapType, PairType, SetType, UnionType


def member(low: Lowering, item: Value, whole: Value, node: ast.AST) -> Expr:
    """1 if `item` is in a set, map, sequence, range or network."""
    if isinstance(whole, Net):
        return contains(low, whole, item, node)
    whole = settled(low, whole, node)
    if isinstance(whole, EmptySet):
        return x.ZERO
    if isinstance(whole, Python) and isinstance(whole.object, SymbolMeta):
        return Const(int(isinstance(item, Sym) and item.cls is whole.object))
    if isinstance(whole, Packed | Stored) and isinstance(whole.type, SetType | PairType):
        number = _element_number(low, item, whole.type, node)
        return x.ZERO if number is None else x.extract(words(whole)[0], number, 1)
    if isinstance(whole, MapUpdate):
        return member(low, item, whole.base, node)
    if isinstance(whole, Packed | Stored) and isinstance(whole.type, MapType):
        if whole.type.total:
            return x.ONE
        return x.extract(array_head(whole), key_number(low.code, item, whole.type, node), 1)
    return any_of(low, whole, lambda other: equal(low, item, other, node), node)


def _element_number(low: Lowering, item: Value, declared: SetType | PairType, node: ast.AST) -> Expr | None:
    if isinstance(item, Packed | Stored) and isinstance(item.type, UnionType) and item.type.optional:
        inner = unwrap(low.code, item, node)
        return pack(low.code, inner, declared.element, node)[0]
    if type_of(item) is None or isinstance(item, Nothing):
        return None
    return pack(low.code, item, declared.element, node)[0]


def subset(low: Lowering, operator: ast.cmpop, left: Value, right: Value, node: ast.AST) -> Expr:
    """`s <= t` and its kin on sets."""
    left, right = settled(low, left, node), settled(low, right, node)
    declared = type_of(right) if isinstance(left, EmptySet) else type_of(left)
    if isinstance(left, EmptySet) and isinstance(right, EmptySet):
        return Const(int(isinstance(operator, ast.LtE | ast.GtE)))
    if not isinstance(declared, SetType):
        low.code.refuse(node, "an order of values that are neither integers nor sets")
    a, b = (pack(low.code, value, declared, node)[0] for value in (left, right))
    if isinstance(operator, ast.Gt | ast.GtE):
        a, b = b, a
    inside = x.eq(x.binary("and", a, x.binary("xor", b, Const(-1))), x.ZERO)
    return x.both(inside, x.negate(x.eq(a, b))) if isinstance(operator, ast.Lt | ast.Gt) else inside
