"""The premises of a model's invariants that a search has to look for.

Most premises are true in a state near the initial ones. A short walk finds those before anything is compiled, so that
the search evaluates only the others. The walk is the same for all engines, and so are its answers: each state of it is
reachable within the limit on levels, and the engines find no premise untrue that is true in such a state.
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

CPU_SECONDS_MAX = 0.1
"""The time after which the walk takes no further step."""

CHOICES_MAX = 64
"""The greatest number of successors, or of initial states, of which the walk takes the least."""


def with_premises(model: Model, depth: int | None, start: State | None = None) -> Model:
    """The model with the premises of its invariants that no state of the walk satisfies; `depth` limits the levels."""
    premises = list(
        premises_of(model.invariants, model.spec.root, PROPERTIES_MAX - len(model.predicates(Role.WITNESSED, 1)))
    )
    try:
        for state in _walk(model, depth, start) if premises else ():
            premises = [premise for premise in premises if not _is_true(premise, model, state)]
            if not premises:
                break
    except KmcError:
        pass  # The search meets the same error, and reports it with its trace.
    return replace(model, premises=tuple(premises))


def _is_true(premise: InvariantPremise, model: Model, state: State) -> bool:
    """Whether a premise has a value in a state, and is true there."""
    try:
        return holds(premise, model.spec.files, state)
    except KmcError:
        return False


def _walk(model: Model, depth: int | None, start: State | None) -> Iterator[State]:
    """States of one behaviour, as long as the caller wants more."""
    limits = [limit for limit in (depth, model.max_depth) if limit is not None]
    states_max = min([*limits, STEPS_MAX])
    relation = NextStateRelation(model.spec.actions, model.spec.state_class, model.spec.files)
    rng, ends = random.Random(0), time.thread_time() + CPU_SECONDS_MAX
    first = [start] if start is not None else list(islice(each_initial_state(model), CHOICES_MAX))
    state: Any = min(first, key=sort_key)
    for count in range(states_max):
        yield state
        if count == 0 and not _is_inside(model, None, state):
            return
        state = _next(model, relation, state, rng, ends)
        if state is None:
            return


def _next(model: Model, relation: NextStateRelation, state: State, rng: random.Random, ends: float) -> State | None:
    """A successor by a random instance that changes something; None if there is none, or no time."""
    instances = sorted(relation.instances(state), key=_instance_key)
    rng.shuffle(instances)
    for instance in instances:
        if time.thread_time() >= ends:
            return None
        successors = relation.successors(instance, state)
        changed = [each for each in successors if each != state] if len(successors) <= CHOICES_MAX else []
        inside = [each for each in changed if _is_inside(model, state, each)]
        if inside:
            return min(inside, key=sort_key)
    return None


def _instance_key(instance: ActionInstance) -> Any:
    return instance.action.title, tuple(map(sort_key, instance.inputs))


def _is_inside(model: Model, source: State | None, state: State) -> bool:
    files = model.spec.files
    of_step = source is None or all(holds(each, files, source, state) for each in model.action_constraints)
    return of_step and all(holds(constraint, files, state) for constraint in model.constraints)
