"""Facts about expressions in their scopes: state reads and primes in them, and in the meanings of their names.

`facts.py` knows what an expression is by itself. The parameter of an operator, or the name of a LET, reads the state
where the argument or the definition does.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from kmc.tla.resolved.nodes import Argument, OperatorDefinition
from kmc.tla.translate.facts import ExpressionFacts, FactTable
from kmc.tla.translate.scope import Delayed, LetScope, Name, SpecLocal, TranslationScope


@dataclass(slots=True)
class DeepFacts:
    """The facts of expressions in scopes; each pair of both is visited once."""

    table: FactTable
    _known: dict[tuple[int, int], tuple[object, bool, bool]] = field(default_factory=dict)

    def reads_state(self, node: Argument, scope: TranslationScope) -> bool:
        """Return whether an expression, or the meaning of a name in it, reads variables."""
        return self._of(node, scope)[1]

    def has_primes(self, node: Argument, scope: TranslationScope) -> bool:
        """Return whether an expression, or the meaning of a name in it, has primes."""
        return self._of(node, scope)[2]

    def _of(self, node: Argument | OperatorDefinition, scope: TranslationScope) -> tuple[object, bool, bool]:
        key = id(node), id(scope)
        if key not in self._known:
            facts = self.table.of_definition(node) if isinstance(node, OperatorDefinition) else self.table.of(node)
            self._known[key] = (node, scope), *self._joined(facts, scope)
        return self._known[key]

    def _joined(self, facts: ExpressionFacts, scope: TranslationScope) -> tuple[bool, bool]:
        parts = [self._of(*part) for part in _parts(facts.free, scope)]
        reads_state = facts.reads_state or any(reads for _, reads, _ in parts)
        return reads_state, facts.has_primes or any(primes for _, _, primes in parts)


def _parts(
    free: Iterable[Name], scope: TranslationScope
) -> Iterable[tuple[Argument | OperatorDefinition, TranslationScope]]:
    """Enumerate the meanings of free names, in their scopes; the variable of a loop has none."""
    for name in free:
        entry = scope.entries.get(name)
        origin = entry.origin if isinstance(entry, SpecLocal) else entry
        if isinstance(origin, Delayed):
            yield origin.expression, origin.scope
        elif isinstance(origin, LetScope) and isinstance(name, OperatorDefinition):
            yield name, origin.scope
