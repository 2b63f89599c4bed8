"""The premises of a model's invariants that a search has to look for.

Most premises are true in a state near the initial ones. A short walk finds those before anything is compiled, so that
the search evaluates only the others. The walk depends on the spec alone, and not on a limit on levels: the premises
that are compiled belong to the meaning of a saved run, and `--resume` may change the limits.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

from kmc.actions.relation import ActionInstance, NextStateRelation
from kmc.errors import KmcError
from kmc.frontend.model import Model
from kmc.frontend.premises import premises_of
from kmc.invariants.kinds import PROPERTIES_MAX, Role
from kmc.invariants.properties import InvariantPremise, holds
from kmc.lang.order import sort_key
from kmc.lang.records import State
from kmc.reference.states.initial import each_initial_state

STEPS_MAX = 48
"""The length of the walk: some milliseconds."""

TRIES_MAX = 1000
"""The greatest number of instances of actions that the walk evaluates."""

CPU_SECONDS_MAX = 10.0
"""The time after which the walk is given up, with all that it found: some action has very many choices.

Other walks take a quarter of a second at most, so the speed of the machine does not decide what is compiled, on which
`--resume` depends.
"""

CHOICES_MAX = 64
"""The greatest number of successors, or of initial states, of which the walk takes the least."""


class _GivenUp(Exception):
    """The walk takes too long."""


def with_premises(model: Model, start: State | None = None) -> Model:
    """The model with the premises of its invariants that no state of the walk satisfies."""
    at_most = PROPERTIES_MAX - len(model.predicates(Role.WITNESSED, 1))
    premises = premises_of(model.invariants, model.spec.root, at_most)
    return replace(model, premises=_open(model, premises, start) if premises else ())


def _open(model: Model, premises: tuple[InvariantPremise, ...], start: State | None) -> tuple[InvariantPremise, ...]:
    """The premises that no state of the walk satisfies."""
    left = premises
    try:
        for state in _Walk(model).states(start):
            left = tuple(premise for premise in left if not _is_true(premise, model, state))
            if not left:
                break
    except _GivenUp:
        return premises
    except KmcError:
        pass  # The search meets the same error, and reports it with its trace.
    return left


def _is_true(premise: InvariantPremise, model: Model, state: State) -> bool:
    """Whether a premise has a value in a state, and is true there."""
    try:
        return holds(premise, model.spec.files, state)
    except KmcError:
        return False


class _Walk:
    """One behaviour of a model, the same in every process: whatever is chosen is sorted before."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._relation = NextStateRelation(model.spec.actions, model.spec.state_class, model.spec.files)
        self._chance = random.Random(0)
        self._tries = 0
        self._ends = time.thread_time() + CPU_SECONDS_MAX

    def states(self, start: State | None) -> Iterator[State]:
        """The states of the behaviour, none if there are too many to begin with."""
        first = [start] if start is not None else list(islice(each_initial_state(self._model), CHOICES_MAX + 1))
        state: State | None = min(first, key=sort_key) if len(first) <= CHOICES_MAX else None
        for _ in range(STEPS_MAX):
            if state is None:
                return
            yield state
            state = self._next(state) if self._is_inside(None, state) else None

    def _next(self, state: State) -> State | None:
        """A successor by a random instance that changes something; None if there is none."""
        instances = sorted(self._relation.instances(state), key=_instance_key)
        self._chance.shuffle(instances)
        for instance in instances:
            if time.thread_time() >= self._ends:
                raise _GivenUp
            self._tries += 1
            if self._tries > TRIES_MAX:
                return None
            successors = self._relation.successors(instance, state, CHOICES_MAX + 1)
            changed = [each for each in successors if each != state] if len(successors) <= CHOICES_MAX else []
            inside = [each for each in changed if self._is_inside(state, each)]
            if inside:
                return min(inside, key=sort_key)
        return None

    def _is_inside(self, source: State | None, state: State) -> bool:
        model, files = self._model, self._model.spec.files
        of_step = source is None or all(holds(each, files, source, state) for each in model.action_constraints)
        return of_step and all(holds(constraint, files, state) for constraint in model.constraints)


def _instance_key(instance: ActionInstance) -> Any:
    return instance.action.title, tuple(map(sort_key, instance.inputs))
