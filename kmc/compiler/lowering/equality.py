"""Lowering of equality; values of different kinds are unequal at compile time."""

from __future__ import annotations

from kmc.compiler.ir import build as x
from kmc.compiler.ir.nodes import Const, Expr
from kmc.compiler.lowering.context import Lowering
from kmc.compiler.values.code import Origin
from kmc.compiler.values.packing import is_none, pack
from kmc.compiler.values.value import EmptySet, Nothing, Num, Python, Several, Value
from kmc.compiler.values.value_types import common_type, type_of
from kmc.lang.types import SetType, UnionType
from kmc.runtime.state_layout import is_plain_key


def equal(low: Lowering, left: Value, right: Value, node: Origin) -> Expr:
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
    if isinstance(left, Several) and isinstance(right, Several):
        alike: Expr = Const(int(len(left.items) == len(right.items)))
        for one, other in zip(left.items, right.items, strict=False):
            alike = x.both(alike, low.same(one, other, node))
        return alike
    declared = common_type(left, right)
    if declared is None:
        if _may_be_equal(left, right):
            low.code.refuse(node, "comparing collections of different types", "store both in fields of one type")
        return x.ZERO
    pairs = zip(pack(low.code, left, declared, node), pack(low.code, right, declared, node), strict=True)
    result: Expr = x.ONE
    for a, b in pairs:
        result = x.both(result, x.eq(a, b))
    return result


def _may_be_equal(left: Value, right: Value) -> bool:
    """Return whether two values that no type joins may be equal: sets with parts, or unions of alike collections."""
    kinds = [type_of(value) for value in (left, right)]
    if any(isinstance(kind, UnionType) for kind in kinds):
        return True
    sets = [kind for kind in kinds if isinstance(kind, SetType)]
    return len(sets) == len(kinds) and not all(is_plain_key(kind.element) for kind in sets)
