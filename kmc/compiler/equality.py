"""Equality of values while they are compiled; 0 across kinds, without looking."""

from __future__ import annotations

import ast

from kmc.compiler import exprs as x
from kmc.compiler.ir import Expr
from kmc.compiler.layout import union_layout
from kmc.compiler.lower import Lowering
from kmc.compiler.parts import common_type, is_none, pack, type_of
from kmc.compiler.values import EmptySet, Nothing, Num, Python, Value
from kmc.lang.types import UnionType


def equal(low: Lowering, left: Value, right: Value, node: ast.AST) -> Expr:
    """1 if two values are equal; 0 across kinds."""
    if isinstance(left, Nothing) or isinstance(right, Nothing):
        other = right if isinstance(left, Nothing) else left
        return is_none(other)
    if isinstance(left, Num) and isinstance(right, Num):
        apart = left.high < right.low or right.high < left.low
        return x.ZERO if apart else x.eq(left.code, right.code)
    if isinstance(left, Python) or isinstance(right, Python):
        low.code.refuse(node, "comparing classes or functions")
    if isinstance(left, EmptySet) and isinstance(right, EmptySet):
        return x.ONE
    declared = common_type(left, right)
    if declared is None:
        return x.ZERO
    if isinstance(declared, UnionType) and not (_may_be(left, declared) and _may_be(right, declared)):
        return x.ZERO
    pairs = zip(pack(low.code, left, declared, node), pack(low.code, right, declared, node), strict=True)
    result: Expr = x.ONE
    for a, b in pairs:
        result = x.both(result, x.eq(a, b))
    return result


def _may_be(value: Value, declared: UnionType) -> bool:
    kind = type_of(value)
    return (
        kind == declared or isinstance(kind, UnionType) or kind in union_layout(declared).alternatives or kind is None
    )
