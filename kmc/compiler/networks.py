"""Networks while they are compiled: membership, counts, running through messages, and the changes of a successor.

Reading goes to the entries of the current state. A change is noted in the `Net` value and carried out in the row of
the successor, after its entries have been copied (`kmc.compiler.successors`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from kmc.compiler import exprs as x
from kmc.compiler.ir import CallKernel, Const, Expr, Var
from kmc.compiler.lower import Lowering
from kmc.compiler.parts import Words, combine, pack, unwrap
from kmc.compiler.scope import Scope, is_injective
from kmc.compiler.values import (
    Comprehension,
    Each,
    Entries,
    Messages,
    Net,
    NetOp,
    Num,
    Packed,
    Python,
    Rec,
    Received,
    SetLiteral,
    Stored,
    Value,
)
from kmc.kernels.layout import NetworkLayout, Place, RowLayout, exact, record_layout, shape_type
from kmc.lang.types import RecordType


def row_of(low: Lowering) -> RowLayout:
    """The layout of the state that is being read."""
    assert low.row is not None
    return low.row


def layout_at(low: Lowering, number: int) -> NetworkLayout:
    """The layout of network `number`."""
    return row_of(low).networks[number][1]


def size_word(low: Lowering, net: Net | Messages) -> Expr:
    """How many entries the network has."""
    return x.load(net.pointer, Const(row_of(low).counts + net.number))


def size(low: Lowering, net: Net) -> Num:
    """len(net)."""
    if net.changes:
        low.code.refuse(ast.Constant(0), "the size of a network that was changed in this step")
    return Num(size_word(low, net), 0, 1 << 31)


def message_words(low: Lowering, value: Value, number: int, node: ast.AST) -> Words:
    """The entry of a message, with count 0."""
    layout = layout_at(low, number)
    if isinstance(value, Received) and value.network == number:
        return _without_count(layout, _entry(low, value, layout))
    value = unwrap(low.code, value.value if isinstance(value, Received) else value, node)
    declared = value.type if isinstance(value, Rec | Packed | Stored) else None
    if not isinstance(declared, RecordType) or len(declared.cls.shapes) != 1:
        low.code.refuse(node, "this value as a message", "test isinstance(m, Shape) first")
    cls = declared.cls.shapes[0]
    if exact(cls) not in layout.shapes:
        low.code.refuse(node, f"{cls.__name__} in this network")
    tag = (Const(layout.shapes.index(exact(cls)) << layout.count_bits),)
    pieces = [
        (Place(0, 0), layout.count_bits + layout.tag_bits, tag),
        (layout.payload, record_layout(cls).layout.bits, pack(low.code, value, shape_type(cls), node)),
    ]
    return combine(layout.words, pieces)


def _entry(low: Lowering, received: Received, layout: NetworkLayout) -> Words:
    first = _address(low, received.value.pointer, received.network, received.index)
    return tuple(x.load(received.value.pointer, x.add(first, Const(k))) for k in range(layout.words))


def _without_count(layout: NetworkLayout, entry: Words) -> Words:
    mask = Const(x.signed(~((1 << layout.count_bits) - 1)))
    return (x.binary("and", entry[0], mask), *entry[1:])


def _address(low: Lowering, pointer: str, number: int, index: Expr) -> Expr:
    words = layout_at(low, number).words
    return x.add(low.bases[pointer][number], x.binary("mul", index, Const(words)))


def find(low: Lowering, net: Net, value: Value, node: ast.AST) -> Expr:
    """The index of a message in the network, or -1."""
    if net.changes:
        low.code.refuse(node, "asking a network that was changed in this step", "ask before you change it")
    words = message_words(low, value, net.number, node)
    target = low.code.fresh("at")
    base = low.bases[net.pointer][net.number]
    low.code.emit(
        CallKernel(target, f"find_{net.number}", ((net.pointer, x.ZERO),), (base, size_word(low, net), *words))
    )
    return Var(target)


def contains(low: Lowering, net: Net, value: Value, node: ast.AST) -> Expr:
    """1 if the message is in the network; in a bag also with count 0."""
    own = isinstance(value, Received) and (value.network, value.value.pointer) == (net.number, net.pointer)
    if own and not net.changes:
        return x.ONE
    return x.binary("sle", x.ZERO, find(low, net, value, node))


def among(low: Lowering, whole: Messages, message: Value, node: ast.AST) -> Expr:
    """1 if a message is among those of some shapes of a network."""
    if message_shape(message) not in whole.shapes:
        return x.ZERO
    return x.binary("sle", x.ZERO, find(low, Net(whole.number, whole.pointer), message, node))


def message_shape(message: Value) -> Any:
    """The class of a message whose shape is known."""
    assert isinstance(message, Received)
    assert isinstance(message.value.type, RecordType)
    return message.value.type.cls.shapes[0]


def each_message(low: Lowering, whole: Messages | Net, body: Callable[[Value], object], node: ast.AST) -> None:
    """Run through the messages of a network, or of some shapes of it."""
    if isinstance(whole, Net) and whole.changes:
        low.code.refuse(node, "running through a network that was changed in this step")
    layout = layout_at(low, whole.number)
    shapes = whole.shapes if isinstance(whole, Messages) else layout.shapes

    def one(index: Expr) -> None:
        first = low.code.keep(x.load(whole.pointer, _address(low, whole.pointer, whole.number, index)), "entry")
        for shape in shapes:
            draft = low.code.capture(lambda shape=shape: body(received(low, whole.pointer, whole.number, index, shape)))  # type: ignore[misc]  # bound now
            low.code.branch(has_shape(layout, first, shape), draft)

    low.code.count_up(x.ZERO, low.code.keep(size_word(low, whole), "size"), one)


def has_shape(layout: NetworkLayout, first: Expr, shape: Any) -> Expr:
    """1 if the entry whose first word is `first` has this shape."""
    tag = x.extract(first, layout.count_bits, layout.tag_bits)
    return x.eq(tag, Const(layout.shapes.index(exact(shape))))


def count_at(layout: NetworkLayout, first: Expr) -> Expr:
    """The delivery count of the entry whose first word is `first`."""
    return x.extract(first, 0, layout.count_bits)


def received(low: Lowering, pointer: str, number: int, index: Expr, shape: object) -> Received:
    """The message at `index`, known to have this shape."""
    layout = layout_at(low, number)
    place = layout.payload
    word = x.add(_address(low, pointer, number, index), Const(place.word))
    return Received(Stored(shape_type(shape), pointer, word, place.bit), number, index)


def net_method(low: Lowering, net: Net, name: str, node: ast.Call, scope: Scope) -> Value:
    """A method of a network."""
    values = [low.evaluate(argument, scope) for argument in node.args]
    if name == "of" and isinstance(values[0], Python):
        return Messages(net.number, net.pointer, tuple(values[0].object.shapes))
    if name == "count":
        return count_of_message(low, net, values[0], node)
    if name == "counts":
        return Entries(net, "items")
    if name == "keep":
        return _kept(net, values[0])
    kinds = {"add": "add", "send": "add", "take": "take", "discard": "discard", "add_all": "add", "send_all": "add"}
    if name not in kinds:
        low.code.refuse(node, f"'{name}' of a network")
    if name.endswith("_all"):
        _check_sent(low, values[0], net.number, node)
        assert isinstance(values[0], Comprehension | SetLiteral)
        return Net(net.number, net.pointer, (*net.changes, Each(kinds[name], values[0], x.ONE)))
    value = values[0]
    index = None
    same = isinstance(value, Received) and (value.network, value.value.pointer) == (net.number, net.pointer)
    if same and isinstance(value, Received) and kinds[name] != "add" and not net.changes:
        index = value.index
    words = tuple(low.code.keep(word) for word in message_words(low, value, net.number, node))
    return Net(net.number, net.pointer, (*net.changes, NetOp(kinds[name], words, x.ONE, index)))


def _check_sent(low: Lowering, messages: Value, number: int, node: ast.AST) -> None:
    """Refuse what is no set of messages, and for a bag one that may hold a message twice: `add_all` adds it once."""
    advice = "write {Message(...) for ... in ...}"
    if not isinstance(messages, Comprehension | SetLiteral):
        low.code.refuse(node, "sending these messages", advice)
    if layout_at(low, number).count_bits and isinstance(messages, Comprehension):
        filters = isinstance(messages.node, ast.SetComp) and is_injective(messages.node)
        if not filters:
            low.code.refuse(node, "messages of which two may be equal", "let a field of the message be the choice")


def _kept(net: Net, wanted: Value) -> Net:
    """The network without the messages for which `wanted` does not hold."""
    scope = Scope({}, {"messages": Net(net.number, net.pointer), "wanted": wanted})
    node = ast.parse("{m for m in messages if not wanted(m)}", mode="eval").body
    assert isinstance(node, ast.SetComp)
    return Net(net.number, net.pointer, (*net.changes, Each("discard", Comprehension(node, scope), x.ONE)))


def count_of_message(low: Lowering, net: Net, value: Value, node: ast.AST) -> Num:
    """How often a message can still be delivered; 0 if it is not in the bag."""
    layout = layout_at(low, net.number)
    top = (1 << layout.count_bits) - 1
    if isinstance(value, Received) and value.network == net.number and not net.changes:
        return Num(count_at(layout, _entry(low, value, layout)[0]), 0, top)
    index = low.code.keep(find(low, net, value, node))
    there = x.binary("sle", x.ZERO, index)
    address = _address(low, net.pointer, net.number, x.select(there, index, x.ZERO))
    return Num(x.select(there, count_at(layout, x.load(net.pointer, address)), x.ZERO), 0, top)
