"""The breadth-first search that compares states by value: level by level, one plain loop, TLC's counting.

Invariant: the outcome depends on the states and steps alone. A level in which something fails is finished; the least
finding is reported (`kmc.reference.states.findings`), and its trace uses the least predecessor at every level.

A failed evaluation has no effect on the graph: a state in which an action fails has no successors, and a state in which
an invariant fails to evaluate violates no invariant. Both are errors of the run.

The states are those of a Python spec (`kmc.reference.search`) or of a TLA+ module (`kmc.checking.modules`). A subclass
gives them, with their steps and the truth of their properties.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from kmc.actions.coverage import Coverage
from kmc.actions.relation import AssertionFailure
from kmc.errors import KmcError
from kmc.process import cpu_seconds, memory_bytes
from kmc.reference.search_end import SearchEnd, search_end
from kmc.reference.states.findings import Finding, Findings
from kmc.reference.states.state_graph import KnownStates, StateGraph
from kmc.reference.temporal.lasso_finder import LassosUnfinished
from kmc.reference.temporal.verdicts import TemporalOutcome
from kmc.result import Bound, Counters, Limits, Result, Verdict, Violation

Failed: TypeAlias = tuple[int, str]
"""A property that fails: its place in the order of all, and its name."""

_CLOCK_EVERY = 128


class OutOfResources(Exception):
    """The end of the enumeration of states by a limit."""


class ValueSearch(ABC):
    """One run over states and steps that a subclass gives.

    `keep_going` continues after a violation, as TLC's -continue does; `progress` is called about once a second with the
    counters. `titles` are the actions in the order in which they are shown.
    """

    def __init__(
        self,
        known: KnownStates,
        titles: Sequence[str],
        limits: Limits,
        *,
        checks_deadlock: bool,
        keep_going: bool,
        progress: Callable[[Counters], None] | None,
    ) -> None:
        self._limits = limits
        self._checks_deadlock = checks_deadlock
        self._keep_going = keep_going
        self._progress = progress
        self._coverage = Coverage(titles)
        self._findings = Findings()
        self._generated = self._initial = self._expanded = self._cut = 0
        self._unstored: set[Any] = set()
        self._failing: set[Any] = set()
        self._beyond_bound = False
        self._stopped: Bound | None = None
        self._began = self._told = time.monotonic()
        self._cpu_began = cpu_seconds()
        self.graph = StateGraph(known)

    @abstractmethod
    def _beginnings(self) -> Iterable[Any]:
        """Return the initial states; KmcError where there are none."""

    @abstractmethod
    def _in_model(self, state: Any, source: Any) -> bool:
        """Return whether all constraints hold; `source` is None for an initial state."""

    @abstractmethod
    def _steps(self, source: Any) -> tuple[Sequence[tuple[str, Any]], list[KmcError]]:
        """Return the steps of a state, as titles of actions and successors, or none and the errors."""

    @abstractmethod
    def _judge_state(self, state: Any, *, is_initial: bool) -> tuple[Sequence[Failed], list[KmcError]]:
        """Return the invariants that are false in a state, and the errors of properties that cannot be evaluated."""

    @abstractmethod
    def _judge_step(self, source: Any, successor: Any) -> Sequence[Failed]:
        """Return the action properties that a step breaks; KmcError where one cannot be evaluated."""

    @property
    @abstractmethod
    def _invariants_count(self) -> int:
        """Return the number of invariants: errors come behind them in the order of findings."""

    @property
    @abstractmethod
    def _depth_limit(self) -> int | None:
        """Return the bound on levels, if there is one."""

    def _is_refuted(self, expanded: range) -> bool:
        """Return whether a temporal property is refuted for certain, now that a level has been expanded."""
        return False

    @abstractmethod
    def _level_made(self, level: range) -> None:
        """Watch a level that is whole; nothing may depend on it."""

    def _level_begins(self) -> None:
        """Do what is done before a level is expanded; an error ends the run."""
        return

    @abstractmethod
    def _violation(self) -> Violation | None:
        """Return the least finding with a trace that has been replayed."""

    @abstractmethod
    def _judge_behaviours(self) -> TemporalOutcome | None:
        """Return the verdicts on temporal properties, None without any; LassosUnfinished if the time is up."""

    @abstractmethod
    def _result(self, violation: Violation | None, temporal: TemporalOutcome | None, interrupted: bool) -> Result:
        """Return the result of the run."""

    def run(self) -> Result:
        """Explore until done, a violation, a limit or Ctrl-C; then judge temporal properties, unless something failed.

        Raises KmcError if there is no initial state, or if a temporal property cannot be checked.
        """
        interrupted = False
        temporal: TemporalOutcome | None = None
        try:
            self._explore()
        except KeyboardInterrupt:
            interrupted = True
        violation = self._violation()
        if violation is None and not interrupted:
            try:
                temporal = self._judge_behaviours()
            except KeyboardInterrupt:
                interrupted = True
            except LassosUnfinished:
                self._stopped = self._stopped or Bound.TIME
        return self._result(violation, temporal, interrupted)

    def counters(self) -> Counters:
        """The counters so far."""
        return Counters(
            self._generated,
            len(self.graph.states),
            len(self.graph.states) - self._expanded,
            max(1, len(self.graph.levels)),
            time.monotonic() - self._began,
            memory_bytes(),
            levels=tuple(self.graph.levels),
        )

    def _explore(self) -> None:
        try:
            level, expanded = self._first_level(), range(0)
        except OutOfResources:
            return
        depth_limit = self._depth_limit
        while self._end(level, expanded) is None:
            if self._has_states_enough():
                self._stopped = Bound.STATES
                return
            self._level_begins()
            storing = depth_limit is None or len(self.graph.levels) < depth_limit
            for index in level:
                if self._expanded % _CLOCK_EVERY == 0 and self._out_of_resources():
                    return
                try:
                    self._expand(index, storing)
                except OutOfResources:
                    return
                self._expanded += 1
            expanded, level = level, self._next_level()
        if self._beyond_bound:
            self._stopped = Bound.DEPTH

    def _end(self, level: range, expanded: range) -> SearchEnd | None:
        """Return why the search ends with a level that was made; `expanded` is the level before it."""
        return search_end(
            keep_going=self._keep_going,
            has_states=bool(level),
            has_failed=bool(self._findings),
            is_refuted=lambda: bool(expanded) and self._is_refuted(expanded),
        )

    def _has_states_enough(self) -> bool:
        """Return whether a level after the first one reaches the limit on states."""
        states = self._limits.states
        return states is not None and len(self.graph.levels) > 1 and len(self.graph.states) >= states

    def _next_level(self) -> range:
        """Close a level."""
        self._findings.close()
        level = self.graph.commit_level()
        self._level_made(level)
        return level

    def _out_of_resources(self) -> bool:
        now = time.monotonic()
        limits = self._limits
        if limits.seconds is not None and now - self._began >= limits.seconds:
            self._stopped = Bound.TIME
        elif limits.memory_bytes is not None and memory_bytes() >= limits.memory_bytes:
            self._stopped = Bound.MEMORY
        if self._progress is not None and now - self._told >= 1.0:
            self._told = now
            self._progress(self.counters())
        return self._stopped is not None

    def _poll(self) -> None:
        """Raise OutOfResources if a limit ends the search now, while states are enumerated."""
        if self._out_of_resources():
            raise OutOfResources

    def _first_level(self) -> range:
        for number, state in enumerate(self._beginnings(), start=1):
            if number % _CLOCK_EVERY == 0:
                self._poll()
            self._generated += 1
            self._initial += 1
            try:
                self._take(None, state, in_model=self._in_model(state, None), storing=True)
            except KmcError as error:
                self._findings.add(Finding(Verdict.ERROR, None, 0, None, state, None, error))
        return self._next_level()

    def _expand(self, index: int, storing: bool) -> None:
        source = self.graph.states[index]
        fired: dict[str, int] = {}
        steps, errors = self._steps(source)
        try:
            for number, (title, successor) in enumerate(steps, start=1):
                if number % _CLOCK_EVERY == 0 and self._out_of_resources():
                    raise OutOfResources
                self._generated += 1
                fired[title] = fired.get(title, 0) + 1
                try:
                    in_model = self._in_model(successor, source)
                    self._take(index, successor, in_model=in_model, storing=storing)
                    self._check_step(index, source, successor)
                except KmcError as error:
                    errors.append(error)
        finally:
            self._coverage.credit(fired)
        for failure in errors:
            verdict = Verdict.ASSERTION if isinstance(failure, AssertionFailure) else Verdict.ERROR
            self._findings.add(Finding(verdict, None, 0, None, source, index, failure))
        if not steps and not errors and self._checks_deadlock:
            self._findings.add(Finding(Verdict.DEADLOCK, None, 0, None, source, index))

    def _take(self, source: int | None, state: Any, *, in_model: bool, storing: bool) -> None:
        """Handle a generated state: store it unless it is outside of the model or bound, and check it if it is new."""
        self._cut += not in_model
        if in_model and storing:
            is_new = self.graph.offer(source, state)
        else:
            if in_model and self.graph.is_known(state):
                return
            self._beyond_bound = self._beyond_bound or in_model
            is_new = state not in self._unstored
            self._unstored.add(state)
        # A failing state is recorded for each of its sources, so that the trace can take the least one.
        if is_new or (self._failing and state in self._failing):
            self._check_state(source, state)

    def _check_state(self, source: int | None, state: Any) -> None:
        failed, errors = self._judge_state(state, is_initial=source is None)
        for error in errors:
            self._fail(Finding(Verdict.ERROR, None, 1 + self._invariants_count, source, state, None, error))
        for order, name in () if errors else failed:
            self._fail(Finding(Verdict.VIOLATION, name, order, source, state))

    def _fail(self, finding: Finding) -> None:
        self._failing.add(finding.state)
        self._findings.add(finding, self.graph.known.counted_as(finding.state))

    def _check_step(self, index: int, source: Any, successor: Any) -> None:
        for order, name in self._judge_step(source, successor):
            position = self._invariants_count + order
            self._findings.add(Finding(Verdict.VIOLATION, name, position, index, successor, is_step=True))
