"""Lazy collections, of any elements: set operations, results of branches, subsets, helpers that yield.

Each is iterated where it is used, also for membership and inclusion. Sets of scalars are masks instead.
"""

from __future__ import annotations

from collections.abc import Callable

from kmc.compiler.ir import build as x
from kmc.compiler.ir.nodes import Break, Const, Expr, If, Let, Var
from kmc.compiler.lowering.context import Body, Lowering
from kmc.compiler.lowering.quantifiers import all_of
from kmc.compiler.values.code import Origin
from kmc.compiler.values.value import Chosen, Comprehension, Generator, Num, Picked, SetOp, Value


def each_lazy(low: Lowering, whole: SetOp | Chosen | Picked | Generator, body: Body, node: Origin) -> None:
    """Call `body` with every element, equal ones once."""
    match whole:
        case SetOp("or", left, right):
            low.each(left, body, node)
            _each_if(low, right, lambda item: x.negate(low.member(item, left, node)), body, node)
        case SetOp("and", left, right):
            _each_if(low, left, lambda item: low.member(item, right, node), body, node)
        case SetOp(_, left, right):
            _each_if(low, left, lambda item: x.negate(low.member(item, right, node)), body, node)
        case Chosen(options):
            for guard, option in options:
                draft = low.code.capture(lambda option=option: low.each(option, body, node))  # type: ignore[misc]  # bound now
                low.code.branch(guard, draft)
        case Picked(inner, mask):
            position = low.code.fresh("place")
            low.code.emit(Let(position, x.ZERO))

            def one(item: Value) -> None:
                low.code.branch(x.extract(mask, Var(position), 1), low.code.capture(lambda: body(item)))
                low.code.emit(Let(position, x.add(Var(position), x.ONE)))

            low.each(inner, one, node)
        case Generator():
            _run_generator(low, whole, body)


def _each_if(low: Lowering, whole: Value, test: Callable[[Value], Expr], body: Body, node: Origin) -> None:
    def one(item: Value) -> None:
        wanted = test(item)
        low.code.branch(wanted, low.code.capture(lambda: body(item)))

    low.each(whole, one, node)


def lazy_member(low: Lowering, item: Value, whole: SetOp | Chosen, node: Origin) -> Expr:
    """1 if `item` is an element."""
    if isinstance(whole, SetOp):
        left = low.member(item, whole.left, node)
        right = low.member(item, whole.right, node)
        if whole.kind == "or":
            return x.either(left, right)
        return x.both(left, right if whole.kind == "and" else x.negate(right))
    is_member = low.code.fresh("in")
    low.code.emit(Let(is_member, x.ZERO))
    for guard, option in whole.options:

        def look(option: Value = option) -> None:
            low.code.emit(Let(is_member, low.member(item, option, node)))

        low.code.branch(guard, low.code.capture(look))
    return Var(is_member)


def each_different(low: Lowering, whole: Comprehension, body: Body, node: Origin) -> None:
    """The values of a comprehension, equal ones once: an element counts if none before it is equal."""
    position = low.code.fresh("place")
    low.code.emit(Let(position, x.ZERO))

    def one(item: Value) -> None:
        seen, before, label = low.code.fresh("seen"), low.code.fresh("before"), low.code.fresh("earlier")
        low.code.emit(Let(seen, x.ZERO), Let(before, x.ZERO))

        def compare(other: Value) -> None:
            low.code.emit(If(x.eq(Var(before), Var(position)), (Break(label),)))
            low.code.branch(low.same(item, other, node), [Let(seen, x.ONE), Break(label)])
            low.code.emit(Let(before, x.add(Var(before), x.ONE)))

        low.code.block(label, low.code.capture(lambda: low.each(whole, compare, node, once=False)))
        low.code.branch(x.negate(Var(seen)), low.code.capture(lambda: body(item)))
        low.code.emit(Let(position, x.add(Var(position), x.ONE)))

    low.each(whole, one, node, once=False)


def lazy_length(low: Lowering, whole: Value, node: Origin) -> Num:
    """The number of different elements of a collection."""
    total = low.code.fresh("size")
    low.code.emit(Let(total, x.ZERO))
    most = [0]
    outer = low.times

    def tally(item: Value) -> None:
        most[0] += max(1, low.times // outer)
        low.code.emit(Let(total, x.add(Var(total), x.ONE)))

    low.each(whole, tally, node)
    return Num(Var(total), 0, most[0])


def lazy_subset(low: Lowering, left: Value, right: Value, node: Origin) -> Expr:
    """1 if every element of `left` is one of `right`."""
    return low.code.keep(all_of(low, left, lambda item: low.member(item, right, node), node))


def picked_subsets(low: Lowering, whole: Value, body: Body, node: Origin) -> None:
    """All subsets of a collection of any elements, by the places of their elements."""
    count = low.code.keep(lazy_length(low, whole, node).code, "size")
    low.code.check(x.binary("slt", count, Const(31)), node)
    last = low.code.keep(x.place_at(x.ONE, count), "last")
    low.code.count_up(x.ZERO, last, lambda mask: body(Picked(whole, mask)), "picked")


def _run_generator(low: Lowering, whole: Generator, body: Body) -> None:
    outer, choice = low.on_yield, low.choice_label

    def each_yield(lowering: Lowering, value: Value, node: Origin) -> None:
        lowering.on_yield, inner, lowering.choice_label = outer, lowering.choice_label, choice
        body(value)
        lowering.on_yield, lowering.choice_label = each_yield, inner

    low.on_yield = each_yield
    low.run_action(whole.node, dict(whole.arguments), whole.scope)
    low.on_yield, low.choice_label = outer, choice
