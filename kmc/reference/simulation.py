"""Simulation of a spec in Python: its states and steps for `RandomWalks`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kmc.actions.relation import NextStateRelation, Step
from kmc.errors import KmcError
from kmc.frontend.model import Model
from kmc.invariants.kinds import Role
from kmc.invariants.properties import Refinement, begins_as_refined, holds
from kmc.lang.order import sort_key
from kmc.lang.records import State
from kmc.reference.random_walks import RandomWalks, SimulationCounters, SimulationResult, WalkOptions
from kmc.reference.states.findings import error_rank
from kmc.reference.states.initial import initial_states
from kmc.reference.states.traces import trace_step
from kmc.result import Limits, TraceStep


def simulate(
    model: Model,
    *,
    seed: int,
    depth: int,
    count: int,
    start: State | None = None,
    progress: Callable[[SimulationCounters], None] | None = None,
    limits: Limits | None = None,
) -> SimulationResult:
    """Run `count` behaviours of at most `depth` states from the initial states, or from `start`.

    Stops at the first violation, whose trace need not be the shortest, at a limit of time or memory, and at Ctrl-C.
    `progress` is called about once a second. Raises KmcError when there is no initial state, and ValueError when
    `depth` or `count` is less than 1.
    """
    return simulate_spec(model, start, WalkOptions(seed, depth, count, limits or Limits(), progress))


def simulate_spec(model: Model, start: State | None, options: WalkOptions) -> SimulationResult:
    """Run behaviours of this number and depth, as `simulate` does."""
    return _Simulation(model, start, options).run()


class _Simulation(RandomWalks):
    def __init__(self, model: Model, start: State | None, options: WalkOptions) -> None:
        spec = model.spec
        super().__init__([action.title for action in spec.actions], options, checks_deadlock=model.deadlock)
        self._model = model
        self._start = start
        self._relation = NextStateRelation(spec.actions, spec.state_class, spec.files)
        self._unreached = list(model.predicates(Role.WITNESSED, 1))

    @property
    def _unreached_names(self) -> tuple[str, ...]:
        return tuple(prop.name for prop in self._unreached)

    def _beginnings(self) -> Sequence[Any]:
        return sorted(initial_states(self._model), key=sort_key) if self._start is None else [self._start]

    def _steps_from(self, state: Any) -> list[Step]:
        try:
            return sorted(self._relation.steps(state), key=self._relation.display_key)
        except KmcError:
            raise min(self._relation.errors(state), key=error_rank) from None

    def _title_and_successor(self, step: Step) -> tuple[str, Any]:
        action, _, successor = step
        return action.title, successor

    def _trace_step(self, step: Step) -> TraceStep:
        return trace_step(step)

    def _failed_in(self, state: State, *, is_initial: bool) -> str | None:
        files = self._model.spec.files
        for invariant in self._model.invariants:
            if not holds(invariant, files, state):
                return invariant.name
        self._unreached = [prop for prop in self._unreached if not holds(prop, files, state)]
        return None

    def _broken_at_first(self, state: Any) -> str | None:
        if self._start is not None:
            return None
        files = self._model.spec.files
        refinements = (prop for prop in self._model.predicates(Role.CHECKED, 2) if isinstance(prop, Refinement))
        return next((prop.name for prop in refinements if not begins_as_refined(prop, files, state)), None)

    def _broken_by(self, source: Any, successor: State) -> str | None:
        files = self._model.spec.files
        properties = self._model.predicates(Role.CHECKED, 2)
        return next((prop.name for prop in properties if not holds(prop, files, source, successor)), None)

    def _in_model(self, state: State, source: Any) -> bool:
        model, files = self._model, self._model.spec.files
        if not all(holds(constraint, files, state) for constraint in model.constraints):
            return False
        return source is None or all(holds(c, files, source, state) for c in model.action_constraints)
