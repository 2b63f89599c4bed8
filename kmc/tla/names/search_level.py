"""`TLCGet("level")`: the level of a state, as a variable of the model that its view leaves out.

Every action sets the variable to the level of its successor. States that differ in nothing else count as one, and a
search keeps the one that it finds first, so the variable has the level at which TLC finds the state. In ASSUME and in
the initial predicate the level is 0, as in TLC; initial states have level 1.
"""

from __future__ import annotations

from dataclasses import replace

from kmc.errors import Span, SpecError
from kmc.tla.names.level_checks import settle_levels
from kmc.tla.resolved.levels import CONSTANT, STATE, level_of
from kmc.tla.resolved.model import Assumption, BehaviourParts, ReaderOfExpressions, ResolvedModel
from kmc.tla.resolved.nodes import (
    ApplyExpr,
    Argument,
    BuiltinExpr,
    DisjunctionExpr,
    Expression,
    LetExpr,
    NumberExpr,
    OperatorDefinition,
    PrimeExpr,
    QuantifiedExpr,
    TupleExpr,
    VariableExpr,
)
from kmc.tla.resolved.rewriting import Rewriting
from kmc.tla.resolved.search_level import LEVEL_VARIABLE, level_replaced

_VIEW = "AllButLevel"


def with_level(model: ResolvedModel) -> ResolvedModel:
    """Return the model with a variable for the level if something that a search evaluates reads it, else the model."""
    initially = level_replaced(lambda place: NumberExpr(0, place=place))
    assumptions = tuple(Assumption(one.name, initially.of(one.condition), one.place) for one in model.assumptions)
    model = replace(model, assumptions=assumptions)
    behaviour = model.behaviour
    if behaviour is None or behaviour.next is None:
        return model
    behaviour = replace(behaviour, initial=initially.of(behaviour.initial))
    index = len(model.variables)
    searched = level_replaced(lambda place: VariableExpr(LEVEL_VARIABLE, index, place=place))
    read = (behaviour.next, model.invariants, model.constraints, model.action_constraints, model.view or ())
    if not searched.affects(read):
        return replace(model, behaviour=behaviour)
    assert behaviour.next is not None
    _refuse_in_choices(behaviour.next, searched)
    return _with_variable(model, behaviour, searched)


def _refuse_in_choices(next_state: Expression, searched: Rewriting) -> None:
    """Raise SpecError KMC024 for the level in what TLC evaluates once, where it divides a relation into actions."""
    waiting: list[Expression] = [next_state]
    seen = set[Expression]()
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        evaluated, inner = _divided(node)
        if all(level_of(part) == CONSTANT for part in evaluated):
            waiting.extend(inner)
            for part in filter(searched.affects, evaluated):
                message = f"{LEVEL_VARIABLE} would be 1 here in every state: TLC evaluates this once, before the search"
                help_line = "compare with it in a conjunct of the action, behind a choice from a set that is constant"
                raise SpecError("KMC024", message, part.place, help_line)


def _divided(node: Expression) -> tuple[tuple[Argument, ...], tuple[Expression, ...]]:
    """Return the expressions that have to be constant for a relation to be divided, and its parts then."""
    match node:
        case DisjunctionExpr(items=items):
            return (), items
        case LetExpr(body=body):
            return (), (body,)
        case QuantifiedExpr(kind="\\E", ranges=ranges, body=body):
            return tuple(bound.domain for bound in ranges), (body,)
        case ApplyExpr(operator=OperatorDefinition(parameters=parameters, body=inner, recursive=False)):
            if inner is None or any(one.arity for one in parameters):
                return (), ()
            return node.arguments, (inner,)
        case _:
            return (), ()


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
