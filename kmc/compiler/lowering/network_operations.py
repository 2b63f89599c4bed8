"""Networks while they are compiled, with the changes of this step: size, membership, counts, iterating over messages.

Reading goes to the entries of the current state. A change is recorded in the `Net` value and carried out in the row of
the successor, after its entries have been copied (`kmc.compiler.successor.writer`).
"""

from __future__ import annotations

from collections.abc import Callable

from kmc.compiler.ir import build as x
from kmc.compiler.ir.nodes import Expr
from kmc.compiler.lowering.context import Lowering
from kmc.compiler.lowering.network_entries import (
    count_in_state,
    each_in_state,
    find,
    is_own,
    layout_at,
    message_words,
    size_word,
)
from kmc.compiler.lowering.pending_networks import count_after, each_after, size_after, there_after
from kmc.compiler.values.code import Origin
from kmc.compiler.values.value import (
    Chosen,
    Comprehension,
    Each,
    EmptySet,
    Joint,
    MapItems,
    MapLiteral,
    Messages,
    Net,
    NetOp,
    Num,
    Picked,
    SetLiteral,
    SetOp,
    Value,
)


def size(low: Lowering, net: Net, node: Origin) -> Num:
    """len(net)."""
    if net.changes:
        return size_after(low, net, node)
    return Num(size_word(low, net), 0, 1 << 31)


def contains(low: Lowering, net: Net, value: Value, node: Origin) -> Expr:
    """1 if the message is in the network; in a bag also with count 0."""
    if is_own(value, net) and not net.changes:
        return x.ONE
    words = message_words(low, value, net.network, node)
    if net.changes:
        return there_after(low, net, net.changes, tuple(low.code.keep(word) for word in words), node)
    return x.binary("sle", x.ZERO, find(low, net, words))


def each_message(low: Lowering, whole: Messages | Net, body: Callable[[Value], object], node: Origin) -> None:
    """Iterate over the messages of a network, or of some shapes of it."""
    shapes = whole.shapes if isinstance(whole, Messages) else layout_at(low, whole.network).shapes
    if whole.changes:
        each_after(low, Net(whole.network, whole.pointer, whole.changes), shapes, body, node)
    else:
        each_in_state(low, whole, shapes, body)


def count_of_message(low: Lowering, net: Net, value: Value, node: Origin) -> Num:
    """The number of times that a message can still be delivered; 0 if it is not in the bag."""
    if not net.changes:
        return count_in_state(low, net, value, node)
    words = tuple(low.code.keep(word) for word in message_words(low, value, net.network, node))
    return count_after(low, net, words, value, node)


def whole_network(low: Lowering, value: Value, network: int, pointer: str, node: Origin) -> Net:
    """A value that is stored as a network: its own with changes, or emptied and filled again."""
    if isinstance(value, Net) and (value.network, value.pointer) == (network, pointer):
        return value
    clear = NetOp("clear", (), x.ONE)
    if isinstance(value, EmptySet) or (isinstance(value, MapItems) and not value.items):
        return Net(network, pointer, (clear,))
    is_bag = layout_at(low, network).count_bits > 0
    if is_bag and isinstance(value, MapItems | MapLiteral):
        return Net(network, pointer, (clear, Each("add", value, x.ONE)))
    if is_bag or not isinstance(value, Net | Comprehension | SetLiteral | Messages | Joint | SetOp | Chosen | Picked):
        low.code.refuse(node, "this value as a network")
    return Net(network, pointer, (clear, Each("add", value, x.ONE)))
