"""Levels of TLA+ expressions: constant, of a state, of a step, temporal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from enum import IntEnum

from kmc.tla.resolved.nodes import (
    AlwaysExpr,
    AngleActionExpr,
    ApplyExpr,
    BoxActionExpr,
    EnabledExpr,
    EventuallyExpr,
    ExceptUpdate,
    FairnessExpr,
    LeadsToExpr,
    Node,
    OperatorDefinition,
    OperatorReferenceExpr,
    PrimeExpr,
    UnchangedExpr,
    VariableExpr,
)


class ExpressionLevel(IntEnum):
    """The level of an expression, as TLA+ counts levels."""

    CONSTANT = 0
    STATE = 1
    STEP = 2
    TEMPORAL = 3


_OWN: Mapping[type, ExpressionLevel] = {
    VariableExpr: ExpressionLevel.STATE,
    EnabledExpr: ExpressionLevel.STATE,
    PrimeExpr: ExpressionLevel.STEP,
    UnchangedExpr: ExpressionLevel.STEP,
    BoxActionExpr: ExpressionLevel.STEP,
    AngleActionExpr: ExpressionLevel.STEP,
    AlwaysExpr: ExpressionLevel.TEMPORAL,
    EventuallyExpr: ExpressionLevel.TEMPORAL,
    LeadsToExpr: ExpressionLevel.TEMPORAL,
    FairnessExpr: ExpressionLevel.TEMPORAL,
}


def level_of(node: Node) -> ExpressionLevel:
    """Return the level of an expression or an argument."""
    own = _OWN.get(type(node), ExpressionLevel.CONSTANT)
    if isinstance(node, EnabledExpr):
        return own
    levels = [own, *map(level_of, _children(node))]
    if isinstance(node, ApplyExpr | OperatorReferenceExpr) and isinstance(node.operator, OperatorDefinition):
        levels.append(ExpressionLevel(node.operator.level))
    return max(levels)


def _children(node: Node) -> Iterator[Node]:
    """Yield the nodes directly below a node; the bodies of definitions are not among them."""
    for field in fields(node):
        yield from _nodes_in(getattr(node, field.name))


def _nodes_in(value: object) -> Iterator[Node]:
    match value:
        case Node():
            yield value
        case ExceptUpdate():
            yield from (*value.path, value.value)
        case tuple():
            for item in value:
                yield from _nodes_in(item)
