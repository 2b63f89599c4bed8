r"""Branches of IF and CASE that only give variables values: joined, so that what follows is written once.

`IF c THEN x' = e ELSE UNCHANGED x` has one way to be true whatever c is, and so has `x' = IF c THEN e ELSE x`, which
needs no branch. A helper that changes one variable "if it differs", applied to five variables, would otherwise have the
rest of its action written 32 times.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from kmc.tla.resolved.nodes import (
    BoundExpr,
    BuiltinExpr,
    CaseExpr,
    ConjunctionExpr,
    Expression,
    IfExpr,
    NameBinding,
    PrimeExpr,
    TupleExpr,
    UnchangedExpr,
    VariableExpr,
)
from kmc.tla.translate.narrowing import operand
from kmc.tla.translate.scope import Delayed, TranslationScope, head
from kmc.tla.translate.translation import Translation

Values = dict[int, Delayed]
"""The new values of variables in the order in which they are assigned."""


def joined_values(t: Translation, node: IfExpr | CaseExpr, scope: TranslationScope) -> Values | None:
    """Return the values that IF or CASE gives to variables; None unless each branch gives them to the same ones."""
    return _Joiner(t).branches(node, scope)


@dataclass(frozen=True, slots=True)
class _Joiner:
    """Reads formulas that do nothing but give each of some variables a value once."""

    t: Translation

    def branches(self, node: IfExpr | CaseExpr, scope: TranslationScope) -> Values | None:
        """Join the branches of IF or CASE."""
        if isinstance(node, IfExpr):
            bodies = [node.then, node.otherwise]
        else:
            bodies = [body for _, body in node.arms] + ([node.other] if node.other is not None else [])
        found: list[Values] = []
        for body in bodies:
            values = self._of(body, scope)
            if not values or (found and values.keys() != found[0].keys()):
                return None
            found.append(values)
        if len(found) > 1 and self._depends_on_order(found):
            return None
        return {index: self._joined(node, scope, [values[index] for values in found]) for index in found[0]}

    def _joined(self, node: IfExpr | CaseExpr, scope: TranslationScope, values: list[Delayed]) -> Delayed:
        names = [NameBinding("branch", node.place) for _ in values]
        reads: list[Expression] = [BoundExpr(place=node.place, binding=name) for name in names]
        inside = scope.bind(zip(names, values, strict=True))
        if isinstance(node, IfExpr):
            return Delayed(IfExpr(node.condition, reads[0], reads[1], place=node.place), inside)
        arms = tuple((condition, read) for (condition, _), read in zip(node.arms, reads, strict=False))
        return Delayed(replace(node, arms=arms, other=None if node.other is None else reads[-1]), inside)

    def _depends_on_order(self, found: list[Values]) -> bool:
        """Return whether a value reads a new value, and the branches give the variables values in different orders."""
        orders = {tuple(values) for values in found}
        return len(orders) > 1 and any(
            self.t.deep.has_primes(value.expression, value.scope) for values in found for value in values.values()
        )

    def _of(self, node: Expression, scope: TranslationScope) -> Values | None:
        """Return what a formula gives to variables; None for one that does anything else."""
        node, scope = head(node, scope)
        match node:
            case ConjunctionExpr():
                return self._all([self._of(item, scope) for item in node.items])
            case IfExpr() | CaseExpr():
                return self.branches(node, scope)
            case BuiltinExpr(operator="="):
                variable = self._variable(operand(node, 0), scope)
                return None if variable is None else {variable.index: Delayed(operand(node, 1), scope)}
            case UnchangedExpr():
                return self._kept(node.body, scope)
            case _:
                return None

    @staticmethod
    def _all(parts: list[Values | None]) -> Values | None:
        found: Values = {}
        for part in parts:
            if part is None or part.keys() & found.keys():
                return None  # the second value of a variable is a test
            found |= part
        return found

    @staticmethod
    def _variable(node: Expression, scope: TranslationScope) -> VariableExpr | None:
        node, scope = head(node, scope)
        if isinstance(node, PrimeExpr):
            node, scope = head(node.body, scope)
            return node if isinstance(node, VariableExpr) else None
        return None

    def _kept(self, node: Expression, scope: TranslationScope) -> Values | None:
        node, scope = head(node, scope)
        match node:
            case TupleExpr():
                return self._all([self._kept(item, scope) for item in node.items])
            case VariableExpr():
                return {node.index: Delayed(node, scope)}
            case _:
                return None
