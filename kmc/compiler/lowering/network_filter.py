"""Filtering a network: one pass over the source's entries writes those that stay.

This is for `net.keep(...)` and for every discard of the messages that satisfy a condition, as the first change of a
step. Unlike a discard of each message, it does not search the row that it writes. If the condition reads only words
that all kinds of messages have at the same place, there is no branch on the kind either.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import partial

from kmc.compiler.ir import build as x
from kmc.compiler.ir.nodes import Const, Expr, Let, Store, Var
from kmc.compiler.lowering.context import Lowering
from kmc.compiler.lowering.network_entries import has_shape, layout_at, received, size_word
from kmc.compiler.values.packing import Words
from kmc.compiler.values.scope import Scope
from kmc.compiler.values.value import Comprehension, Each, Net, NetOp, Value

Term = Callable[[Words], Expr]


def is_filter(low: Lowering, net: Net) -> bool:
    """Whether the first change of a network removes messages by a condition on each message of the state."""
    return bool(net.changes) and _condition(low, net.changes[0], net.network) is not None


def _condition(low: Lowering, change: NetOp | Each, network: int) -> Comprehension | None:
    """The condition as `{m for m in net if condition}`."""
    dropped = change.messages if isinstance(change, Each) else None
    if change.kind != "discard" or change.guard != x.ONE or not isinstance(dropped, Comprehension):
        return None
    node = dropped.node
    if len(node.generators) != 1 or not isinstance(node.elt, ast.Name) or layout_at(low, network).count_bits:
        return None
    target, source = node.generators[0].target, node.generators[0].iter
    if not isinstance(target, ast.Name) or target.id != node.elt.id or not isinstance(source, ast.Name):
        return None
    whole = low.evaluate(source, dropped.scope)
    return dropped if whole == Net(network, "cur") else None


def write_kept(low: Lowering, net: Net, there: Expr, terms: Sequence[Term]) -> tuple[Expr, list[Expr]]:
    """Write the entries that stay to `out` from word `there` on: return their number, and the sums of the terms of the
    others.
    """
    code, layout = low.code, layout_at(low, net.network)
    condition = _condition(low, net.changes[0], net.network)
    assert condition is not None
    kept, sums = code.fresh("kept"), [code.fresh("gone") for _ in terms]
    code.emit(*(Let(name, x.ZERO) for name in (kept, *sums)))

    def one(index: Expr) -> None:
        address = x.add(low.bases["cur"][net.network], x.binary("mul", index, Const(layout.words)))
        entry = tuple(code.keep(x.load("cur", x.add(address, Const(k))), "entry") for k in range(layout.words))
        dropped = code.fresh("dropped")
        code.emit(Let(dropped, x.ZERO))
        _decide(low, net, index, entry[0], condition, dropped)
        position = x.add(there, x.binary("mul", Var(kept), Const(layout.words)))
        code.emit(*(Store("out", x.add(position, Const(k)), word) for k, word in enumerate(entry)))
        for name, term in zip(sums, terms, strict=True):
            code.emit(Let(name, x.add(Var(name), x.select(Var(dropped), term(entry), x.ZERO))))
        code.emit(Let(kept, x.sub(x.add(Var(kept), x.ONE), Var(dropped))))

    code.count_up(x.ZERO, code.keep(size_word(low, Net(net.network, "cur")), "size"), one)
    return Var(kept), [Var(name) for name in sums]


def _if_all(low: Lowering, tests: Sequence[ast.expr], scope: Scope, then: Let) -> None:
    """Emit a statement for the case that all tests hold, each of which is evaluated after those before it."""
    if not tests:
        low.code.emit(then)
        return
    truth = low.truth(low.evaluate(tests[0], scope), tests[0])
    low.code.branch(truth, low.code.capture(lambda: _if_all(low, tests[1:], scope, then)))


def _decide(low: Lowering, net: Net, index: Expr, first: Expr, condition: Comprehension, dropped: str) -> None:
    """Set the variable `dropped` to 1 if the condition holds for the message at `index`."""
    code, layout = low.code, layout_at(low, net.network)

    def ask(message: Value) -> None:
        scope = condition.scope.child()
        low.assign(condition.node.generators[0].target, message, scope)
        _if_all(low, condition.node.generators[0].ifs, scope, Let(dropped, x.ONE))

    shapes = layout.shapes
    messages = [received(low, "cur", net.network, index, shape) for shape in shapes]
    drafts = code.capture_alike([partial(ask, message) for message in messages])
    for draft in {id(draft): draft for draft in drafts}.values():
        alike = [shape for shape, other in zip(shapes, drafts, strict=True) if other is draft]
        here: Expr = x.ONE
        if len(alike) < len(shapes):
            here = x.ZERO
            for shape in alike:
                here = x.either(here, has_shape(layout, first, shape))
        code.branch(here, draft)
