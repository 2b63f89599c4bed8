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
    found = low.code.fresh("there")
    low.code.emit(Let(found, x.binary("sle", x.ZERO, find(low, Net(net.number, net.pointer), entry))))
    for change in changes:
        if change.kind == "take":
            continue
        now = x.ONE if change.kind == "add" else x.ZERO
        hit = x.ONE if change.kind == "clear" else _concerns(low, change, net.number, entry, node)
        low.code.emit(Let(found, x.select(x.both(change.guard, hit), now, Var(found))))
    return Var(found)


def count_after(low: Lowering, net: Net, entry: Words, message: Value, node: Origin) -> Num:
    """The number of times that a message of a bag can be delivered after all changes."""
    first = count_in_state(low, Net(net.number, net.pointer), message, node)
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


def _concerns(low: Lowering, change: NetOp | Each, number: int, entry: Words, node: Origin) -> Expr:
    """1 if a change is about the message with these words; evaluated only if the change is made."""
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


def each_after(low: Lowering, net: Net, shapes: tuple[object, ...], body: Body, node: Origin) -> None:
    """Run through the messages of some shapes that are in the network after all changes."""
    before = Messages(net.number, net.pointer, shapes)

    def old(message: Value) -> None:
        entry = keep_words(low.code, message_words(low, message, net.number, node))
        here = there_after(low, net, net.changes, entry, node)
        low.code.branch(here, low.code.capture(lambda: body(message)))

    low.each(before, old, node)
    for place, change in enumerate(net.changes):
        if change.kind == "add":
            draft = low.code.capture(lambda place=place: _each_added(low, net, place, shapes, body, node))  # type: ignore[misc]  # bound now
            low.code.branch(change.guard, draft)


def _each_added(low: Lowering, net: Net, place: int, shapes: tuple[object, ...], body: Body, node: Origin) -> None:
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

    low.each(change.messages, lambda item: new(message_words(low, item, net.number, node)), node)


def size_after(low: Lowering, net: Net, node: Origin) -> Num:
    """The number of messages of the network after all changes."""
    return lazy_length(low, Messages(net.number, net.pointer, layout_at(low, net.number).shapes, net.changes), node)
