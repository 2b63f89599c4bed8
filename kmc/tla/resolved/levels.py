"""Levels of resolved expressions: constant, state, action, temporal; and the parts of a node.

The level of an application is the highest of its operator's and its arguments'. Levels of definitions are stored in
them, so no walk leaves the body of a definition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from operator import attrgetter
from typing import TypeAlias, cast

from kmc.tla.resolved.nodes import (
    AlwaysExpr,
    AngleActionExpr,
    ApplyExpr,
    Argument,
    BoundRange,
    BoxActionExpr,
    EnabledExpr,
    EventuallyExpr,
    ExceptUpdate,
    FairnessExpr,
    LeadsToExpr,
    LetExpr,
    Node,
    OperatorDefinition,
    OperatorReferenceExpr,
    OwnVariableExpr,
    PrimeExpr,
    UnboundedExpr,
    UnchangedExpr,
    VariableExpr,
)

CONSTANT, STATE, ACTION, TEMPORAL = range(4)
LEVEL_NAMES = ("constant", "state", "action", "temporal")
"""What a person calls each level."""

_Getter: TypeAlias = Callable[[object], object]
# Fields that hold no parts: texts and numbers, bindings, and definitions, which have levels of their own.
_PLAIN = frozenset(("place", "name", "value", "index", "kind", "operator", "module", "binding", "field", "is_pattern"))
_BINDINGS = frozenset(("bindings", "unbounded", "parameters", "previous", "itself"))


_GETTERS: dict[type, tuple[_Getter, ...]] = {}
"""How to read the parts of a node, by its class; filled when the first node of a class is met."""


def _getters(kind: type) -> tuple[_Getter, ...]:
    found = _GETTERS.get(kind)
    if found is None:
        # `value` is a part where it is the value of an update.
        plain = _PLAIN - {"value"} if kind is ExceptUpdate else _PLAIN
        names = [field.name for field in fields(kind) if field.name not in plain | _BINDINGS]
        found = _GETTERS[kind] = tuple(cast(_Getter, attrgetter(name)) for name in names)
    return found


def parts_of(node: Node) -> Iterator[Argument]:
    """Yield the expressions and operators that a node consists of, in order; not the bodies of what it refers to."""
    for getter in _getters(type(node)):
        yield from _parts_in(getter(node))


def _parts_in(value: object) -> Iterator[Argument]:
    match value:
        case tuple():
            for item in value:
                yield from _parts_in(item)
        case OperatorDefinition(body=body) if body is not None:
            yield body
        case BoundRange() | ExceptUpdate():
            yield from parts_of(value)
        case Node():
            yield cast(Argument, value)
        case _:
            return


def level_of(expression: Argument) -> int:
    """Return the level of an expression or of an operator: 0 constant, 1 state, 2 action, 3 temporal."""
    match expression:
        case VariableExpr() | OwnVariableExpr():
            return STATE
        case EnabledExpr():
            return STATE
        case PrimeExpr() | UnchangedExpr() | BoxActionExpr() | AngleActionExpr():
            return max(ACTION, _highest(expression))
        case AlwaysExpr() | EventuallyExpr() | LeadsToExpr() | FairnessExpr():
            return TEMPORAL
        case UnboundedExpr(kind="\\AA" | "\\EE"):
            return TEMPORAL
        case ApplyExpr(operator=OperatorDefinition(level=level)):
            return max(level, _highest(expression))
        case OperatorReferenceExpr(operator=OperatorDefinition(level=level)):
            return level
        case LetExpr(body=body):
            return level_of(body)
        case _:
            return _highest(expression)


def _highest(node: Argument) -> int:
    return max(map(level_of, parts_of(node)), default=CONSTANT)
