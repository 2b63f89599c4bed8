r"""The number of ways in which a guard is true, as TLC counts them, where it is under an `\\A` over any set.

A disjunction has the sum of the ways of its sides, a conjunction and an `\\A` the product, an `\\E` the sum over its
witnesses; everything else has one way if it is true. A recursive function has the ways of its body for each argument.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kmc.tla.resolved.nodes import (
    BoundExpr,
    BoundRange,
    BuiltinExpr,
    ConjunctionExpr,
    DisjunctionExpr,
    Expression,
    FunctionApplicationExpr,
    IfExpr,
    QuantifiedExpr,
)
from kmc.tla.shapes.refusal import refusal
from kmc.tla.shapes.shape import AtomShape
from kmc.tla.translate.iteration import iterable, loops
from kmc.tla.translate.lazy import is_total
from kmc.tla.translate.membership import membership
from kmc.tla.translate.narrowing import guard, operand
from kmc.tla.translate.recursion import ways_of_call
from kmc.tla.translate.scope import SpecLocal, TranslationScope, head
from kmc.tla.translate.translation import Translation, has_records
from kmc.tla.values.kinds import Value

_ATOMS_MAX = 6
_WITNESSES_MAX = 4096


@dataclass(frozen=True, slots=True)
class WayCounter:
    """Writes numbers of ways; `splits` says whether a formula may have several."""

    t: Translation
    splits: Callable[[Expression, TranslationScope], bool]

    def factors(self, node: Expression, scope: TranslationScope) -> list[str]:
        r"""Return numbers whose product is the number of ways: of an `\A` over few atoms, one for each of them.

        The product has no room in compiled code where each number may be large.
        """
        inner, around = head(node, scope)
        if isinstance(inner, QuantifiedExpr) and inner.kind == "\\A" and len(inner.ranges) == 1:
            bound = inner.ranges[0]
            values = self._few(bound, around)
            if values:
                return [self._if_element(value, bound, inner.body, around) for value in values]
        return [self.ways(node, scope)]

    def _few(self, bound: BoundRange, scope: TranslationScope) -> list[Value]:
        """Return the possible elements of a set, none where these are many or no atoms that have a name."""
        if bound.is_pattern or len(bound.bindings) > 1:
            return []
        _, shape = iterable(self.t, bound.domain, scope)
        permuted = {atom for group in self.t.names.groups if group.is_symmetric for atom in group.atoms}
        if not isinstance(shape, AtomShape) or len(shape.atoms) > _ATOMS_MAX or shape.atoms & permuted:
            return []
        return self.t.in_order(frozenset(shape.atoms))

    def _if_element(self, value: Value, bound: BoundRange, body: Expression, scope: TranslationScope) -> str:
        """Return the number of ways for an element, 1 for a value outside of the set."""
        (binding,) = bound.bindings
        pairs = ((binding, SpecLocal(self.t.literal(value))),)
        read = BoundExpr(place=body.place, binding=binding)
        is_element = membership(self.t, read, TranslationScope().bind(pairs), bound.domain, scope)
        return f"({self.ways(body, scope.bind(pairs))} if {is_element} else 1)"

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

    def _most(self, node: QuantifiedExpr, scope: TranslationScope) -> int | None:
        """Return the number of possible witnesses, None where it is large: compiled code knows none of a network."""
        universe, most = self.t.universe, 1
        for binding in (binding for bound in node.ranges for binding in bound.bindings):
            entry = scope.entries[binding]
            if not isinstance(entry, SpecLocal) or not has_records(entry.code.shape):
                return None
            most *= max(universe.count(entry.code.shape, is_tight=is_tight) for is_tight in (False, True))
        return most if most <= _WITNESSES_MAX else None

    def _quantified(self, node: QuantifiedExpr, scope: TranslationScope) -> str:
        inside = loops(self.t, node.ranges, scope)
        if inside is None:
            return "0" if node.kind == "\\E" else "1"
        ways = self.ways(node.body, inside[0])
        if node.kind == "\\E":
            most = None if self.splits(node.body, inside[0]) else self._most(node, inside[0])
            return f"sum({ways} {inside[1]})" if most is None else f"min(sum({ways} {inside[1]}), {most})"
        return f"product({ways} {inside[1]})"
