"""The figures of a search in a POSTCONDITION: `TLCGet("distinct")`, `TLCGet("stats").diameter` and the like."""

from __future__ import annotations

from collections.abc import Mapping

from kmc.errors import Span
from kmc.result import Result
from kmc.tla.resolved.nodes import BooleanExpr, BuiltinExpr, Expression, NumberExpr, RecordExpr, StringExpr
from kmc.tla.resolved.rewriting import Rewriting


def with_figures(expression: Expression, result: Result) -> Expression:
    """Return the expression with the figures of a result in the place of the applications of TLCGet that name them.

    TLCSet is TRUE, and its register has no value for TLCGet.
    """
    figures = _figures(result, expression.place)

    def figure(node: BuiltinExpr) -> Expression | None:
        match node:
            case BuiltinExpr(operator="TLCGet", arguments=(StringExpr(value=name),)):
                return figures.get(name)
            case BuiltinExpr(operator="TLCSet", place=place):
                # It is TRUE. What it stores is for TLCGet of that register, which has no value here.
                return BooleanExpr(True, place=place)
            case _:
                return None

    rewritten: Expression = Rewriting(figure).of(expression)
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
