r"""A function of formulas, applied as a conjunct: TLC enumerates its body, as it does for an operator.

`[x \in S |-> F][e]` counts each way in which F is true, through definitions and parameters, and so does a recursive
function at every application of itself in such a place, even if it is constant. The name of another constant function
is a value: TLC has computed it before. A function with several ways that IF, EXCEPT or the like yields is refused.
"""

from __future__ import annotations

from kmc.tla.resolved.nodes import (
    BoundExpr,
    FunctionApplicationExpr,
    FunctionConstructorExpr,
    RecursiveFunctionExpr,
)
from kmc.tla.run.compiling import NodeCompiler
from kmc.tla.run.formulas import branching_function, follow
from kmc.tla.run.frames import Act, Frame
from kmc.tla.run.functions import domain_code
from kmc.tla.run.hidden_ways import refuse_hidden_function, refuse_hidden_ways
from kmc.tla.run.logic import binder
from kmc.tla.run.scopes import FunctionAct, RunScope, Slot


def function_act(compiler: NodeCompiler, node: FunctionApplicationExpr, scope: RunScope) -> Act | None:
    """Compile the application of a function of formulas; None where the function is a value."""
    followed = follow(compiler, node.function, scope)
    function, home = followed.node, followed.scope
    if isinstance(function, BoundExpr) and function.binding in compiler.function_acts:
        return _applied(compiler, compiler.function_acts[function.binding], node, scope)
    if not isinstance(function, (FunctionConstructorExpr, RecursiveFunctionExpr)):
        if branching_function(compiler, function, home) and not followed.is_computed:
            refuse_hidden_ways(node.place)
        return None
    if followed.is_value(compiler):
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


def _applied(compiler: NodeCompiler, function: FunctionAct, node: FunctionApplicationExpr, scope: RunScope) -> Act:
    if function.layout is not scope.layout:
        refuse_hidden_function(function.name, node.place)
    argument, place = compiler.stored(node.argument, scope), node.place
    return lambda frame, rest: function.run(frame, argument(frame), rest, place)
