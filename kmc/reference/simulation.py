"""Simulation: random behaviours, checked as they are generated; for state spaces that no search can finish.

A behaviour begins in a random initial state. In every state it chooses one of the steps that TLC would generate there,
all equally likely; so a successor that is generated twice is twice as likely. As in TLC, all generated successors are
checked, not only the chosen one. Steps outside of the constraints are checked but not chosen. TLC chooses an action
first; here the choice is among the steps, so an action is as likely as the number of its steps.

Invariant: a seed determines the behaviours, on every machine. Steps are sorted in display order before one is chosen,
so the order of a set or dict does not matter. The only source of randomness is `random.Random(seed).random()`, whose
sequence Python keeps stable.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby
from random import Random
from typing import Any, NoReturn

from kmc.actions.coverage import Coverage
from kmc.actions.relation import AssertionFailure, NextStateRelation, Step
from kmc.errors import KmcError
from kmc.frontend.model import Model
from kmc.invariants.kinds import Role
from kmc.invariants.properties import holds
from kmc.lang.order import sort_key
from kmc.lang.records import State
from kmc.process import memory_bytes
from kmc.reference.states.findings import error_rank
from kmc.reference.states.initial import initial_states
from kmc.reference.states.traces import trace_step
from kmc.result import Bound, Limits, Trace, TraceStep, Verdict, Violation

PROGRESS_SECONDS = 1.0
"""The interval between calls of `progress`."""


@dataclass(frozen=True, slots=True)
class SimulationCounters:
    """The progress of a simulation: behaviours ended, states generated (as TLC counts), states of the longest."""

    behaviours: int
    generated: int
    longest: int
    seconds: float


@dataclass(frozen=True, slots=True)
class SimulationResult:
    """The result of a simulation. It is not a proof when nothing was found.

    `behaviours` counts those that were begun, the one with the violation included; `longest` is the number of states
    of the longest. `bound` is the limit of time or memory that ended it, if one did. Actions that never fired and
    reachable properties that were never reached are named, as a hint that depth or number may be too small.
    """

    seed: int
    counters: SimulationCounters
    violation: Violation | None
    generated_by_action: dict[str, int]
    never_fired: tuple[str, ...]
    unreached: tuple[str, ...]
    bound: Bound | None
    interrupted: bool


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
    if depth < 1 or count < 1:
        raise ValueError(f"depth and count are at least 1, not {depth} and {count}")
    run = _Simulation(model, seed, depth, limits or Limits(), progress)
    return run.result(interrupted=run.behaviours(count, start))


class _Stop(Exception):
    """Ends the simulation: with a violation, or because a limit was passed."""

    def __init__(self, violation: Violation | None = None, bound: Bound | None = None) -> None:
        super().__init__()
        self.violation = violation
        self.bound = bound


class _Simulation:
    def __init__(
        self,
        model: Model,
        seed: int,
        depth: int,
        limits: Limits,
        progress: Callable[[SimulationCounters], None] | None,
    ) -> None:
        spec = model.spec
        self._model = model
        self._seed = seed
        self._depth = depth
        self._limits = limits
        self._progress = progress
        self._random = Random(seed)
        self._relation = NextStateRelation(spec.actions, spec.state_class, spec.files)
        self._coverage = Coverage(action.title for action in spec.actions)
        self._unreached = list(model.predicates(Role.WITNESSED, 1))
        self._behaviours = self._generated = self._longest = 0
        self._stop = _Stop()
        self._began = self._told = time.monotonic()

    def behaviours(self, count: int, start: State | None) -> bool:
        """Run the behaviours; True when Ctrl-C ended them."""
        try:
            beginnings = sorted(initial_states(self._model), key=sort_key) if start is None else [start]
            self._generated += len(beginnings)
            for state in beginnings:
                self._check_state([TraceStep(state)])
            beginnings = [state for state in beginnings if self._in_model(state)]
            for _ in range(count if beginnings else 0):
                self._behaviour(beginnings[self._below(len(beginnings))])
        except _Stop as stop:
            self._stop = stop
            if stop.violation is not None:
                self._longest = max(self._longest, len(stop.violation.trace))
        except KeyboardInterrupt:
            return True
        return False

    def result(self, *, interrupted: bool) -> SimulationResult:
        """The result of the simulation so far."""
        return SimulationResult(
            seed=self._seed,
            counters=self._counters(),
            violation=self._stop.violation,
            generated_by_action=self._coverage.generated(),
            never_fired=self._coverage.never_fired(),
            unreached=tuple(prop.name for prop in self._unreached),
            bound=self._stop.bound,
            interrupted=interrupted,
        )

    def _counters(self) -> SimulationCounters:
        return SimulationCounters(self._behaviours, self._generated, self._longest, time.monotonic() - self._began)

    def _below(self, count: int) -> int:
        """A number from 0 to `count` - 1, each equally likely up to rounding."""
        return int(self._random.random() * count)

    def _behaviour(self, first: Any) -> None:
        path = [TraceStep(first)]
        self._behaviours += 1
        while len(path) < self._depth:
            self._longest = max(self._longest, len(path))
            self._look_at_limits()
            steps = self._checked_steps(path)
            if not steps:
                return
            path.append(trace_step(steps[self._below(len(steps))]))
        self._longest = max(self._longest, len(path))

    def _look_at_limits(self) -> None:
        now = time.monotonic()
        limits = self._limits
        if limits.seconds is not None and now - self._began >= limits.seconds:
            raise _Stop(bound=Bound.TIME)
        if limits.memory_bytes is not None and memory_bytes() >= limits.memory_bytes:
            raise _Stop(bound=Bound.MEMORY)
        if self._progress is not None and now - self._told >= PROGRESS_SECONDS:
            self._told = now
            self._progress(self._counters())

    def _checked_steps(self, path: list[TraceStep]) -> list[Step]:
        """The steps from the end of `path` within the constraints, in display order; all steps are checked."""
        steps = self._steps(path)
        allowed = []
        for _, same in groupby(steps, key=lambda step: step[2]):
            alike = list(same)
            self._check_state([*path, trace_step(alike[0])])
            if self._step_is_allowed(path, alike[0]):
                allowed.extend(alike)
        return allowed

    def _steps(self, path: list[TraceStep]) -> list[Step]:
        state = path[-1].state
        try:
            steps = list(self._relation.steps(state))
        except KmcError:
            _fail(path, min(self._relation.errors(state), key=error_rank))
        self._generated += len(steps)
        self._coverage.credit(Counter(action.title for action, _, _ in steps))
        if not steps and self._model.deadlock:
            raise _Stop(Violation(Verdict.DEADLOCK, None, Trace(tuple(path))))
        return sorted(steps, key=self._relation.display_key)

    def _in_model(self, state: State) -> bool:
        return all(holds(constraint, self._model.spec.files, state) for constraint in self._model.constraints)

    def _check_state(self, path: list[TraceStep]) -> None:
        """Check the last state of `path`, which has just been generated."""
        model, files, state = self._model, self._model.spec.files, path[-1].state
        try:
            for invariant in model.invariants:
                if not holds(invariant, files, state):
                    raise _Stop(Violation(Verdict.VIOLATION, invariant.name, Trace(tuple(path))))
            self._unreached = [prop for prop in self._unreached if not holds(prop, files, state)]
        except KmcError as error:
            _fail(path, error)

    def _step_is_allowed(self, path: list[TraceStep], step: Step) -> bool:
        """Check the step from the end of `path`; whether it stays in the model."""
        model, files = self._model, self._model.spec.files
        source, successor = path[-1].state, step[2]
        try:
            for prop in model.predicates(Role.CHECKED, 2):
                if not holds(prop, files, source, successor):
                    trace = Trace((*path, trace_step(step)))
                    raise _Stop(Violation(Verdict.VIOLATION, prop.name, trace, is_step=True))
            return self._in_model(successor) and all(
                holds(constraint, files, source, successor) for constraint in model.action_constraints
            )
        except KmcError as error:
            _fail(path, error)


def _fail(path: list[TraceStep], error: KmcError) -> NoReturn:
    verdict = Verdict.ASSERTION if isinstance(error, AssertionFailure) else Verdict.ERROR
    raise _Stop(Violation(verdict, None, Trace(tuple(path)), error))
