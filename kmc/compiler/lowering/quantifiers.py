"""`any` and `all` over a collection: a loop that stops at the element that decides."""

from __future__ import annotations

from collections.abc import Callable

from kmc.compiler.ir import build as x
from kmc.compiler.ir.nodes import Break, Const, Expr, Let, Var
from kmc.compiler.lowering.context import Lowering
from kmc.compiler.values.code import Origin
from kmc.compiler.values.value import Value


def any_of(low: Lowering, whole: Value, test: Callable[[Value], Expr], node: Origin) -> Expr:
    """1 if `test` gives 1 for some element; stops at the first."""
    return _search(low, whole, test, node, wanted=True)


def all_of(low: Lowering, whole: Value, test: Callable[[Value], Expr], node: Origin) -> Expr:
    """1 if `test` gives 1 for every element; stops at the first that fails."""
    return _search(low, whole, test, node, wanted=False)


def _search(low: Lowering, whole: Value, test: Callable[[Value], Expr], node: Origin, *, wanted: bool) -> Expr:
    result, label = low.code.fresh("q"), low.code.fresh("quantifier")
    low.code.emit(Let(result, Const(int(not wanted))))

    def try_one(item: Value) -> None:
        truth = test(item)
        hit = truth if wanted else x.negate(truth)
        low.code.branch(hit, [Let(result, Const(int(wanted))), Break(label)])

    draft = low.code.capture(lambda: low.each(whole, try_one, node, once=False))
    low.code.block(label, draft)
    return Var(result)
