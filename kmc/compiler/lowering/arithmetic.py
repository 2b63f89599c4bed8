"""Arithmetic on numbers with known bounds: division rounds down as in Python, and no number overflows a word."""

from __future__ import annotations

import ast

from kmc.compiler.ir import build as x
from kmc.compiler.ir.nodes import Const, Expr, Let, Var
from kmc.compiler.lowering.context import Lowering
from kmc.compiler.values.code import Origin
from kmc.compiler.values.value import Num, Value

NUMBER_MAX = 1 << 62
"""No number of compiled code is larger: sums and products of two such numbers fit a word, or their range is known."""
POWER_MAX = 1 << 54
"""No power with an exponent of unknown size is larger, so that there is room for what is added to it."""


def in_range(low: Lowering, value: Value, node: Origin) -> Value:
    """`value`, unless it is a number that may lie beyond the numbers of compiled code."""
    if isinstance(value, Num) and max(abs(value.low), abs(value.high)) > NUMBER_MAX:
        low.code.refuse(
            node,
            f"a number that may reach {value.high if value.high > NUMBER_MAX else value.low}, beyond 2**62",
            "keep what it is made of in smaller domains, or run with --engine python",
        )
    return value


def divided(low: Lowering, left: Num, right: Num, node: ast.BinOp, *, remainder: bool) -> Num:
    """`left // right`, rounded down as in Python, or `left % right`; a check that `right` is not 0, or is positive."""
    a, b = low.code.keep(left.code), low.code.keep(right.code)
    low.code.check(x.binary("slt", x.ZERO, b) if remainder else x.negate(x.eq(b, x.ZERO)), node)
    size, by = _absolute(a), _absolute(b)
    by = low.code.keep(x.select(x.eq(by, x.ZERO), x.ONE, by))
    quotient, rest = low.code.keep(x.binary("udiv", size, by)), low.code.keep(x.binary("urem", size, by))
    opposite = low.code.keep(x.binary("xor", x.binary("slt", a, x.ZERO), x.binary("slt", b, x.ZERO)))
    # Rounded towards 0 so far: for opposite signs, a remainder adds one before the sign is set.
    more = x.both(opposite, x.negate(x.eq(rest, x.ZERO)))
    total = low.code.keep(x.add(quotient, more))
    result = low.code.keep(x.select(opposite, x.sub(x.ZERO, total), total))
    divisors = [d for d in (right.low, right.high, -1, 1) if d and right.low <= d <= right.high] or [1]
    if not remainder:
        ends = [n // d for n in (left.low, left.high) for d in divisors]
        return Num(result, min(ends), max(ends))
    most = max(0, right.high - 1)
    return Num(x.sub(a, x.binary("mul", result, b)), 0, min(most, left.high) if left.low >= 0 else most)


def power(low: Lowering, base: Num, exponent: Num, node: Origin) -> Num:
    """`base ** exponent`; a check that it has a value: the exponent is not negative, nor are both 0."""
    a, n = low.code.keep(base.code), low.code.keep(exponent.code)
    defined = x.either(x.binary("slt", x.ZERO, n), x.both(x.eq(n, x.ZERO), x.negate(x.eq(a, x.ZERO))))
    low.code.check(defined, node)
    if exponent.high < 0:
        return Num(x.ZERO, 0, 0)
    if max(abs(base.low), abs(base.high)) <= 1:
        # -1, 0 and 1 are their own cubes, so the power depends on whether the exponent is 0, and whether it is even.
        square = x.binary("mul", a, a)
        other = x.select(x.eq(x.binary("and", n, x.ONE), x.ZERO), square, a)
        return Num(x.select(x.eq(n, x.ZERO), x.ONE, other), min(0, base.low), 1)
    result, size = low.code.fresh("power"), low.code.keep(_absolute(a))
    low.code.emit(Let(result, x.ONE))
    most = max(base.high, -base.low)
    # Bits are compared first: a power of so many digits would take long to write down.
    is_small = (most.bit_length() - 1) * exponent.high < POWER_MAX.bit_length() and most**exponent.high <= POWER_MAX
    high = most**exponent.high if is_small else POWER_MAX

    def multiply(_: Expr) -> None:
        if not is_small:
            room = x.binary("udiv", Const(POWER_MAX), x.select(x.eq(size, x.ZERO), x.ONE, size))
            low.code.check(x.binary("sle", _absolute(Var(result)), room), node)
        low.code.emit(Let(result, x.binary("mul", Var(result), a)))

    low.code.count_up(x.ZERO, n, multiply)
    return Num(Var(result), -high if base.low < 0 else 0, high)


def _absolute(code: Expr) -> Expr:
    return x.select(x.binary("slt", code, x.ZERO), x.sub(Const(0), code), code)
