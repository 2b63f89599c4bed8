"""Networks that this step has changed, read before the successor is written.

The changes of a `Net` are applied one by one: a message is there if the last change that concerns it put it there.
"""

from __future__ import annotations

from kmc.compiler.ir import build as x
from kmc.compiler.ir.nodes import Expr, Let, Var
from kmc.compiler.lowering.context import Body, Lowering
from kmc.compiler.lowering.lazy_collections import lazy_length
from kmc.compiler.lowering.network_entries import (
    count_in_state,
    find,
    has_shape,
    layout_at,
    message_words,
    payload_value,
)
from kmc.compiler.lowering.quantifiers import any_of
from kmc.compiler.values.code import Origin
from kmc.compiler.values.packing import Words, keep_words
from kmc.compiler.values.value import Each, Messages, Net, NetOp, Num, Value


def there_after(low: Lowering, net: Net, changes: tuple[NetOp | Each, ...], entry: Words, node: Origin) -> Expr:
    """1 if a message is in the network after some changes; in a bag also with count 0."""
    there = low.code.fresh("there")
    low.code.emit(Let(there, x.binary("sle", x.ZERO, find(low, Net(net.network, net.pointer), entry))))
    for change in changes:
        if change.kind == "take":
            continue
        now = x.ONE if change.kind == "add" else x.ZERO
        hit = x.ONE if change.kind == "clear" else _concerns(low, change, net.network, entry, node)
        low.code.emit(Let(there, x.select(x.both(change.guard, hit), now, Var(there))))
    return Var(there)


def count_after(low: Lowering, net: Net, entry: Words, message: Value, node: Origin) -> Num:
    """The number of times that a message of a bag can be delivered after all changes."""
    first = count_in_state(low, Net(net.network, net.pointer), message, node)
    count = low.code.fresh("count")
    low.code.emit(Let(count, first.code))
    most = first.high
    for change in net.changes:
        if change.kind == "clear":
            low.code.emit(Let(count, x.select(change.guard, x.ZERO, Var(count))))
            continue
        hit = x.both(change.guard, _concerns(low, change, net.network, entry, node))
        low.code.emit(Let(count, x.add(Var(count), hit) if change.kind == "add" else x.sub(Var(count), hit)))
        most += change.kind == "add"
    return Num(Var(count), 0, most)


def _concerns(low: Lowering, change: NetOp | Each, network: int, entry: Words, node: Origin) -> Expr:
    """1 if a change is about the message with these words; evaluated only if the change is made."""
    if isinstance(change, NetOp):
        return _same_words(change.words, entry)
    concerned = low.code.fresh("hit")
    low.code.emit(Let(concerned, x.ZERO))

    def look() -> None:
        def is_it(item: Value) -> Expr:
            return _same_words(message_words(low, item, network, node), entry)

        low.code.emit(Let(concerned, any_of(low, change.messages, is_it, node)))

    low.code.branch(change.guard, low.code.capture(look))
    return Var(concerned)


def _same_words(first: Words, second: Words) -> Expr:
    result: Expr = x.ONE
    for a, b in zip(first, second, strict=True):
        result = x.both(result, x.eq(a, b))
    return result


def each_after(low: Lowering, net: Net, shapes: tuple[object, ...], body: Body, node: Origin) -> None:
    """Run through the messages of some shapes that are in the network after all changes."""
    before = Messages(net.network, net.pointer, shapes)

    def old(message: Value) -> None:
        entry = keep_words(low.code, message_words(low, message, net.network, node))
        here = there_after(low, net, net.changes, entry, node)
        low.code.branch(here, low.code.capture(lambda: body(message)))

    low.each(before, old, node)
    for position, change in enumerate(net.changes):
        if change.kind == "add":
            draft = low.code.capture(lambda position=position: _each_added(low, net, position, shapes, body, node))  # type: ignore[misc]  # bound now
            low.code.branch(change.guard, draft)


def _each_added(low: Lowering, net: Net, position: int, shapes: tuple[object, ...], body: Body, node: Origin) -> None:
    """The messages that one change adds, that no earlier one did and that stay."""
    change = net.changes[position]

    def new(entry: Words) -> None:
        entry = keep_words(low.code, entry)
        known = x.binary("sle", x.ZERO, find(low, Net(net.network, net.pointer), entry))
        for earlier in net.changes[:position]:
            if earlier.kind == "add":
                known = x.either(known, x.both(earlier.guard, _concerns(low, earlier, net.network, entry, node)))
        stays = there_after(low, net, net.changes, entry, node)

        def give() -> None:
            for shape in shapes:
                value = payload_value(layout_at(low, net.network), entry, shape)
                draft = low.code.capture(lambda value=value: body(value))  # type: ignore[misc]  # bound now
                low.code.branch(has_shape(layout_at(low, net.network), entry[0], shape), draft)

        low.code.branch(x.both(stays, x.negate(known)), low.code.capture(give))

    if isinstance(change, NetOp):
        new(change.words)
        return

    low.each(change.messages, lambda item: new(message_words(low, item, net.network, node)), node)


def size_after(low: Lowering, net: Net, node: Origin) -> Num:
    """The number of messages of the network after all changes."""
    return lazy_length(low, Messages(net.network, net.pointer, layout_at(low, net.network).shapes, net.changes), node)
