r"""The number of ways in which a guard is true, as TLC counts them, where it is under an `\\A` over any set.

A disjunction has the sum of the ways of its sides, a conjunction and an `\\A` the product, an `\\E` the sum over its
witnesses; everything else has one way if it is true. A recursive function has the ways of its body for each argument.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kmc.tla.resolved.nodes import (
    BuiltinExpr,
    ConjunctionExpr,
    DisjunctionExpr,
    Expression,
    FunctionApplicationExpr,
    IfExpr,
    QuantifiedExpr,
)
from kmc.tla.shapes.refusal import refusal
from kmc.tla.translate.iteration import loops
from kmc.tla.translate.lazy import is_total
from kmc.tla.translate.narrowing import guard, operand
from kmc.tla.translate.recursion import ways_of_call
from kmc.tla.translate.scope import TranslationScope, head
from kmc.tla.translate.translation import Translation


@dataclass(frozen=True, slots=True)
class WayCounter:
    """Writes numbers of ways; `splits` says whether a formula may have several."""

    t: Translation
    splits: Callable[[Expression, TranslationScope], bool]

    def ways(self, node: Expression, scope: TranslationScope) -> str:
        """Return the source of the number of ways in which a formula is true."""
        if not self.splits(node, scope):
            return f"(1 if {guard(self.t, node, scope)[0]} else 0)"
        node, scope = head(node, scope)
        match node:
            case DisjunctionExpr():
                return f"({' + '.join(self.ways(item, scope) for item in node.items)})"
            case ConjunctionExpr():
                return self._product(node.items, scope)
            case QuantifiedExpr():
                return self._quantified(node, scope)
            case IfExpr():
                test, found = guard(self.t, node.condition, scope)
                with self.t.narrowed(found):
                    then = self.ways(node.then, scope)
                return f"({then} if {test} else {self.ways(node.otherwise, scope)})"
            case BuiltinExpr(operator="=>"):
                test, found = guard(self.t, operand(node, 0), scope)
                with self.t.narrowed(found):
                    return f"({self.ways(operand(node, 1), scope)} if {test} else 1)"
            case FunctionApplicationExpr():
                function, around = head(node.function, scope)
                code = ways_of_call(self.t, node, (function, around), scope, self.ways)
                if code is not None:
                    return code.source
        raise refusal("the ways in which this formula is true", node.place)

    def _product(self, items: tuple[Expression, ...], scope: TranslationScope) -> str:
        """Return the ways of a conjunction: conjuncts with one way guard those after them."""
        if not items:
            return "1"
        if self.splits(items[0], scope):
            first = self.ways(items[0], scope)
            if len(items) == 1:
                return first
            others = self._product(items[1:], scope)
            if all(is_total(self.t, item, scope, trusts_guards=False) for item in items[1:]):
                return f"({first} * {others})"
            return f"sum({others} for _ in range({first}))"  # the others are not evaluated behind a false conjunct
        test, found = guard(self.t, items[0], scope)
        with self.t.narrowed(found):
            return f"({self._product(items[1:], scope)} if {test} else 0)"

    def _quantified(self, node: QuantifiedExpr, scope: TranslationScope) -> str:
        inside = loops(self.t, node.ranges, scope)
        if inside is None:
            return "0" if node.kind == "\\E" else "1"
        ways = self.ways(node.body, inside[0])
        if node.kind == "\\E":
            return f"sum({ways} {inside[1]})"
        return f"product({ways} {inside[1]})"
