"""Lowering of statements: choices, branches, returns, yields."""

from __future__ import annotations

import ast

from kmc.compiler.ir import build as x
from kmc.compiler.ir.nodes import Break, Const
from kmc.compiler.lowering.calls import bound_call
from kmc.compiler.lowering.context import Lowering
from kmc.compiler.lowering.iteration import each, materialize
from kmc.compiler.lowering.settled import nested_function
from kmc.compiler.values.code import Draft, Origin
from kmc.compiler.values.scope import Scope
from kmc.compiler.values.value import Bool, SeqLiteral, SetLiteral, Several, Value
from kmc.lang.tree import operation_of

_COPIES_MAX = 8
"""The most copies of a statement, each with elements that are known: nested loops multiply them."""


def statements(low: Lowering, body: list[ast.stmt], scope: Scope) -> bool:
    """Lower statements; False if control never falls off their end."""
    return all(_statement(low, statement, scope) for statement in body)


def _statement(low: Lowering, node: ast.stmt, scope: Scope) -> bool:
    match node:
        case ast.Return(value):
            return _return(low, node, value, scope)
        case ast.If():
            return _if(low, node, scope)
        case ast.Assign(targets=targets, value=value):
            result = low.evaluate(value, scope)
            for target in targets:
                low.assign(target, result, scope)
        case ast.AnnAssign(target=target, value=value) if value is not None:
            low.assign(target, low.evaluate(value, scope), scope)
        case ast.AugAssign(target=ast.Name(id=name)):
            scope.locals[name] = low.evaluate(operation_of(node), scope)
        case ast.Expr(value=ast.Yield(value=value)) if value is not None and low.on_yield is not None:
            low.on_yield(low, low.evaluate(value, scope), node)
        case ast.Expr(value=ast.YieldFrom(value=ast.Call() as call)) if low.on_yield is not None:
            _delegate(low, call, scope)
        case ast.Expr(value=ast.Call(func=ast.Name(id="require")) as call):
            return low.evaluate(call, scope) != Bool(x.ZERO) or not low.calls[-1].is_action
        case ast.Expr(value=ast.Call() as call):
            low.evaluate(call, scope)
        case ast.For():
            _for(low, node, scope)
        case ast.Assert(test=test):
            low.code.check(low.truth(low.evaluate(test, scope), node), node)
        case ast.Continue():
            low.code.emit(Break(low.choice_label))
            return False
        case ast.FunctionDef():
            scope.locals[node.name] = nested_function(low, node, scope)
        case ast.Pass() | ast.Expr(value=ast.Constant()):
            pass
        case _:
            low.code.refuse(node, f"'{type(node).__name__.lower()}' here")
    return True


def _return(low: Lowering, node: ast.stmt, value: ast.expr | None, scope: Scope) -> bool:
    call = low.calls[-1]
    if value is not None:
        result = low.evaluate(value, scope)
        if call.then is not None:
            call.then(low, result, node)
        else:
            call.returns.append((low.code.slot(), result))
    low.code.emit(Break(call.label))
    return False


def _if(low: Lowering, node: ast.If, scope: Scope) -> bool:
    condition = low.truth(low.evaluate(node.test, scope), node.test)
    if isinstance(condition, Const):
        return statements(low, node.body if condition.value else node.orelse, scope)
    scopes = (scope.child(), scope.child())
    falls = [False, False]
    drafts: list[Draft] = []
    for branch, body in enumerate((node.body, node.orelse)):

        def run(branch: int = branch, body: list[ast.stmt] = body) -> None:
            falls[branch] = statements(low, body, scopes[branch])

        drafts.append(low.code.capture(run))
    if all(falls):
        _join(low, scope, scopes, drafts, node)
    elif any(falls):
        scope.locals = scopes[falls.index(True)].locals
    low.code.branch(condition, drafts[0], drafts[1])
    return any(falls)


def _join(low: Lowering, scope: Scope, scopes: tuple[Scope, Scope], drafts: list[Draft], node: Origin) -> None:
    first, second = (inner.locals for inner in scopes)
    joined = {}
    for name in first.keys() & second.keys():
        pair = [first[name], second[name]]
        value, setters = low.merge(pair, node)
        for draft, setter, branch in zip(drafts, setters, pair, strict=True):
            low.code.into(draft, lambda setter=setter, branch=branch: setter(branch))  # type: ignore[misc]  # bound now
        joined[name] = value
    scope.locals = joined


def _for(low: Lowering, node: ast.For, scope: Scope) -> None:
    """Choose from a collection: one that is written out has a copy of the body for each element, up to a limit."""
    whole, around = low.evaluate(node.iter, scope), low.copies
    if isinstance(whole, SetLiteral) and around * len(whole.items) > _COPIES_MAX:
        whole = materialize(low, whole, node)
    copies = len(whole.items) if isinstance(whole, SetLiteral | SeqLiteral | Several) else 1

    def choose(item: Value) -> None:
        inner = scope.child()
        low.assign(node.target, item, inner)
        outer, low.choice_label = low.choice_label, low.code.fresh("choice")
        label = low.choice_label
        body = low.code.capture(lambda: statements(low, node.body, inner))
        low.choice_label = outer
        low.code.block(label, body)

    low.copies = around * copies
    each(low, whole, choose, node, unroll=0)
    low.copies = around


def _delegate(low: Lowering, node: ast.Call, scope: Scope) -> None:
    """`yield from helper(...)`: a `return` or a failed `require` leaves the helper only."""
    callee, arguments, inner = bound_call(low, node, scope)
    outer = low.choice_label
    with low.code.reading(inner.path):
        low.run_action(callee, {name: low.kept(value) for name, value in arguments.items()}, inner)
    low.choice_label = outer
