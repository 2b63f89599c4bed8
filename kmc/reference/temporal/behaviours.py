"""The behaviours of a model as the interpreter sees them: states, and steps with all their labels, of plain values.

Invariant: nothing is shared with the native engine's graph but the questions (`kmc.liveness.lasso_queries`). States are
values here, and every predicate is the spec's own function, evaluated when it is needed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import FunctionType
from typing import Any, assert_never

from kmc.actions.action import instances_of
from kmc.actions.relation import NextStateRelation
from kmc.errors import EvaluationError, KmcError
from kmc.frontend.model import Model
from kmc.invariants.properties import holds
from kmc.lang.errors.blame import blamed, body_span
from kmc.lang.guards import advice_on_condition
from kmc.lang.records import State
from kmc.lang.showing import shown
from kmc.liveness.lasso_queries import (
    AllStates,
    AllSteps,
    AndStates,
    AndSteps,
    AtomHolds,
    Changing,
    From,
    HasStep,
    Into,
    Labelled,
    NotStates,
    NotSteps,
    OrStates,
    OrSteps,
    StateSet,
    StepAtomHolds,
    StepSet,
)
from kmc.liveness.problem import StateAtom, StepAtom, TemporalProblem


class Behaviours:
    """States by number, and for the first of them, those that were expanded, all their steps.

    The first `inside` states belong to the graph; those after them, and those with negative numbers, were generated,
    and a constraint or a bound dropped them. They, and single steps that were `dropped`, count where a step enables
    something, and no behaviour goes there.
    """

    def __init__(
        self,
        problem: TemporalProblem,
        states: Sequence[Any],
        inside: int,
        steps: Sequence[Mapping[int, frozenset[int]]],
        files: Collection[str] = (),
        dropped: Collection[tuple[int, int]] = (),
    ) -> None:
        """`steps` has for each expanded state its successors, with the labels of all instances that generate each."""
        self.states = states
        self.inside = inside
        self.outside: list[Any] = []
        self._steps = steps
        self._problem = problem
        self._files = files
        self._dropped = dropped
        self._atoms: dict[tuple[int, int], bool] = {}
        self._enabled: dict[int, tuple[StepSet, dict[int, bool]]] = {}
        self._followed: dict[int, tuple[StepSet, dict[int, frozenset[int]]]] = {}
        self._labels_from: dict[int, frozenset[int]] = {}

    @property
    def expanded(self) -> int:
        """The number of states whose steps are known."""
        return len(self._steps)

    def state(self, index: int) -> Any:
        """The state with a number."""
        return self.states[index] if index >= 0 else self.outside[-1 - index]

    def targets(self, source: int) -> Iterable[int]:
        """The successors of an expanded state."""
        return self._steps[source]

    def successors(self, source: int) -> Iterable[int]:
        """The successors of an expanded state to which a behaviour can go, except itself."""
        return (target for target in self._steps[source] if target != source and self._is_taken(source, target))

    def cut(self, source: int) -> Iterable[int]:
        """The successors of an expanded state to which a constraint or a bound lets no behaviour go."""
        return (target for target in self._steps[source] if not self._is_taken(source, target))

    def _is_taken(self, source: int, target: int) -> bool:
        return 0 <= target < self.inside and (source, target) not in self._dropped

    def evaluate_all(self) -> None:
        """Evaluate each predicate in each state and for each step, as compiled code does; a KmcError where one fails.

        A predicate beside a false one is normally not evaluated, and whether it has a value must not depend on that.
        """
        for index in range(self.inside):
            for atom in range(len(self._problem.atoms)):
                self._atom(atom, index)
        for source, steps in enumerate(self._steps):
            for target in steps:
                for predicate in self._problem.step_atoms:
                    self._truth(predicate, self.states[source], self.state(target))

    def has(self, states: StateSet, index: int) -> bool:
        """Whether a state is in a set. The steps of a state are known only if it is expanded."""
        match states:
            case AllStates():
                return True
            case AtomHolds(atom):
                return self._atom(atom, index)
            case HasStep(steps):
                # By identity: hashing a set of steps takes as long as the answer. The entry keeps the set alive.
                enabled = self._enabled.setdefault(id(steps), (steps, {}))[1]
                if index not in enabled:
                    targets = self._steps[index] if self._may_take(steps, index) else ()
                    enabled[index] = any(self.has_step(steps, index, target) for target in targets)
                return enabled[index]
            case NotStates(negated):
                return not self.has(negated, index)
            case AndStates(parts):
                return all(self.has(part, index) for part in parts)
            case OrStates(parts):
                return any(self.has(part, index) for part in parts)
            case _:
                assert_never(states)

    def successors_by(self, steps: StepSet, source: int) -> frozenset[int]:
        """Return the expanded states to which a behaviour can go from an expanded one by a step of a set."""
        followed = self._followed.setdefault(id(steps), (steps, {}))[1]
        if source not in followed:
            targets = self.successors(source) if self._may_take(steps, source) else ()
            expanded = [target for target in targets if target < self.expanded]
            followed[source] = frozenset([target for target in expanded if self.has_step(steps, source, target)])
        return followed[source]

    def _may_take(self, steps: StepSet, source: int) -> bool:
        """Return False if no step of an expanded state has the label of a set: then none of them is in the set."""
        match steps:
            case Labelled(labels):
                if source not in self._labels_from:
                    self._labels_from[source] = frozenset[int]().union(*self._steps[source].values())
                return not labels.isdisjoint(self._labels_from[source])
            case AndSteps(parts):
                return all(self._may_take(part, source) for part in parts)
            case _:
                return True

    def has_step(self, steps: StepSet, source: int, target: int) -> bool:
        """Whether a pair of states is in a set of steps."""
        match steps:
            case Labelled(labels):
                return not labels.isdisjoint(self._steps[source].get(target, ()))
            case OrSteps(parts):
                return any(self.has_step(part, source, target) for part in parts)
            case AndSteps(parts):
                return all(self.has_step(part, source, target) for part in parts)
            case AllSteps():
                return True
            case StepAtomHolds(number):
                atom = self._problem.step_atoms[number]
                return self._truth(atom, self.states[source], self.state(target))
            case Changing():
                return source != target
            case From(states):
                return self.has(states, source)
            case Into(states):
                return self.has(states, target)
            case NotSteps(negated):
                return not self.has_step(negated, source, target)
            case _:
                assert_never(steps)

    def _atom(self, atom: int, index: int) -> bool:
        if (atom, index) not in self._atoms:
            self._atoms[atom, index] = self._truth(self._problem.atoms[atom], self.state(index))
        return self._atoms[atom, index]

    def _truth(self, predicate: StateAtom | StepAtom, *states: Any) -> bool:
        """The truth of a predicate of a temporal formula; a KmcError at the author's place when it has none."""
        try:
            truth: object = predicate(*states)
        except Exception as error:
            failure: KmcError = blamed(error, self._files)
            raise failure.noting("while evaluating a temporal formula") from error
        if truth is True or truth is False:
            return truth
        span = body_span(predicate) if isinstance(predicate, FunctionType) else None
        advice = advice_on_condition(truth)
        message = f"a predicate of a temporal formula is {shown(truth)}, not True or False"
        raise EvaluationError("KMC268", message, span, advice)


class GrowingBehaviours(Behaviours):
    """The behaviours among the states that a search has found so far, `known_states`; that list may grow."""

    def __init__(self, model: Model, problem: TemporalProblem, known_states: Sequence[State]) -> None:
        spec = model.spec
        self._model = model
        self._grown: list[dict[int, frozenset[int]]] = []
        self._dropped_steps: set[tuple[int, int]] = set()
        super().__init__(problem, known_states, 0, self._grown, spec.files, self._dropped_steps)
        all_actions = (*spec.actions, *spec.other_actions)
        self._labels = {(action.title, given): n for n, (action, given) in enumerate(instances_of(all_actions))}
        self._in_next = NextStateRelation(spec.actions, spec.state_class, spec.files)
        self._apart = NextStateRelation(spec.other_actions, spec.state_class, spec.files)
        self._numbers: dict[Any, int] = {}

    def grow(self, expanded: int) -> None:
        """Take the states found since the last time, and the steps of the first `expanded` ones."""
        self._numbers.update((self.states[index], index) for index in range(self.inside, len(self.states)))
        self.inside = len(self.states)
        self._followed.clear()
        for source in range(self.expanded, expanded):
            self._grown.append(self._steps_of(source))

    def _steps_of(self, source: int) -> dict[int, frozenset[int]]:
        model, state = self._model, self.states[source]
        joined: dict[int, set[int]] = {}
        outside: dict[Any, int] = {}
        for relation in (self._in_next, self._apart):
            for action, arguments, successor in relation.steps(state):
                target = self._number(successor, outside)
                if relation is self._apart and target not in joined:
                    # A behaviour takes steps of Next only.
                    self._dropped_steps.add((source, target))
                joined.setdefault(target, set()).add(self._labels[action.title, arguments])
                constraints = model.action_constraints
                if not all(holds(constraint, model.spec.files, state, successor) for constraint in constraints):
                    self._dropped_steps.add((source, target))
        return {target: frozenset(given) for target, given in joined.items()}

    def _number(self, state: State, outside: dict[Any, int]) -> int:
        """The number of a state; one that is not in the graph has one for each source, since it may be found later."""
        index = self._numbers.get(state, outside.get(state))
        if index is None:
            self.outside.append(state)
            index = outside[state] = -len(self.outside)
        return index


def behaviours_of(model: Model, problem: TemporalProblem, known_states: Sequence[State], expanded: int) -> Behaviours:
    """The behaviours among `known_states`, of which the first `expanded` were expanded."""
    behaviours = GrowingBehaviours(model, problem, list(known_states))
    behaviours.grow(expanded)
    return behaviours
