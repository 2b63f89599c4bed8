"""Random behaviours, checked as they are generated; for state spaces that no search can finish.

A behaviour begins in a random initial state. In every state it chooses one of the steps that TLC would generate there,
all equally likely; so a successor that is generated twice is twice as likely. As in TLC, all generated successors are
checked, not only the chosen one. Steps outside of the constraints are checked but not chosen. TLC chooses an action
first; here the choice is among the steps, so an action is as likely as the number of its steps.

Invariant: a seed determines the behaviours, on every machine. Steps are sorted before one is chosen, so the order of a
set or dict does not matter. The only source of randomness is `random.Random(seed).random()`, whose sequence Python
keeps stable. The states are those of a Python spec (`kmc.reference.simulation`) or of a TLA+ module.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from random import Random
from typing import Any, NoReturn

from kmc.actions.coverage import Coverage
from kmc.actions.relation import AssertionFailure
from kmc.errors import KmcError
from kmc.process import memory_bytes
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


@dataclass(frozen=True, slots=True)
class WalkOptions:
    """The size of a simulation: `count` behaviours of at most `depth` states, and its limits of time and memory.

    `progress` is called about once a second.
    """

    seed: int
    depth: int
    count: int
    limits: Limits
    progress: Callable[[SimulationCounters], None] | None = None

    def __post_init__(self) -> None:
        if self.depth < 1 or self.count < 1:
            raise ValueError(f"depth and count are at least 1, not {self.depth} and {self.count}")


class _Stop(Exception):
    """Ends the simulation: with a violation, or because a limit was passed."""

    def __init__(self, violation: Violation | None = None, bound: Bound | None = None) -> None:
        super().__init__()
        self.violation = violation
        self.bound = bound


class RandomWalks(ABC):
    """A simulation over states and steps that a subclass gives; a step is any value that the subclass knows."""

    def __init__(self, titles: Sequence[str], options: WalkOptions, *, checks_deadlock: bool) -> None:
        self._options = options
        self._checks_deadlock = checks_deadlock
        self._random = Random(options.seed)
        self._coverage = Coverage(titles)
        self._behaviours = self._generated = self._longest = 0
        self._stop = _Stop()
        self._began = self._told = time.monotonic()

    @abstractmethod
    def _beginnings(self) -> Sequence[Any]:
        """Return the initial states, sorted; KmcError where there are none."""

    @abstractmethod
    def _steps_from(self, state: Any) -> Sequence[Any]:
        """Return all steps of a state, sorted, those to one successor together; KmcError where there are none."""

    @abstractmethod
    def _title_and_successor(self, step: Any) -> tuple[str, Any]:
        """Return the title of a step's action, and the state that it leads to."""

    @abstractmethod
    def _trace_step(self, step: Any) -> TraceStep:
        """Return a step as one of a trace."""

    @abstractmethod
    def _failed_in(self, state: Any, *, is_initial: bool) -> str | None:
        """Return the first invariant that is false in a state; KmcError where one has no truth value."""

    @abstractmethod
    def _broken_by(self, source: Any, successor: Any) -> str | None:
        """Return the first action property that a step breaks; KmcError where one has no truth value."""

    def _broken_at_first(self, state: Any) -> str | None:
        """Return the first property that an initial state breaks, before any step."""
        return None

    @abstractmethod
    def _in_model(self, state: Any, source: Any) -> bool:
        """Return whether all constraints hold; `source` is None for an initial state."""

    @property
    def _unreached_names(self) -> tuple[str, ...]:
        """Return the goals that were not reached."""
        return ()

    def run(self) -> SimulationResult:
        """Run the behaviours. Stops at the first violation, at a limit of time or memory, and at Ctrl-C."""
        interrupted = self._run_behaviours()
        return SimulationResult(
            seed=self._options.seed,
            counters=self._counters(),
            violation=self._stop.violation,
            generated_by_action=self._coverage.generated(),
            never_fired=self._coverage.never_fired(),
            unreached=self._unreached_names,
            bound=self._stop.bound,
            interrupted=interrupted,
        )

    def _run_behaviours(self) -> bool:
        """Run the behaviours; True when Ctrl-C ended them."""
        try:
            beginnings = self._beginnings()
            self._generated += len(beginnings)
            for state in beginnings:
                self._check_first(TraceStep(state))
            beginnings = [state for state in beginnings if self._in_model(state, None)]
            for _ in range(self._options.count if beginnings else 0):
                self._behaviour(beginnings[self._below(len(beginnings))])
        except _Stop as stop:
            self._stop = stop
            if stop.violation is not None:
                self._longest = max(self._longest, len(stop.violation.trace))
        except KeyboardInterrupt:
            return True
        return False

    def _counters(self) -> SimulationCounters:
        return SimulationCounters(self._behaviours, self._generated, self._longest, time.monotonic() - self._began)

    def _below(self, count: int) -> int:
        """A number from 0 to `count` - 1, each equally likely up to rounding."""
        return int(self._random.random() * count)

    def _behaviour(self, first: Any) -> None:
        path = [TraceStep(first)]
        self._behaviours += 1
        while len(path) < self._options.depth:
            self._longest = max(self._longest, len(path))
            self._look_at_limits()
            steps = self._checked_steps(path)
            if not steps:
                return
            path.append(self._trace_step(steps[self._below(len(steps))]))
        self._longest = max(self._longest, len(path))

    def _look_at_limits(self) -> None:
        now = time.monotonic()
        limits, progress = self._options.limits, self._options.progress
        if limits.seconds is not None and now - self._began >= limits.seconds:
            raise _Stop(bound=Bound.TIME)
        if limits.memory_bytes is not None and memory_bytes() >= limits.memory_bytes:
            raise _Stop(bound=Bound.MEMORY)
        if progress is not None and now - self._told >= PROGRESS_SECONDS:
            self._told = now
            progress(self._counters())

    def _checked_steps(self, path: list[TraceStep]) -> list[Any]:
        """The steps from the end of `path` within the constraints, sorted; all steps are checked."""
        steps = self._steps(path)
        allowed: list[Any] = []
        for _, same in groupby(steps, key=lambda step: self._title_and_successor(step)[1]):
            alike = list(same)
            first = self._trace_step(alike[0])
            self._check_state([*path, first])
            if self._step_is_allowed(path, first):
                allowed.extend(alike)
        return allowed

    def _steps(self, path: list[TraceStep]) -> Sequence[Any]:
        state = path[-1].state
        try:
            steps = self._steps_from(state)
        except KmcError as error:
            _fail(path, error)
        self._generated += len(steps)
        self._coverage.credit(Counter(self._title_and_successor(step)[0] for step in steps))
        if not steps and self._checks_deadlock:
            raise _Stop(Violation(Verdict.DEADLOCK, None, Trace(tuple(path))))
        return steps

    def _check_first(self, first: TraceStep) -> None:
        """Check an initial state."""
        self._check_state([first])
        broken = self._broken_at_first(first.state)
        if broken is not None:
            raise _Stop(Violation(Verdict.VIOLATION, broken, Trace((first,)), is_step=True))

    def _check_state(self, path: list[TraceStep]) -> None:
        """Check the last state of `path`, which has just been generated."""
        try:
            failed = self._failed_in(path[-1].state, is_initial=len(path) == 1)
        except KmcError as error:
            _fail(path, error)
        if failed is not None:
            raise _Stop(Violation(Verdict.VIOLATION, failed, Trace(tuple(path))))

    def _step_is_allowed(self, path: list[TraceStep], step: TraceStep) -> bool:
        """Check the step from the end of `path`; whether it stays in the model."""
        source = path[-1].state
        try:
            broken = self._broken_by(source, step.state)
            if broken is not None:
                raise _Stop(Violation(Verdict.VIOLATION, broken, Trace((*path, step)), is_step=True))
            return self._in_model(step.state, source)
        except KmcError as error:
            _fail(path, error)


def _fail(path: list[TraceStep], error: KmcError) -> NoReturn:
    verdict = Verdict.ASSERTION if isinstance(error, AssertionFailure) else Verdict.ERROR
    raise _Stop(Violation(verdict, None, Trace(tuple(path)), error))
