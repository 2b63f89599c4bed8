r"""The next-state relation divided into actions, as TLC divides it.

TLC goes through definitions whose arguments are constant, through disjunctions, LET, and `\E` over constant sets. The
name of an action is that of the definition that was reached last. What `\E` ranges over is a parameter of the action if
a type has exactly these members, else a loop around its body.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from kmc.tla.resolved.nodes import (
    ApplyExpr,
    Argument,
    BoundRange,
    ConjunctionExpr,
    DisjunctionExpr,
    Expression,
    LetExpr,
    OperatorDefinition,
    QuantifiedExpr,
)
from kmc.tla.run.decomposition import UNNAMED
from kmc.tla.shapes.shape import AtomShape, NumberShape
from kmc.tla.translate.facts import ExpressionFacts
from kmc.tla.translate.iteration import Clause, clauses_of
from kmc.tla.translate.names import identifier, unique
from kmc.tla.translate.scope import ROOT, Delayed, LetScope, SpecLocal, TranslationScope, TypedSource, applied, head
from kmc.tla.translate.translation import Translation


@dataclass(frozen=True, slots=True)
class NamedAction:
    """An action: its name in the module, its parameters with their types, loops around its body, and the body.

    `comment` is the one above its definition.
    """

    original: str
    body: Expression
    scope: TranslationScope
    parameters: tuple[tuple[str, str], ...] = ()
    clauses: tuple[Clause, ...] = ()
    last_local: int = 0
    comment: str = ""


@dataclass(slots=True)
class _Division:
    t: Translation
    actions: list[NamedAction] = field(default_factory=list)

    def divide(self, action: NamedAction) -> None:
        """Divide a formula further, or record it as an action."""
        node, scope = action.body, action.scope
        match node:
            case DisjunctionExpr():
                for item in node.items:
                    self.divide(replace(action, body=item))
            case QuantifiedExpr(kind="\\E") if not any(
                reads_state(self.t, bound.domain, scope) for bound in node.ranges
            ):
                inside = self._within(action, node)
                if inside is not None:
                    self.divide(inside)
            case LetExpr() if not any(self._has_state(definition, scope) for definition in node.definitions):
                for definition in node.definitions:
                    scope = scope.bind(((definition, LetScope(scope)),))
                self.divide(replace(action, body=node.body, scope=scope))
            case ApplyExpr(operator=OperatorDefinition() as definition):
                called = replace(action, original=definition.name, comment=definition.comment)
                if not self._is_divided(node, definition, scope):
                    return self._record(called)
                target = applied(node, scope)
                assert isinstance(target, Delayed)
                body: Expression = target.expression  # type: ignore[assignment]  # the body of a definition
                self.divide(replace(called, body=body, scope=target.scope))
            case _:
                self._record(action)
        return None

    def _record(self, action: NamedAction) -> None:
        more, body = self.t.model.in_every_action, action.body
        whole = body if more is None else ConjunctionExpr((more, body), place=body.place)
        self.actions.append(replace(action, body=whole, last_local=self.t.names.last_local))

    def _has_state(self, definition: OperatorDefinition, scope: TranslationScope) -> bool:
        """Return whether a definition of a LET has a value in the state alone: such a LET is one action.

        A definition with primes is a formula, which is entered where it is applied.
        """
        body = definition.body
        if definition.parameters or body is None or not reads_state(self.t, body, scope):
            return False
        return not has_primes(self.t, body, scope)

    def _is_divided(self, node: ApplyExpr, definition: OperatorDefinition, scope: TranslationScope) -> bool:
        if definition.recursive or any(parameter.arity for parameter in definition.parameters):
            return False
        return not any(reads_state(self.t, argument, scope) for argument in node.arguments)

    def _within(self, action: NamedAction, node: QuantifiedExpr) -> NamedAction | None:
        """Return the action inside of some ranges, None where one is empty."""
        scope, parameters, clauses = action.scope, list(action.parameters), list(action.clauses)
        for bound in node.ranges:
            annotation = None if bound.is_pattern else self._annotation(bound, action.scope)
            if annotation is None:
                inside = clauses_of(self.t, (bound,), action.scope)
                if inside is None:
                    return None
                names = [(binding, inside[0].entries[binding]) for binding in bound.bindings]
                scope, clauses = scope.bind(names), [*clauses, *inside[1]]
                continue
            for binding in bound.bindings:
                name = unique(_parameter_name(binding.name), [known for known, _ in parameters])
                parameters.append((name, annotation[0]))
                scope = scope.bind(((binding, SpecLocal(TypedSource(name, annotation[1]))),))
        return replace(action, body=node.body, scope=scope, parameters=tuple(parameters), clauses=tuple(clauses))

    def _annotation(self, bound: BoundRange, scope: TranslationScope) -> tuple[str, AtomShape | NumberShape] | None:
        """Return the type that has exactly the members of a constant set, if there is one."""
        values = self.t.constant(*head(bound.domain, scope))
        if not isinstance(values, frozenset) or not values:
            return None
        group = self.t.names.group_of(values)
        if group is not None:
            return group.name, AtomShape(frozenset(group.atoms))
        numbers = [value for value in values if type(value) is int]
        if len(numbers) == len(values) and max(numbers) - min(numbers) == len(numbers) - 1:
            return f"Int({min(numbers)}, {max(numbers)})", NumberShape(min(numbers), max(numbers))
        return None


def _parameter_name(text: str) -> str:
    name = identifier(text)
    return f"{name}_" if name[-1].isdigit() and "_" in name else name


def decomposed(t: Translation, next_state: Expression) -> list[NamedAction]:
    """Return the actions of a next-state relation, in their order."""
    t.restart_locals()
    division = _Division(t)
    division.divide(NamedAction(UNNAMED, next_state, ROOT))
    return division.actions


def reads_state(t: Translation, node: Argument, scope: TranslationScope) -> bool:
    """Return whether an argument or a domain depends on a state, through the names in it too."""
    return any(facts.reads_state or facts.has_primes for facts in _facts_of(t, node, scope))


def has_primes(t: Translation, node: Argument, scope: TranslationScope) -> bool:
    """Return whether an argument or a definition depends on a next state, through the names in it too."""
    return any(facts.has_primes for facts in _facts_of(t, node, scope))


def _facts_of(t: Translation, node: Argument, scope: TranslationScope) -> Iterator[ExpressionFacts]:
    """Yield the facts about an expression, and about what the names in it stand for."""
    facts = t.facts.of(node)
    yield facts
    for name in facts.free:
        entry = scope.entries.get(name)
        if isinstance(entry, Delayed):
            yield from _facts_of(t, entry.expression, entry.scope)
