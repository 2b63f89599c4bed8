"""The kernel `may_change(cur, nxt)`: the properties whose value may differ between a state and its successor.

Bit 0 is set if the invariants read something that differs between the two states, and bit 1 + n for reachable property
n; a property whose bit is 0 has the same value in both. The bits that a property reads are found in its code. A
property that reads a network, or a place that is computed at run time, counts as reading the whole state.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce

from kmc.compiler.ir import build as x
from kmc.compiler.ir.nodes import (
    Bin,
    CallKernel,
    Const,
    Expr,
    Function,
    If,
    Intrinsic,
    Let,
    Load,
    Matches,
    Return,
    Select,
    Stmt,
)
from kmc.compiler.ir.walk import statements, variables
from kmc.runtime.state_layout import RowLayout

_ALL = (1 << 64) - 1


def may_change(functions: Iterable[Function], row: RowLayout, reachable: int) -> Function:
    """The kernel, for the properties whose kernels `check` and `reachable_0`, ... are among the functions."""
    known = {function.name: function for function in functions}
    mask = _differs(_bits_read(known["check"], known, row))
    parts = [_bits_read(known[f"reachable_{number}"], known, row) for number in range(reachable)]
    # Reachable properties are compared together: most steps change nothing that any of them reads.
    together: dict[int, int] = {}
    for part in parts:
        for word, bits in (part or {}).items():
            together[word] = together.get(word, 0) | bits
    always = sum(2 << number for number, part in enumerate(parts) if part is None)
    others = sum(2 << number for number, part in enumerate(parts) if part)
    mask = x.binary("or", mask, x.select(_differs(together), Const(always | others), Const(always)))
    return Function("may_change", ("cur", "nxt"), (), (Return(mask),), frozenset({"cur", "nxt"}))


def _differs(read: dict[int, int] | None) -> Expr:
    if read is None:
        return x.ONE
    parts: list[Expr] = [
        x.binary("and", x.binary("xor", x.load("cur", Const(word)), x.load("nxt", Const(word))), Const(x.signed(bits)))
        for word, bits in sorted(read.items())
    ]
    if not parts:
        return x.ZERO
    return x.negate(x.eq(reduce(lambda left, right: x.binary("or", left, right), parts), x.ZERO))


def _bits_read(function: Function, known: dict[str, Function], row: RowLayout) -> dict[int, int] | None:
    """The bits of each word of the fixed part that a property and its callees read; None for the whole state."""
    found: dict[int, int] = {}
    for statement in _living(list(statements(function.body))):
        if isinstance(statement, CallKernel):
            callee = known[statement.function]
            passes_on = statement.pointers == (("cur", x.ZERO),) and not statement.arguments
            inner = _bits_read(callee, known, row) if passes_on and callee.pointers == ("cur",) else None
            if inner is None:
                return None
            reads = list(inner.items())
        else:
            reads = [read for expr in _expressions(statement) for read in _reads(expr, _ALL)]
        for word, bits in reads:
            if not 0 < word < row.counts:
                return None
            found[word] = found.get(word, 0) | bits
    return found


def _living(body: list[Stmt]) -> list[Stmt]:
    """The statements without assignments to variables that nothing reads."""
    read: set[str] = set()
    while True:
        living = [item for item in body if not isinstance(item, Let) or item.name in read]
        seen = {name for item in living for expr in _expressions(item) for name in variables(expr)}
        if seen <= read:
            return living
        read |= seen


def _expressions(statement: Stmt) -> tuple[Expr, ...]:
    match statement:
        case Let(_, value) | Return(value):
            return (value,)
        case If(condition):
            return (condition,)
        case CallKernel(_, _, pointers, arguments):
            return (*(offset for _, offset in pointers), *arguments)
        case _:
            return ()


def _reads(expr: Expr, bits: int) -> Iterator[tuple[int, int]]:
    """The word and the bits of each load, if `bits` of the value matter; word -1 for an unknown place."""
    match expr:
        case Load(_, Const(word)):
            yield word, bits
        case Load():
            yield -1, bits
        case Bin("and", inner, Const(mask)) | Bin("and", Const(mask), inner):
            yield from _reads(inner, bits & mask)
        case Bin("lshr", inner, Const(shift)):
            yield from _reads(inner, bits << shift & _ALL)
        case Bin(_, left, right):
            yield from _reads(left, _ALL)
            yield from _reads(right, _ALL)
        case Select(condition, yes, no):
            yield from _reads(condition, _ALL)
            yield from _reads(yes, bits)
            yield from _reads(no, bits)
        case Intrinsic(_, arguments):
            for argument in arguments:
                yield from _reads(argument, _ALL)
        case Matches():
            yield -1, bits
        case _:
            pass
