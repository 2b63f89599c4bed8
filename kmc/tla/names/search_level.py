"""`TLCGet("level")`: the level of a state, as a variable of the model that its view leaves out.

Every action sets the variable to the level of its successor. States that differ in nothing else count as one, and a
search keeps the one that it finds first, so the variable has the level at which TLC finds the state. In ASSUME and in
the initial predicate the level is 0, as in TLC; initial states have level 1.
"""

from __future__ import annotations

from dataclasses import replace

from kmc.errors import Span
from kmc.tla.names.level_checks import settle_levels
from kmc.tla.resolved.levels import STATE
from kmc.tla.resolved.model import Assumption, BehaviourParts, ReaderOfExpressions, ResolvedModel
from kmc.tla.resolved.nodes import (
    BuiltinExpr,
    Expression,
    NumberExpr,
    OperatorDefinition,
    PrimeExpr,
    TupleExpr,
    VariableExpr,
)
from kmc.tla.resolved.rewriting import Rewriting
from kmc.tla.resolved.search_level import LEVEL_VARIABLE, level_replaced

_VIEW = "AllButLevel"


def with_level(model: ResolvedModel) -> ResolvedModel:
    """Return the model with a variable for the level if something that a search evaluates reads it, else the model."""
    behaviour = model.behaviour
    if behaviour is None or behaviour.next is None:
        return model
    initially = level_replaced(lambda place: NumberExpr(0, place=place))
    behaviour = replace(behaviour, initial=initially.of(behaviour.initial))
    assumptions = tuple(Assumption(one.name, initially.of(one.condition), one.place) for one in model.assumptions)
    model = replace(model, behaviour=behaviour, assumptions=assumptions)
    index = len(model.variables)
    searched = level_replaced(lambda place: VariableExpr(LEVEL_VARIABLE, index, place=place))
    read = (behaviour.next, model.invariants, model.constraints, model.action_constraints, model.view or ())
    return _with_variable(model, behaviour, searched) if searched.affects(read) else model


def _with_variable(model: ResolvedModel, behaviour: BehaviourParts, searched: Rewriting) -> ResolvedModel:
    of = searched.of
    assert behaviour.next is not None
    place = behaviour.next.place
    level = VariableExpr(LEVEL_VARIABLE, len(model.variables), place=place)
    following = PrimeExpr(level, place=place)
    one = NumberExpr(1, place=place)
    first = BuiltinExpr("=", (level, one), place=place)
    increment = BuiltinExpr("=", (following, BuiltinExpr("+", (level, one), "Integers", place=place)), place=place)
    changed = replace(
        model,
        variables=(*model.variables, LEVEL_VARIABLE),
        behaviour=replace(behaviour, initial=(*behaviour.initial, first), next=of(behaviour.next)),
        in_every_action=increment,
        invariants=of(model.invariants),
        properties=of(model.properties),
        constraints=of(model.constraints),
        action_constraints=of(model.action_constraints),
        view=of(model.view) if model.view is not None else _all_variables(model, place),
        alias=of(model.alias),
        definitions={name: of(definition) for name, definition in model.definitions.items()},
        reader=_Reader(model.reader, searched) if model.reader is not None else None,
    )
    settle_levels(searched.copies)
    return changed


def _all_variables(model: ResolvedModel, place: Span) -> OperatorDefinition:
    named = (VariableExpr(name, index, place=place) for index, name in enumerate(model.variables))
    return OperatorDefinition(_VIEW, (), TupleExpr(tuple(named), place=place), place, model.module, STATE)


class _Reader:
    """The reader of a model's expressions, in which the level is the variable."""

    def __init__(self, reader: ReaderOfExpressions, searched: Rewriting) -> None:
        self._reader = reader
        self._searched = searched

    def read(self, text: str) -> Expression:
        """Parse and resolve an expression; raises SpecError at its place in the text."""
        expression: Expression = self._searched.of(self._reader.read(text))
        settle_levels(self._searched.copies)
        return expression
