"""Parts of formulas of actions: the variables of UNCHANGED, and functions that TLC computes when it starts."""

from __future__ import annotations

from kmc.tla.resolved.nodes import (
    ApplyExpr,
    Expression,
    FunctionConstructorExpr,
    SetEnumerationExpr,
    TupleExpr,
    VariableExpr,
)
from kmc.tla.shapes.refusal import refusal
from kmc.tla.translate.scope import TranslationScope, head
from kmc.tla.translate.translation import Translation


def is_computed(t: Translation, name: Expression, function: FunctionConstructorExpr, home: TranslationScope) -> bool:
    """Return whether TLC computes a function when it starts, as it does a constant definition over listed sets."""
    if not isinstance(name, ApplyExpr) or name.arguments or getattr(name.operator, "is_local", True):
        return False
    domains = [head(bound.domain, home)[0] for bound in function.ranges]
    are_listed = all(isinstance(one, SetEnumerationExpr) or getattr(one, "operator", "") == ".." for one in domains)
    return are_listed and t.constant(function, home) is not None


def names_variables(node: Expression, scope: TranslationScope) -> bool:
    """Return whether an expression is a variable, or a tuple of such, through definitions."""
    node, scope = head(node, scope)
    if isinstance(node, TupleExpr):
        return all(names_variables(item, scope) for item in node.items)
    return isinstance(node, VariableExpr)


def variables_of(t: Translation, node: Expression, scope: TranslationScope) -> list[int]:
    """Return the variables that UNCHANGED names."""
    node, scope = head(node, scope)
    match node:
        case TupleExpr():
            return [index for item in node.items for index in variables_of(t, item, scope)]
        case VariableExpr():
            return [node.index]
        case _:
            raise refusal("UNCHANGED of anything but variables", node.place)
