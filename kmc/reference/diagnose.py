"""The errors of one state, for an engine that only knows that its evaluation fails.

The rules are those of `kmc.reference.search`: constraints are evaluated in their order up to the first that is false,
and the action properties are evaluated for a step outside of the constraints too.
"""

from __future__ import annotations

from kmc.actions.relation import NextStateRelation
from kmc.errors import KmcError
from kmc.frontend.model import Model
from kmc.invariants.kinds import Role
from kmc.invariants.properties import Predicate, holds
from kmc.lang.records import State
from kmc.liveness.lasso_queries import AtomHolds, StepAtomHolds
from kmc.liveness.problem import TemporalProblem
from kmc.reference.temporal.behaviours import behaviours_of


def check_errors(model: Model, state: State, *, witnessed: tuple[Predicate, ...]) -> list[KmcError]:
    """The errors of the invariants in a state, and of the reachable properties that are evaluated there."""
    errors: list[KmcError] = []
    for predicate in (*model.invariants, *witnessed):
        try:
            holds(predicate, model.spec.files, state)
        except KmcError as error:
            errors.append(error)
    return errors


def initial_errors(model: Model, state: State) -> list[KmcError]:
    """The error of the constraints in an initial state."""
    try:
        _all_hold(model, model.constraints, state)
    except KmcError as error:
        return [error]
    return []


def expansion_errors(model: Model, relation: NextStateRelation, state: State) -> list[KmcError]:
    """The errors of the actions in a state, or else those of the properties of its steps."""
    errors = relation.errors(state)
    if errors:
        return errors
    for _, _, successor in relation.steps(state):
        try:
            if _all_hold(model, model.constraints, successor):
                _all_hold(model, model.action_constraints, state, successor)
            for prop in model.predicates(Role.CHECKED, 2):
                holds(prop, model.spec.files, state, successor)
        except KmcError as error:
            errors.append(error)
    return errors


class FailingState(Exception):
    """The cause of an error of a temporal formula: the state in which it has no value, or a step from it has none."""

    def __init__(self, state: State) -> None:
        super().__init__(state)
        self.state = state


def raise_temporal_error(model: Model, problem: TemporalProblem, state: State) -> None:
    """Raise the error of a predicate of temporal formulas in a state or for one of its steps, if there is one.

    Of an action beside the next-state relation too. The cause of the error is a FailingState.
    """
    try:
        _evaluate_atoms(model, problem, state)
    except KmcError as error:
        raise error from FailingState(state)


def _evaluate_atoms(model: Model, problem: TemporalProblem, state: State) -> None:
    relation = NextStateRelation(model.spec.other_actions, model.spec.state_class, model.spec.files)
    for error in relation.errors(state):
        raise error
    behaviours = behaviours_of(model, problem, [state], 1)
    for index in range(len(problem.atoms)):
        behaviours.has(AtomHolds(index), 0)
    for target in behaviours.targets(0):
        for index in range(len(problem.step_atoms)):
            behaviours.has_step(StepAtomHolds(index), 0, target)


def _all_hold(model: Model, predicates: tuple[Predicate, ...], *states: State) -> bool:
    return all(holds(predicate, model.spec.files, *states) for predicate in predicates)
