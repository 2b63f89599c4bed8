"""Lowering of `the`, `max` and `min`: the best number, and the one element that a condition or a key leaves.

Such an element is written into a map of one key, whose check is that no key has two values.
"""

from __future__ import annotations

from collections.abc import Callable

from kmc.compiler.ir import build as x
from kmc.compiler.ir.nodes import Let, Var
from kmc.compiler.lowering.applied import applied
from kmc.compiler.lowering.context import Lowering
from kmc.compiler.lowering.iteration import each
from kmc.compiler.lowering.map_literals import build_map
from kmc.compiler.values.code import Origin
from kmc.compiler.values.packing import unwrap
from kmc.compiler.values.value import Num, Packed, Value
from kmc.compiler.values.value_types import FreeMap, type_of_all
from kmc.lang.types import IntType

_KEY = Num(x.ZERO, 0, 0)


def only_element(low: Lowering, whole: Value, node: Origin) -> Value:
    """The only element of a collection; a check that there is one, and that no other one differs from it."""
    return _only(low, lambda body: each(low, whole, body, node, once=False), node)


def best_of(
    low: Lowering,
    whole: Value,
    node: Origin,
    default: Value | None,
    *,
    largest: bool,
    ranked: Callable[[Value], Value] | None = None,
) -> Value:
    """The largest or smallest number, or `default` if there is none; `ranked` gives the number of an element."""
    if default is not None and not isinstance(default, Num):
        return or_default(
            low, whole, default, lambda: best_of(low, whole, node, None, largest=largest, ranked=ranked), node
        )
    best, exists = low.code.fresh("best"), low.code.fresh("found")
    low.code.emit(Let(best, default.code if default is not None else x.ZERO), Let(exists, x.ZERO))
    bounds = [] if default is None else [(default.low, default.high)]

    def compare(item: Value) -> None:
        item = unwrap(low.code, item if ranked is None else ranked(item), node)
        if not isinstance(item, Num):
            low.code.refuse(node, "the largest of values that are not integers")
        bounds.append((item.low, item.high))
        value = low.code.keep(item.code)
        better = x.binary("slt", Var(best), value) if largest else x.binary("slt", value, Var(best))
        take = x.either(x.negate(Var(exists)), better)
        low.code.branch(take, [Let(best, value), Let(exists, x.ONE)])

    each(low, whole, compare, node, once=False)
    if default is None:
        low.code.check(Var(exists), node)
    if not bounds:
        return Num(Var(best), 0, 0)
    return Num(Var(best), min(b[0] for b in bounds), max(b[1] for b in bounds))


def or_default(low: Lowering, whole: Value, default: Value, best_in: Callable[[], Value], node: Origin) -> Value:
    """The value that `best_in` gives for a collection that has elements, else a default, perhaps of another kind."""
    some = low.code.fresh("some")
    low.code.emit(Let(some, x.ZERO))
    each(low, whole, lambda item: low.code.emit(Let(some, x.ONE)), node, once=False)
    best: list[Value] = []
    draft = low.code.capture(lambda: best.append(best_in()))
    value, setters = low.merge([best[0], default], node)
    low.code.into(draft, lambda: setters[0](best[0]))
    low.code.branch(Var(some), draft, low.code.capture(lambda: setters[1](default)))
    return value


def best_by_key(
    low: Lowering, whole: Value, key: Value, default: Value | None, node: Origin, *, largest: bool
) -> Value:
    """The element with the largest or smallest key, or `default` if there is none; a check that it is the only one."""

    def ranked(item: Value) -> Num:
        needs = "it has one parameter, an element, and returns a number"
        number = unwrap(low.code, applied(low, key, (item,), "max or min", needs, node), node)
        if not isinstance(number, Num):
            low.code.refuse(node, "the largest of values that are not integers")
        return number

    def best() -> Value:
        number = best_of(low, whole, node, None, largest=largest, ranked=ranked)
        assert isinstance(number, Num)

        def each_best(body: Callable[[Value], object]) -> None:
            def look(item: Value) -> None:
                item = low.kept(item)
                is_best = x.eq(ranked(item).code, number.code)
                low.code.branch(is_best, low.code.capture(lambda: body(item)))

            each(low, whole, look, node, once=False)

        return _only(low, each_best, node)

    return best() if default is None else or_default(low, whole, default, best, node)


def _only(low: Lowering, source: Callable[[Callable[[Value], object]], None], node: Origin) -> Value:
    items: list[Value] = []
    low.capture_only(lambda: source(items.append))
    if not items:
        low.code.check(x.ZERO, node)
        return _KEY
    kind = type_of_all(items, joins_symbols=True)
    if kind is None:
        low.code.refuse(node, "one of these values", "choose among values of one type")
    declared = FreeMap(IntType(0, 0), kind, total=False)
    written = Packed(declared, build_map(low, declared, lambda put: source(lambda item: put(_KEY, item)), node))
    return low.entry(written, _KEY, node)
