"""Keys of maps and members of sets by number: scalars as they are, pairs in the order of `kmc.lang.domains.members`."""

from __future__ import annotations

import ast

from kmc.compiler import exprs as x
from kmc.compiler.code import Code
from kmc.compiler.ir import Const, Expr
from kmc.compiler.parts import lift, pack, unwrap
from kmc.compiler.values import Packed, Value
from kmc.kernels.layout import layout_of, scalar_count
from kmc.lang.types import MapType, PairType, Type


def key_number(code: Code, key: Value, declared: MapType, node: ast.AST) -> Expr:
    """The number of a key."""
    return key_code(code, key, declared.key, node)


def key_code(code: Code, key: Value, declared: Type, node: ast.AST) -> Expr:
    """The number of a scalar or a pair among the values of its type."""
    if isinstance(declared, PairType):
        return _pair_number(pack(code, key, declared, node)[0], layout_of(declared).bits)
    return pack(code, unwrap(code, key, node), declared, node)[0]


def key_value(declared: Type, number: Expr) -> Value:
    """The scalar or pair with this number."""
    if not isinstance(declared, PairType):
        return lift(declared, (number,))
    count = scalar_count(declared.element)
    masks = [1 << first | 1 << second for first in range(count) for second in range(first + 1, count)]
    chosen: Expr = x.ZERO
    for place, mask in enumerate(masks):
        chosen = x.select(x.eq(number, Const(place)), Const(x.signed(mask)), chosen)
    return Packed(declared, (chosen,))


def _pair_number(mask: Expr, count: int) -> Expr:
    number = 0
    result: Expr = x.ZERO
    for first in range(count):
        for second in range(first + 1, count):
            result = x.select(x.eq(mask, Const(1 << first | 1 << second)), Const(number), result)
            number += 1
    return result
