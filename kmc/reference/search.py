"""The breadth-first search of the reference interpreter: level by level, one plain loop, TLC's counting.

Invariant: the outcome depends on the model alone. A level in which something fails is finished; the least finding is
reported (`kmc.reference.states.findings`), and its trace uses the least predecessor at every level, so that every
engine can report the same one.

A failed evaluation has no effect on the graph: a state in which an action fails has no successors, and a state in which
an invariant or reachable property fails to evaluate violates no invariant. Both are errors of the run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

from kmc.actions.coverage import Coverage
from kmc.actions.relation import AssertionFailure, NextStateRelation, Step
from kmc.errors import InvariantError, KmcError
from kmc.frontend.growing_variables import GrowthWatch
from kmc.frontend.model import Model
from kmc.invariants.kinds import Role
from kmc.invariants.properties import Predicate, holds
from kmc.lang.records import State
from kmc.liveness.problem import TemporalProblem
from kmc.process import cpu_seconds, memory_bytes, peak_memory_bytes
from kmc.reference.search_end import SearchEnd, reported_verdict, search_end
from kmc.reference.states.findings import Finding, Findings
from kmc.reference.states.identity import StateSet, ViewOrder
from kmc.reference.states.initial import initial_states
from kmc.reference.states.replay import check_violation, error_at_end
from kmc.reference.states.state_graph import StateGraph
from kmc.reference.states.traces import trace_of
from kmc.reference.temporal.behaviours import GrowingBehaviours
from kmc.reference.temporal.early_refutations import ObviousEarlyLassos
from kmc.reference.temporal.lasso_finder import LassosUnfinished
from kmc.reference.temporal.vacuity import Dropping, vacuous_in
from kmc.reference.temporal.verdicts import (
    TemporalOutcome,
    assumed_fairness,
    bound_of,
    interpreted,
    is_refuted,
    lasso_seconds,
    temporal_verdicts,
)
from kmc.result import Bound, Counters, Limits, PropertyVerdict, Result, Verdict, Violation, without_claims

Asked = TypeVar("Asked", bound=Predicate)

ENGINE = "python"
_CLOCK_EVERY = 128


class Search:
    """One run over a model.

    `start` replaces the initial states; `keep_going` continues after a violation, as TLC's -continue does; `progress`
    is called about once a second with the counters. A model with a view needs `view_order`, which gives the order of
    the states of one view (`kmc.compiler.view_order`), or None for the order of their values. `problem` has the
    temporal properties; they are checked when the search has found no other failure. Unless it keeps going, the search
    ends at the level where a prefix or a lasso that stutters refutes one.
    """

    def __init__(
        self,
        model: Model,
        limits: Limits | None = None,
        *,
        keep_going: bool = False,
        start: State | None = None,
        progress: Callable[[Counters], None] | None = None,
        view_order: Callable[[Model], ViewOrder | None] | None = None,
        problem: TemporalProblem | None = None,
    ) -> None:
        model = model.searched
        spec = model.spec
        self._model = model
        self._limits = limits or Limits()
        self._keep_going = keep_going
        self._start = start
        self._problem = problem
        self._early = ObviousEarlyLassos(problem) if problem is not None and not keep_going else None
        self._progress = progress
        self._constrained = bool(model.constraints or model.action_constraints)
        self._relation = NextStateRelation(spec.actions, spec.state_class, spec.files)
        self._coverage = Coverage(spec.actions)
        self._findings = Findings()
        self._generated = self._initial = self._expanded = self._cut = 0
        self._reached: set[Predicate] = set()
        self._wanted = model.predicates(Role.WITNESSED, 1)
        self._unstored: set[Any] = set()
        self._failing: set[Any] = set()
        self._beyond_bound = False
        self._lassos_until: float | None = None
        self._stopped: Bound | None = None
        self._began = self._told = time.monotonic()
        self._cpu_began = cpu_seconds()
        self.graph = StateGraph(StateSet(spec.state_class, model.symmetry, model.view, _order(model, view_order)))
        self._watch = GrowthWatch()
        self._behaviours = GrowingBehaviours(model, problem, self.graph.states) if problem is not None else None

    def run(self) -> Result:
        """Explore until done, a violation, a limit or Ctrl-C. Raises KmcError when there is no initial state."""
        interrupted = False
        violation: Violation | None = None
        temporal: TemporalOutcome | None = None
        try:
            self._explore()
        except KeyboardInterrupt:
            interrupted = True
        violation = self._violation()
        if violation is None and not interrupted and self._problem is not None:
            try:
                temporal = self._temporal(self._problem)
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
            growing=self._watch.growing,
        )

    def _explore(self) -> None:
        level, expanded = self._first_level(), range(0)
        depth_limit = self._depth_limit()
        while self._end(level, expanded) is None:
            if self._has_states_enough():
                self._stopped = Bound.STATES
                return
            storing = depth_limit is None or len(self.graph.levels) < depth_limit
            for index in level:
                if self._expanded % _CLOCK_EVERY == 0 and self._out_of_resources():
                    return
                self._expand(index, storing)
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

    def _is_refuted(self, expanded: range) -> bool:
        """Return whether a temporal property is refuted for certain, now that a level has been expanded."""
        if self._early is None or self._behaviours is None:
            return False
        try:
            self._behaviours.grow(expanded.stop)
            return self._early.is_found(self._behaviours, expanded, self.graph.levels[0])
        except KmcError:
            # The reported error does not depend on the order of evaluation: all predicates are evaluated later.
            self._early = None
            return False

    def _next_level(self) -> range:
        """Close a level. A reachable property is evaluated until the end of the level that reaches it."""
        self._wanted = tuple(prop for prop in self._model.predicates(Role.WITNESSED, 1) if prop not in self._reached)
        self._findings.close()
        level = self.graph.commit_level()
        states = self.graph.states
        self._watch.level_made(
            len(self.graph.levels), lambda count: (states[k] for k in level[:: max(1, len(level) // count)])
        )
        return level

    def _depth_limit(self) -> int | None:
        limits = [limit for limit in (self._limits.depth, self._model.max_depth) if limit is not None]
        return min(limits, default=None)

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

    def _first_level(self) -> range:
        for state in initial_states(self._model) if self._start is None else (self._start,):
            self._generated += 1
            self._initial += 1
            try:
                self._take(None, state, in_model=self._in_model(state, None), storing=True)
            except KmcError as error:
                self._findings.add(Finding(Verdict.ERROR, None, 0, None, state, None, error))
        return self._next_level()

    def _in_model(self, state: State, source: Any) -> bool:
        if not self._constrained:
            return True
        model, files = self._model, self._model.spec.files
        if not all(holds(constraint, files, state) for constraint in model.constraints):
            return False
        return source is None or all(holds(c, files, source, state) for c in model.action_constraints)

    def _expand(self, index: int, storing: bool) -> None:
        source = self.graph.states[index]
        fired: dict[str, int] = {}
        steps, errors = self._steps(source)
        for action, _, successor in steps:
            self._generated += 1
            fired[action.title] = fired.get(action.title, 0) + 1
            try:
                in_model = self._in_model(successor, source)
                self._take(index, successor, in_model=in_model, storing=storing)
                self._check_step(index, source, successor)
            except KmcError as error:
                errors.append(error)
        self._coverage.credit(fired)
        for failure in errors:
            verdict = Verdict.ASSERTION if isinstance(failure, AssertionFailure) else Verdict.ERROR
            self._findings.add(Finding(verdict, None, 0, None, source, index, failure))
        if not steps and not errors and self._model.deadlock:
            self._findings.add(Finding(Verdict.DEADLOCK, None, 0, None, source, index))

    def _steps(self, source: Any) -> tuple[list[Step], list[KmcError]]:
        try:
            return list(self._relation.steps(source)), []
        except KmcError:
            return [], self._relation.errors(source)

    def _take(self, source: int | None, state: State, *, in_model: bool, storing: bool) -> None:
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

    def _check_state(self, source: int | None, state: State) -> None:
        invariants = self._model.invariants
        failed, errors = self._ask(invariants, state)
        if self._wanted:
            unreached, further = self._ask(self._wanted, state)
            errors += further
            if not further:
                self._reached.update(prop for prop in self._wanted if prop not in unreached)
        for error in errors:
            self._fail(Finding(Verdict.ERROR, None, 1 + len(invariants), source, state, None, error))
        for invariant in () if errors else failed:
            order = invariants.index(invariant)
            self._fail(Finding(Verdict.VIOLATION, invariant.name, order, source, state))

    def _ask(self, predicates: tuple[Asked, ...], state: State) -> tuple[list[Asked], list[KmcError]]:
        """The predicates that are false in a state, and the errors of those that fail to evaluate."""
        files = self._model.spec.files
        failed: list[Asked] = []
        errors: list[KmcError] = []
        for predicate in predicates:
            try:
                if not holds(predicate, files, state):
                    failed.append(predicate)
            except InvariantError as error:
                errors.append(error)
        return failed, errors

    def _fail(self, finding: Finding) -> None:
        self._failing.add(finding.state)
        self._findings.add(finding, self.graph.known.orbit(finding.state))

    def _check_step(self, index: int, source: Any, successor: State) -> None:
        properties, files = self._model.predicates(Role.CHECKED, 2), self._model.spec.files
        failed = [order for order, prop in enumerate(properties) if not holds(prop, files, source, successor)]
        for order in failed:
            position = len(self._model.invariants) + order
            self._findings.add(
                Finding(Verdict.VIOLATION, properties[order].name, position, index, successor, is_step=True)
            )

    def _temporal(self, problem: TemporalProblem) -> TemporalOutcome:
        initial = self.graph.levels[0] if self.graph.levels else 0
        assert self._behaviours is not None, "there is a problem"
        self._behaviours.grow(self._expanded)
        ended = time.monotonic()
        seconds = lasso_seconds(self._limits.seconds, ended - self._began, self._stopped)
        self._lassos_until = None if seconds is None else ended + seconds
        dropping = Dropping.of(stopped=self._stopped is not None, cut=self._cut > 0)
        return interpreted(self._model, problem, self._behaviours, initial, self._start, self._tell_activity, dropping)

    def _tell_activity(self, activity: str) -> None:
        if self._lassos_until is not None and time.monotonic() >= self._lassos_until:
            raise LassosUnfinished
        if self._progress is not None:
            self._progress(replace(self.counters(), activity=activity))

    def _result(self, violation: Violation | None, temporal: TemporalOutcome | None, interrupted: bool) -> Result:
        model = self._model
        counters = self.counters()
        violation = violation or (temporal.violation if temporal is not None else None)
        bound = bound_of(model, self._stopped, self._cut, temporal, from_start=self._start is not None)
        verdict = reported_verdict(violation, interrupted=interrupted, bound=bound)
        result = Result(
            verdict=verdict,
            counters=counters,
            initial=self._initial,
            levels=tuple(self.graph.levels),
            generated_by_action=self._coverage.generated(),
            properties=tuple(self._verdicts(temporal, is_whole=bound is None and not counters.left)),
            violation=violation,
            bound=bound if verdict is Verdict.BOUND_REACHED or is_refuted(violation) else None,
            unreached=tuple(prop.name for prop in model.predicates(Role.WITNESSED, 1) if prop not in self._reached),
            never_fired=self._coverage.never_fired(),
            collision_bound=0.0,
            cpu_seconds=cpu_seconds() - self._cpu_began,
            peak_memory_bytes=peak_memory_bytes(),
            engine=ENGINE,
            cut=self._cut,
            fairness=assumed_fairness(self._problem) if temporal is not None and self._problem is not None else (),
            cut_fairness=temporal.cut if temporal is not None else (),
            vacuous=vacuous_in(model, violation, temporal.vacuous if temporal is not None else ()),
        )
        return without_claims(result)

    def _violation(self) -> Violation | None:
        least = self._findings.least(self.graph)
        if least is None:
            return None
        trace = trace_of(self._model, self._relation, self.graph, least, self._start)
        error = least.error and error_at_end(self._model, trace, least.state, least.error)
        violation = Violation(least.verdict, least.name, trace, error, least.is_step)
        check_violation(self._model, violation, self._start)
        return violation

    def _verdicts(self, temporal: TemporalOutcome | None, *, is_whole: bool) -> Iterator[PropertyVerdict]:
        for prop in self._model.predicates(Role.CHECKED):
            failed = self._findings.count(prop.name)
            yield PropertyVerdict(prop.name, "violated" if failed else "holds", failed)
        yield from temporal_verdicts(self._model, temporal, is_whole=is_whole)


def _order(model: Model, view_order: Callable[[Model], ViewOrder | None] | None) -> ViewOrder | None:
    """The order of the states of one view, if the model has a view."""
    if model.view is None:
        return None
    if view_order is None:
        raise ValueError("a model with a view needs view_order, such as kmc.compiler.view_order.fingerprint_order")
    return view_order(model)
