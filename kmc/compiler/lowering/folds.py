"""Lowering of `fold`: the function is inlined once for each element that a sequence or a range may have.

What has been folded so far is merged after each element as the branches of an `if` are, so it may be a number whose
bounds grow, several values together, a record, a network or a state.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from kmc.compiler.ir import build as x
from kmc.compiler.ir.nodes import Const, Expr
from kmc.compiler.lowering.applied import applied
from kmc.compiler.lowering.context import Lowering
from kmc.compiler.lowering.iteration import range_length
from kmc.compiler.lowering.map_literals import as_map, map_kind
from kmc.compiler.values.code import Origin
from kmc.compiler.values.packing import array_head, element, unwrap
from kmc.compiler.values.value import MapLiteral, Num, Numbers, Packed, SeqLiteral, Stored, Value
from kmc.lang.types import SeqType

FOLDED_MAX = 64
"""The greatest number of elements that a fold goes through."""

_Ordered: TypeAlias = tuple[Expr, Callable[[], Value]]
"""The condition that there is an element at some place, and the element, which is read only under it."""


def folded(low: Lowering, function: Value, first: Value, elements: Value, node: Origin) -> Value:
    """The value of `fold(function, first, elements)`."""
    result = _settled(low, first, node)
    for is_there, element_of in _in_order(low, unwrap(low.code, elements, node), node):
        result = low.kept(_settled(low, _one_further(low, function, result, is_there, element_of, node), node))
    return result


def _settled(low: Lowering, value: Value, node: Origin) -> Value:
    """A map that is written in the spec in words, if it has any, so that the next element does not write it again."""
    if not isinstance(value, MapLiteral) or map_kind(low, value, node) is None:
        return value
    return as_map(low, value, node)


def _in_order(low: Lowering, elements: Value, node: Origin) -> list[_Ordered]:
    match elements:
        case SeqLiteral(items):
            found: list[_Ordered] = [(x.ONE, partial(_itself, item)) for item in items]
        case Packed(SeqType(_, capacity)) | Stored(SeqType(_, capacity)):
            length = low.code.keep(array_head(elements), "len")
            places = [Const(place) for place in range(min(capacity, FOLDED_MAX + 1))]
            found = [(x.binary("slt", place, length), partial(element, elements, place)) for place in places]
        case Numbers():
            found = _numbers(low, elements)
        case _:
            # The interpreter reports that the elements have no order.
            low.code.check(x.ZERO, node)
            found = []
    if len(found) > FOLDED_MAX:
        low.code.refuse(node, f"a fold over more than {FOLDED_MAX} elements")
    return found


def _itself(value: Value) -> Value:
    return value


def _numbers(low: Lowering, whole: Numbers) -> list[_Ordered]:
    """The numbers of a range, with the bounds that each has if it is there."""
    start, stop, step = whole.start, whole.stop, whole.step
    rounds = range_length(whole)
    first, count = low.code.keep(start.code), low.code.keep(rounds.code)
    found: list[_Ordered] = []
    for place in range(min(rounds.high, FOLDED_MAX + 1)):
        low_end, high_end = start.low + place * step, start.high + place * step
        if step > 0:
            high_end = max(low_end, min(high_end, stop.high - 1))
        else:
            low_end = min(high_end, max(low_end, stop.low + 1))
        number = Num(x.add(first, Const(place * step)), low_end, high_end)
        found.append((x.binary("slt", Const(place), count), partial(_itself, number)))
    return found


def _one_further(
    low: Lowering, function: Value, so_far: Value, is_there: Expr, element_of: Callable[[], Value], node: Origin
) -> Value:
    """The value after one element: the one before it if the element is not there."""
    if isinstance(is_there, Const):
        return _applied(low, function, so_far, element_of(), node) if is_there.value else so_far
    values = [so_far]
    draft = low.code.capture(lambda: values.append(_applied(low, function, so_far, low.kept(element_of()), node)))
    value, (before, after) = low.merge(values, node)
    low.code.into(draft, lambda: after(values[1]))
    low.code.branch(is_there, draft, low.code.capture(lambda: before(so_far)))
    return value


def _applied(low: Lowering, function: Value, so_far: Value, item: Value, node: Origin) -> Value:
    needs = "it has two parameters: what is folded so far, and an element"
    return applied(low, function, (so_far, item), "a fold", needs, node)
