"""Methods of networks: each gives the network with one more change, or reads it."""

from __future__ import annotations

import ast

from kmc.compiler.ir import build as x
from kmc.compiler.lowering.context import Lowering
from kmc.compiler.lowering.iteration import as_collection
from kmc.compiler.lowering.network_entries import is_own, layout_at, may_be_foreign, message_words
from kmc.compiler.lowering.network_operations import count_of_message
from kmc.compiler.values.code import Origin
from kmc.compiler.values.scope import Scope
from kmc.compiler.values.value import (
    Comprehension,
    Each,
    Entries,
    Messages,
    Net,
    NetOp,
    Packed,
    Python,
    Received,
    Stored,
    Value,
)
from kmc.lang.tree import expression_at
from kmc.runtime.state_layout import exact

_OF_SETS = frozenset(["of", "send", "send_all", "discard", "keep"])
_OF_BAGS = frozenset(["of", "add", "add_all", "take", "count", "counts"])


def net_method(low: Lowering, net: Net, name: str, node: ast.Call, scope: Scope) -> Value:
    """A method of a network."""
    is_bag = layout_at(low, net.network).count_bits > 0
    if name not in (_OF_BAGS if is_bag else _OF_SETS):
        low.code.refuse(node, f"'{name}' of a {'bag' if is_bag else 'set'} of messages")
    values = [low.evaluate(argument, scope) for argument in node.args]
    if name == "of" and isinstance(values[0], Python):
        held = layout_at(low, net.network).shapes
        shapes = tuple(shape for shape in values[0].object.shapes if exact(shape) in held)
        if not shapes:
            low.code.refuse(node, "messages of a type that this network never holds", "name a type that it holds")
        return Messages(net.network, net.pointer, shapes, net.changes)
    if name == "count":
        return count_of_message(low, net, values[0], node)
    if name == "counts":
        return Entries(net, "items")
    if name == "keep":
        return _kept(net, values[0], node)
    kinds = {"add": "add", "send": "add", "take": "take", "discard": "discard", "add_all": "add", "send_all": "add"}
    if name.endswith("_all"):
        return Net(net.network, net.pointer, (*net.changes, Each(kinds[name], _sent(low, values[0], node), x.ONE)))
    value = values[0]
    if name == "discard" and may_be_foreign(low, value, net.network):
        return _without(net, value, node)
    index = None
    if is_own(value, net) and isinstance(value, Received) and kinds[name] != "add" and not net.changes:
        index = value.index
    words = tuple(low.code.keep(word) for word in message_words(low, value, net.network, node))
    return Net(net.network, net.pointer, (*net.changes, NetOp(kinds[name], words, x.ONE, index)))


def _sent(low: Lowering, messages: Value, node: Origin) -> Value:
    """Messages that are sent together, equal ones once."""
    messages = as_collection(low, messages, node)
    if isinstance(messages, Packed | Stored):
        each = expression_at("{m for m in messages}", node)
        assert isinstance(each, ast.SetComp)
        return Comprehension(each, Scope({}, {"messages": messages}))
    return messages


def _without(net: Net, message: Value, node: Origin) -> Net:
    """The network without the messages that are equal to a value, which may be none of its messages."""
    scope = Scope({}, {"messages": net, "message": message})
    dropped = expression_at("{m for m in messages if m == message}", node)
    assert isinstance(dropped, ast.SetComp)
    return Net(net.network, net.pointer, (*net.changes, Each("discard", Comprehension(dropped, scope), x.ONE)))


def _kept(net: Net, wanted: Value, node: Origin) -> Net:
    """The network without the messages for which `wanted` does not hold."""
    scope = Scope({}, {"messages": net, "wanted": wanted})
    dropped = expression_at("{m for m in messages if not wanted(m)}", node)
    assert isinstance(dropped, ast.SetComp)
    return Net(net.network, net.pointer, (*net.changes, Each("discard", Comprehension(dropped, scope), x.ONE)))
