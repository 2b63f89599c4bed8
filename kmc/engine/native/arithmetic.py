"""Python's operators on words, in LLVM IR. Sums, differences and products are those of 64 bits."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any, Final

from kmc.engine.native.loop_values import WORD

_LEAST = WORD(-(1 << 63))

STATIC_BINARY: Final[Mapping[type[ast.operator], Callable[[int, int], int]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
STATIC_UNARY: Final[Mapping[type[ast.unaryop], Callable[[int], int]]] = {
    ast.USub: operator.neg,
    ast.Invert: operator.invert,
    ast.Not: operator.not_,
}
STATIC_COMPARE: Final[Mapping[type[ast.cmpop], Callable[[int, int], bool]]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
SIGNS: Final[Mapping[type[ast.cmpop], str]] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
_NAMES = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.LShift: "shl",
    ast.RShift: "ashr",
    ast.BitAnd: "and_",
    ast.BitOr: "or_",
    ast.BitXor: "xor",
}


def emit_binary(builder: Any, kind: type[ast.operator], left: Any, right: Any) -> Any:
    """The result of an operator; TypeError for one that words do not have."""
    if kind in _NAMES:
        return getattr(builder, _NAMES[kind])(left, right)
    if kind not in (ast.FloorDiv, ast.Mod):
        raise TypeError(f"words have no operator {kind.__name__}")
    quotient, remainder = _divided(builder, left, right)
    return quotient if kind is ast.FloorDiv else remainder


def emit_unary(builder: Any, kind: type[ast.unaryop], word: Any) -> Any:
    """The result of an operator."""
    return builder.neg(word) if kind is ast.USub else builder.not_(word)


def _divided(builder: Any, left: Any, right: Any) -> tuple[Any, Any]:
    """Quotient and remainder as in Python: rounded down. Both are 0 where a machine would fail: of a division by 0, and
    of the least word by -1.
    """
    zero = WORD(0)
    overflows = builder.and_(builder.icmp_signed("==", left, _LEAST), builder.icmp_signed("==", right, WORD(-1)))
    fails = builder.or_(builder.icmp_signed("==", right, zero), overflows)
    divisor = builder.select(fails, WORD(1), right)
    quotient, remainder = builder.sdiv(left, divisor), builder.srem(left, divisor)
    other_sign = builder.icmp_signed("<", builder.xor(divisor, remainder), zero)
    rounded = builder.and_(builder.icmp_signed("!=", remainder, zero), other_sign)
    quotient = builder.select(rounded, builder.sub(quotient, WORD(1)), quotient)
    remainder = builder.select(rounded, builder.add(remainder, divisor), remainder)
    return builder.select(fails, zero, quotient), builder.select(fails, zero, remainder)
