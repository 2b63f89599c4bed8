"""The figures of a search in a POSTCONDITION: `TLCGet("distinct")`, `TLCGet("stats").diameter` and the like."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from kmc.errors import Span
from kmc.result import Result
from kmc.tla.resolved.nodes import (
    BuiltinExpr,
    ExceptUpdate,
    Expression,
    Node,
    NumberExpr,
    OperatorDefinition,
    RecordExpr,
    StringExpr,
)


def with_figures(expression: Expression, result: Result) -> Expression:
    """Return the expression with the figures of a result in the place of the applications of TLCGet that name them."""
    figures = _figures(result, expression.place)
    rewritten: Expression = _Rewriting(figures).of(expression)
    return rewritten


def _figures(result: Result, place: Span) -> Mapping[str, Expression]:
    counters = result.counters
    numbers = {
        "generated": counters.generated,
        "distinct": counters.distinct,
        "queue": counters.left,
        "diameter": counters.depth,
        "duration": round(counters.seconds),
    }
    named: dict[str, Expression] = {name: NumberExpr(number, place=place) for name, number in numbers.items()}
    stats = RecordExpr(tuple(named.items()), place=place)
    return {**named, "level": named["diameter"], "stats": stats}


class _Rewriting:
    """One rewriting: a definition that is applied is copied once, so that recursive ones stay finite."""

    def __init__(self, figures: Mapping[str, Expression]) -> None:
        self._figures = figures
        self._copies: dict[int, OperatorDefinition] = {}

    def of(self, value: Any) -> Any:
        """Return a node, a definition, or a tuple of them, rewritten."""
        match value:
            case BuiltinExpr(operator="TLCGet", arguments=(StringExpr(value=name),)) if name in self._figures:
                return self._figures[name]
            case OperatorDefinition():
                return self._copy(value)
            case tuple():
                return tuple(map(self.of, value))
            case Node():
                return replace(value, **{field.name: self.of(getattr(value, field.name)) for field in fields(value)})
            case ExceptUpdate():
                return replace(value, path=self.of(value.path), value=self.of(value.value))
            case _:
                return value

    def _copy(self, definition: OperatorDefinition) -> OperatorDefinition:
        copy = self._copies.get(id(definition))
        if copy is None:
            copy = self._copies[id(definition)] = replace(definition)
            copy.body = self.of(definition.body)
        return copy
