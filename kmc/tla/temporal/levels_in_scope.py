"""The level of an expression where the parameters around it have arguments of any level.

Levels of definitions are those without arguments: `Stable(P) == <>[]P` is temporal, and `Both(P, Q) == P /\\ Q` is a
constant until its arguments are known.
"""

from __future__ import annotations

from kmc.tla.resolved.nodes import (
    AlwaysExpr,
    AngleActionExpr,
    ApplyExpr,
    Argument,
    BoundExpr,
    BoxActionExpr,
    EnabledExpr,
    EventuallyExpr,
    FairnessExpr,
    LambdaExpr,
    LeadsToExpr,
    LetExpr,
    NameBinding,
    Node,
    OperatorDefinition,
    OperatorReferenceExpr,
    PrimeExpr,
    UnchangedExpr,
    VariableExpr,
)
from kmc.tla.temporal.names_used import nodes_inside
from kmc.tla.temporal.scopes import GivenArgument, TemporalScope

CONSTANT, STATE, ACTION, TEMPORAL = range(4)


def level_in_scope(node: Node, scope: TemporalScope) -> int:
    """The level of an expression: 0 constant, 1 state, 2 action, 3 temporal."""
    match node:
        case BoundExpr(binding=name):
            return _level_of_name(name, scope)
        case VariableExpr():
            return STATE
        case EnabledExpr():
            return STATE
        case PrimeExpr() | UnchangedExpr() | BoxActionExpr() | AngleActionExpr():
            return ACTION
        case AlwaysExpr() | EventuallyExpr() | LeadsToExpr() | FairnessExpr():
            return TEMPORAL
        case ApplyExpr(operator=NameBinding() as name):
            return max(_level_of_name(name, scope), _highest(node.arguments, scope))
        case ApplyExpr(operator=OperatorDefinition() as definition):
            return _level_of_application(definition, node.arguments, scope)
        case OperatorReferenceExpr(operator=OperatorDefinition() as definition):
            return definition.level
        case OperatorReferenceExpr(operator=NameBinding() as name):
            return _level_of_name(name, scope)
        case LambdaExpr(body=body):
            return level_in_scope(body, scope)
        case LetExpr(body=body):
            return level_in_scope(body, scope)
        case _:
            return max((level_in_scope(part, scope) for part in nodes_inside(node)), default=CONSTANT)


def _level_of_name(name: NameBinding, scope: TemporalScope) -> int:
    meaning = scope.meanings.get(name)
    return level_in_scope(meaning.argument, meaning.scope) if isinstance(meaning, GivenArgument) else CONSTANT


def _highest(arguments: tuple[Argument, ...], scope: TemporalScope) -> int:
    return max((level_in_scope(argument, scope) for argument in arguments), default=CONSTANT)


def _level_of_application(definition: OperatorDefinition, arguments: tuple[Argument, ...], scope: TemporalScope) -> int:
    raised = _highest(arguments, scope)
    if definition.recursive or definition.body is None:
        return max(definition.level, raised)
    if raised <= definition.level and not definition.is_local:
        return definition.level
    return level_in_scope(definition.body, scope.with_arguments(definition.parameters, arguments, scope))
