"""Names around a part of a temporal formula: values of quantifiers, arguments of definitions, definitions of a LET.

Invariant: what a binding means is kept with the scope in which it was written, so an argument never meets the names of
the definition that it is given to.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from kmc.errors import Span
from kmc.tla.resolved.nodes import (
    ApplyExpr,
    Argument,
    BoundExpr,
    Expression,
    LambdaExpr,
    LetExpr,
    NameBinding,
    OperatorDefinition,
    OperatorReferenceExpr,
)
from kmc.tla.temporal.literals import literal_of
from kmc.tla.temporal.names_used import NamesUsed
from kmc.tla.values.kinds import Value


@dataclass(frozen=True, slots=True)
class GivenValue:
    """The value of a quantified name."""

    value: Value


@dataclass(frozen=True, slots=True, eq=False)
class GivenArgument:
    """The argument of a parameter, with the scope in which it is written."""

    argument: Argument
    scope: TemporalScope


Meaning: TypeAlias = GivenValue | GivenArgument


@dataclass(frozen=True, slots=True, eq=False)
class TemporalScope:
    """The meanings of names at a place; `lets` are the definitions of the LETs around it, the outermost first."""

    meanings: Mapping[NameBinding, Meaning] = field(default_factory=dict)
    lets: tuple[tuple[OperatorDefinition, ...], ...] = ()

    def with_values(self, bindings: Sequence[NameBinding], values: Sequence[Value]) -> TemporalScope:
        """The scope inside a quantifier, for some of its values."""
        given = {binding: GivenValue(value) for binding, value in zip(bindings, values, strict=True)}
        return TemporalScope({**self.meanings, **given}, self.lets)

    def with_arguments(
        self, parameters: Sequence[NameBinding], arguments: Sequence[Argument], at: TemporalScope
    ) -> TemporalScope:
        """The scope inside a definition or LAMBDA whose `arguments` are written at another scope."""
        given = {name: at.meaning_of(argument) for name, argument in zip(parameters, arguments, strict=True)}
        return TemporalScope({**self.meanings, **given}, self.lets)

    def meaning_of(self, argument: Argument) -> Meaning:
        """The meaning of a parameter with this argument; that of a name, if the argument is one."""
        if isinstance(argument, BoundExpr) and argument.binding in self.meanings:
            return self.meanings[argument.binding]
        return GivenArgument(argument, self)

    def with_let(self, definitions: tuple[OperatorDefinition, ...]) -> TemporalScope:
        """The scope inside a LET."""
        return TemporalScope(self.meanings, (*self.lets, definitions))


class FormulaClosing:
    """Makes expressions that have no names around them, so that a program can evaluate them anywhere."""

    def __init__(self) -> None:
        self._names = NamesUsed()

    def key(self, node: Argument, scope: TemporalScope) -> Hashable:
        """A key that is equal for the same expression with the same meanings of its names."""
        used = self._names.of(node)
        meanings = [scope.meanings[name] for name in scope.meanings if name in used]
        return node, tuple(
            (GivenValue, given.value) if isinstance(given, GivenValue) else self.key(given.argument, given.scope)
            for given in meanings
        )

    def uses(self, node: Argument, scope: TemporalScope) -> list[NameBinding]:
        """The names of a scope that an expression uses."""
        used = self._names.of(node)
        return [name for name in scope.meanings if name in used]

    def closed(self, expression: Expression, scope: TemporalScope) -> Expression:
        """The same expression without a name of the scope."""
        for definitions in reversed(scope.lets):
            if not self._names.of(expression).isdisjoint(definitions):
                expression = LetExpr(definitions=definitions, body=expression, place=expression.place)
        names = self.uses(expression, scope)
        if not names:
            return expression
        arguments = tuple(self._meant(scope.meanings[name], expression.place) for name in names)
        definition = OperatorDefinition("", tuple(names), expression, expression.place, "", level=2)
        return ApplyExpr(operator=definition, arguments=arguments, place=expression.place)

    def _meant(self, meaning: Meaning, place: Span) -> Argument:
        if isinstance(meaning, GivenValue):
            return literal_of(meaning.value, place)
        argument, scope = meaning.argument, meaning.scope
        match argument:
            case LambdaExpr():
                body = self.closed(argument.body, scope)
                return LambdaExpr(parameters=argument.parameters, body=body, place=argument.place)
            case OperatorReferenceExpr(operator=NameBinding() as name) if name in scope.meanings:
                return self._meant(scope.meanings[name], place)
            case OperatorReferenceExpr(operator=OperatorDefinition() as definition) if definition.is_local:
                return self._as_lambda(definition, scope, argument.place)
            case OperatorReferenceExpr():
                return argument
            case _:
                return self.closed(argument, scope)

    def _as_lambda(self, definition: OperatorDefinition, scope: TemporalScope, place: Span) -> LambdaExpr:
        """A definition of a LET as a LAMBDA, so that it can leave the LET."""
        parameters = tuple(NameBinding(each.name, each.place, each.arity) for each in definition.parameters)
        arguments: tuple[Argument, ...] = tuple(
            OperatorReferenceExpr(operator=each, place=place) if each.arity else BoundExpr(binding=each, place=place)
            for each in parameters
        )
        applied = ApplyExpr(operator=definition, arguments=arguments, place=place)
        return LambdaExpr(parameters=parameters, body=self.closed(applied, scope), place=place)
