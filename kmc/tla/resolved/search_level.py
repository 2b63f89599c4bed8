"""`TLCGet("level")` in resolved expressions: where it is read, and what takes its place."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from kmc.errors import Span
from kmc.tla.resolved.nodes import BuiltinExpr, Expression, Node, NumberExpr, OperatorDefinition, StringExpr
from kmc.tla.resolved.rewriting import Rewriting

LEVEL_VARIABLE = 'TLCGet("level")'
"""The name of the variable for the level of a state, which no variable of a module can have."""

Part = TypeVar("Part", bound=Node | OperatorDefinition)


def level_replaced(value: Callable[[Span], Expression]) -> Rewriting:
    """Return the rewriting that puts a value in the place of the level; `value` gets the place of its text."""

    def replaced(node: BuiltinExpr) -> Expression | None:
        match node:
            case BuiltinExpr(operator="TLCGet", arguments=(StringExpr(value="level"),)):
                return value(node.place)
            case _:
                return None

    return Rewriting(replaced)


def at_level(part: Part, level: int) -> Part:
    """Return an expression or a definition as it is at a level; the same object if it does not read the level."""
    rewritten: Part = level_replaced(lambda place: NumberExpr(level, place=place)).of(part)
    return rewritten
