r"""A function of formulas, applied as a conjunct: TLC enumerates its body, as it does for an operator.

`[x \in S |-> F][e]` counts each way in which F is true, through definitions, parameters and LET, and so does a
recursive function at every application of itself in such a place, even if it is constant. Another constant function
that a module defines without parameters is a value: TLC has computed it before.
"""

from __future__ import annotations

from kmc.tla.resolved.nodes import (
    ApplyExpr,
    Argument,
    BoundExpr,
    FunctionApplicationExpr,
    FunctionConstructorExpr,
    OperatorDefinition,
    RecursiveFunctionExpr,
)
from kmc.tla.run.applications import in_place
from kmc.tla.run.compiling import NodeCompiler
from kmc.tla.run.frames import Act, Frame
from kmc.tla.run.functions import domain_code
from kmc.tla.run.logic import binder
from kmc.tla.run.refusals import refuse_hidden_function
from kmc.tla.run.scopes import FunctionAct, LocalDefinition, RunScope, Slot, Substitute


def function_act(compiler: NodeCompiler, node: FunctionApplicationExpr, scope: RunScope) -> Act | None:
    """Compile the application of a function of formulas; None where the function is a value."""
    if isinstance(node.function, BoundExpr) and node.function.binding in compiler.function_acts:
        return _applied(compiler, compiler.function_acts[node.function.binding], node, scope)
    function, home, is_value = _function_of(compiler, node.function, scope)
    if not isinstance(function, RecursiveFunctionExpr) and (
        is_value or not isinstance(function, FunctionConstructorExpr)
    ):
        return None
    domain = domain_code(compiler, function.ranges, home)
    is_pattern = len(function.ranges) == 1 and function.ranges[0].is_pattern
    if isinstance(function, FunctionConstructorExpr):
        inner, _, bind = binder(compiler, function.ranges, home)
        constructed = FunctionAct("the function", home.layout, domain, bind, is_pattern, lambda own, frame: None)
        constructed.body = compiler.act(function.body, inner)
        return _applied(compiler, constructed, node, scope)
    value, slot = compiler.value(function, home), home.layout.fresh()

    def prepare(own: Frame, frame: Frame) -> None:
        own[slot] = value(frame)

    inner, _, bind = binder(compiler, function.ranges, home.binding({function.itself: Slot(slot, is_deferred=True)}))
    recursive = FunctionAct(function.itself.name, home.layout, domain, bind, is_pattern, prepare)
    compiler.function_acts[function.itself] = recursive
    try:
        recursive.body = compiler.act(function.body, inner)
    finally:
        del compiler.function_acts[function.itself]
    return _applied(compiler, recursive, node, scope)


def _function_of(compiler: NodeCompiler, node: Argument, scope: RunScope) -> tuple[Argument, RunScope, bool]:
    """Follow names to a function: return it, with its scope, and whether it is a value that TLC has computed before."""
    is_value = False
    while True:
        if isinstance(node, BoundExpr):
            meaning = scope.meanings.get(node.binding)
            if not isinstance(meaning, Substitute):
                return node, scope, is_value
            node, scope = meaning.argument, meaning.scope.on(scope)
            continue
        definition = node.operator if isinstance(node, ApplyExpr) else None
        if not isinstance(definition, OperatorDefinition) or definition.recursive or definition.body is None:
            return node, scope, is_value
        assert isinstance(node, ApplyExpr)
        is_global = not node.arguments and definition not in scope.locals
        is_value = is_value or (is_global and not compiler.level(node, scope))
        given = tuple((argument, scope) for argument in node.arguments)
        parameters = definition.parameters
        home = home_of(definition, scope)
        home, _ = in_place(compiler, parameters, given, home, scope, frozenset(parameters))
        node, scope = definition.body, home


def home_of(definition: OperatorDefinition, scope: RunScope) -> RunScope:
    """Return the scope of the body of a definition, without its parameters."""
    local = scope.locals.get(definition)
    return local.scope.on(scope) if isinstance(local, LocalDefinition) else RunScope(scope.layout, scope.mode)


def _applied(compiler: NodeCompiler, function: FunctionAct, node: FunctionApplicationExpr, scope: RunScope) -> Act:
    if function.layout is not scope.layout:
        refuse_hidden_function(function.name, node.place)
    argument, place = compiler.stored(node.argument, scope), node.place
    return lambda frame, rest: function.run(frame, argument(frame), rest, place)
