"""Networks that were changed in this step, asked before the successor is written; and whole networks compared.

The changes of a `Net` are gone through one by one: a message is there if the last change that concerns it put it there.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from kmc.compiler.ir import build as x
from kmc.compiler.ir.nodes import Expr, Let, Var
from kmc.compiler.lowering.iteration import any_of, each, is_collection
from kmc.compiler.lowering.lazy_collections import lazy_length, lazy_subset
from kmc.compiler.lowering.lowering import Lowering
from kmc.compiler.lowering.membership import member
from kmc.compiler.lowering.network_operations import (
    count_of_message,
    find,
    has_shape,
    is_message,
    layout_at,
    message_words,
    payload_value,
    size,
)
from kmc.compiler.values.packing import Words, keep_words
from kmc.compiler.values.value import Each, EmptySet, MapItems, MapLiteral, Messages, Net, NetOp, Num, Value

Body = Callable[[Value], object]


def there_after(low: Lowering, net: Net, changes: tuple[NetOp | Each, ...], entry: Words, node: ast.AST) -> Expr:
    """1 if a message is in the network after some changes; in a bag also with count 0."""
    found = low.code.fresh("there")
    low.code.emit(Let(found, x.binary("sle", x.ZERO, find(low, Net(net.number, net.pointer), entry))))
    for change in changes:
        if change.kind == "take":
            continue
        now = x.ONE if change.kind == "add" else x.ZERO
        hit = x.ONE if change.kind == "clear" else _concerns(low, change, net.number, entry, node)
        low.code.emit(Let(found, x.select(x.both(change.guard, hit), now, Var(found))))
    return Var(found)


def count_after(low: Lowering, net: Net, entry: Words, message: Value, node: ast.AST) -> Num:
    """How often a message of a bag can be delivered after all changes."""
    first = count_of_message(low, Net(net.number, net.pointer), message, node)
    found = low.code.fresh("count")
    low.code.emit(Let(found, first.code))
    most = first.high
    for change in net.changes:
        if change.kind == "clear":
            low.code.emit(Let(found, x.select(change.guard, x.ZERO, Var(found))))
            continue
        hit = x.both(change.guard, _concerns(low, change, net.number, entry, node))
        low.code.emit(Let(found, x.add(Var(found), hit) if change.kind == "add" else x.sub(Var(found), hit)))
        most += change.kind == "add"
    return Num(Var(found), 0, most)


def _concerns(low: Lowering, change: NetOp | Each, number: int, entry: Words, node: ast.AST) -> Expr:
    """1 if a change is about the message with these words; asked only if the change is made."""
    if isinstance(change, NetOp):
        return _same_words(change.words, entry)
    found = low.code.fresh("hit")
    low.code.emit(Let(found, x.ZERO))

    def look() -> None:
        def is_it(item: Value) -> Expr:
            return _same_words(message_words(low, item, number, node), entry)

        low.code.emit(Let(found, any_of(low, change.messages, is_it, node)))

    low.code.branch(change.guard, low.code.capture(look))
    return Var(found)


def _same_words(first: Words, second: Words) -> Expr:
    result: Expr = x.ONE
    for a, b in zip(first, second, strict=True):
        result = x.both(result, x.eq(a, b))
    return result


def each_after(low: Lowering, net: Net, shapes: tuple[object, ...], body: Body, node: ast.AST) -> None:
    """Run through the messages of some shapes that are in the network after all changes."""
    before = Messages(net.number, net.pointer, shapes)

    def old(message: Value) -> None:
        entry = keep_words(low.code, message_words(low, message, net.number, node))
        here = there_after(low, net, net.changes, entry, node)
        low.code.branch(here, low.code.capture(lambda: body(message)))

    each(low, before, old, node)
    for place, change in enumerate(net.changes):
        if change.kind == "add":
            draft = low.code.capture(lambda place=place: _each_added(low, net, place, shapes, body, node))  # type: ignore[misc]  # bound now
            low.code.branch(change.guard, draft)


def _each_added(low: Lowering, net: Net, place: int, shapes: tuple[object, ...], body: Body, node: ast.AST) -> None:
    """The messages that one change adds, that no earlier one did and that stay."""
    change = net.changes[place]

    def new(entry: Words) -> None:
        entry = keep_words(low.code, entry)
        known = x.binary("sle", x.ZERO, find(low, Net(net.number, net.pointer), entry))
        for earlier in net.changes[:place]:
            if earlier.kind == "add":
                known = x.either(known, x.both(earlier.guard, _concerns(low, earlier, net.number, entry, node)))
        stays = there_after(low, net, net.changes, entry, node)

        def give() -> None:
            for shape in shapes:
                value = payload_value(layout_at(low, net.number), entry, shape)
                draft = low.code.capture(lambda value=value: body(value))  # type: ignore[misc]  # bound now
                low.code.branch(has_shape(layout_at(low, net.number), entry[0], shape), draft)

        low.code.branch(x.both(stays, x.negate(known)), low.code.capture(give))

    if isinstance(change, NetOp):
        new(change.words)
        return

    each(low, change.messages, lambda item: new(message_words(low, item, net.number, node)), node)


def size_after(low: Lowering, net: Net, node: ast.AST) -> Num:
    """How many messages the network has after all changes."""
    return lazy_length(low, Messages(net.number, net.pointer, layout_at(low, net.number).shapes, net.changes), node)


def same_network(low: Lowering, left: Value, right: Value, node: ast.AST) -> Expr:
    """1 if a network equals a network, a set of messages (a set network), or a map from messages to counts (a bag)."""
    net, other = (left, right) if isinstance(left, Net) else (right, left)
    assert isinstance(net, Net)
    is_bag = layout_at(low, net.number).count_bits > 0
    if isinstance(other, Net):
        if net == other:
            return x.ONE
        if is_bag != (layout_at(low, other.number).count_bits > 0):
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
    whole = Messages(net.number, net.pointer, layout_at(low, net.number).shapes, net.changes)
    return x.both(lazy_subset(low, whole, other, node), lazy_subset(low, other, net, node))


def _all_there(low: Lowering, mine: Net, other: Net, node: ast.AST, *, counts: bool) -> Expr:
    """1 if every message of a network is in another, with the same count."""
    from kmc.compiler.lowering.iteration import all_of

    whole = Messages(mine.number, mine.pointer, layout_at(low, mine.number).shapes, mine.changes)

    def is_there(message: Value) -> Expr:
        here = low.code.keep(member(low, message, other, node))
        if not counts:
            return here
        same = low.code.fresh("counts")
        low.code.emit(Let(same, x.ZERO))

        def compare() -> None:
            numbers = [count_of_message(low, net, message, node).code for net in (mine, other)]
            low.code.emit(Let(same, x.eq(*numbers)))

        low.code.branch(here, low.code.capture(compare))
        return Var(same)

    return low.code.keep(all_of(low, whole, is_there, node))


def _same_bag(low: Lowering, net: Net, literal: MapItems | MapLiteral, node: ast.AST) -> Expr:
    """1 if a bag is what a map from messages to counts says; every message of the map is in it, and as many are."""
    from kmc.compiler.lowering.map_literals import each_entry

    result, entries = low.code.fresh("bag"), low.code.fresh("entries")
    low.code.emit(Let(result, x.ONE), Let(entries, x.ZERO))

    def compare(message: Value, count: Value) -> None:
        assert isinstance(count, Num)
        here = low.code.keep(member(low, message, net, node) if is_message(low, message, net.number) else x.ZERO)
        low.code.branch(here, [], [Let(result, x.ZERO)])

        def counted() -> None:
            found = low.code.keep(count_of_message(low, net, message, node).code)
            low.code.branch(x.eq(found, count.code), [], [Let(result, x.ZERO)])

        low.code.branch(here, low.code.capture(counted))
        low.code.emit(Let(entries, x.add(Var(entries), x.ONE)))

    each_entry(low, literal, compare)
    return x.both(Var(result), x.eq(size(low, net, node).code, Var(entries)))
