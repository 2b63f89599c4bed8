"""Equality of whole networks, and of a network with a collection that the spec writes."""

from __future__ import annotations

from kmc.compiler.ir import build as x
from kmc.compiler.ir.nodes import Expr, Let, Var
from kmc.compiler.lowering.context import Lowering
from kmc.compiler.lowering.iteration import is_collection
from kmc.compiler.lowering.lazy_collections import lazy_subset
from kmc.compiler.lowering.map_literals import each_entry
from kmc.compiler.lowering.network_entries import is_message, layout_at
from kmc.compiler.lowering.network_operations import count_of_message, size
from kmc.compiler.lowering.quantifiers import all_of
from kmc.compiler.values.code import Origin
from kmc.compiler.values.value import EmptySet, MapItems, MapLiteral, Messages, Net, Num, Value


def same_network(low: Lowering, left: Value, right: Value, node: Origin) -> Expr:
    """1 if a network equals a network, a set of messages (a set network), or a map from messages to counts (a bag)."""
    net, other = (left, right) if isinstance(left, Net) else (right, left)
    assert isinstance(net, Net)
    is_bag = layout_at(low, net.network).count_bits > 0
    if isinstance(other, Net):
        if net == other:
            return x.ONE
        if is_bag != (layout_at(low, other.network).count_bits > 0):
            return x.ZERO
        mine = _all_there(low, net, other, node, counts=is_bag)
        return x.both(mine, _all_there(low, other, net, node, counts=is_bag))
    if isinstance(other, EmptySet | MapItems) and not getattr(other, "items", ()):
        empty = x.eq(size(low, net, node).code, x.ZERO)
        return empty if is_bag == isinstance(other, MapItems) else x.ZERO
    if is_bag and isinstance(other, MapItems | MapLiteral):
        return _same_bag(low, net, other, node)
    if is_bag or not is_collection(other):
        return x.ZERO
    whole = Messages(net.network, net.pointer, layout_at(low, net.network).shapes, net.changes)
    return x.both(lazy_subset(low, whole, other, node), lazy_subset(low, other, net, node))


def _all_there(low: Lowering, mine: Net, other: Net, node: Origin, *, counts: bool) -> Expr:
    """1 if every message of a network is in another, with the same count."""
    whole = Messages(mine.network, mine.pointer, layout_at(low, mine.network).shapes, mine.changes)

    def is_there(message: Value) -> Expr:
        here = low.code.keep(low.member(message, other, node))
        if not counts:
            return here
        same = low.code.fresh("counts")
        low.code.emit(Let(same, x.ZERO))

        def compare() -> None:
            both_counts = [count_of_message(low, net, message, node).code for net in (mine, other)]
            low.code.emit(Let(same, x.eq(*both_counts)))

        low.code.branch(here, low.code.capture(compare))
        return Var(same)

    return low.code.keep(all_of(low, whole, is_there, node))


def _same_bag(low: Lowering, net: Net, literal: MapItems | MapLiteral, node: Origin) -> Expr:
    """1 if a bag equals a map from messages to counts; every message of the map is in it, and as many are."""
    result, entries = low.code.fresh("bag"), low.code.fresh("entries")
    low.code.emit(Let(result, x.ONE), Let(entries, x.ZERO))

    def compare(message: Value, count: Value) -> None:
        assert isinstance(count, Num)
        here = low.code.keep(low.member(message, net, node) if is_message(low, message, net.network) else x.ZERO)
        low.code.branch(here, [], [Let(result, x.ZERO)])

        def counted() -> None:
            actual = low.code.keep(count_of_message(low, net, message, node).code)
            low.code.branch(x.eq(actual, count.code), [], [Let(result, x.ZERO)])

        low.code.branch(here, low.code.capture(counted))
        low.code.emit(Let(entries, x.add(Var(entries), x.ONE)))

    each_entry(low, literal, compare)
    return x.both(Var(result), x.eq(size(low, net, node).code, Var(entries)))
