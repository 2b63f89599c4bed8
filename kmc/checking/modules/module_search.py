"""The breadth-first search over the states of a TLA+ module, with TLC's counting."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from kmc.budget import BudgetSpent, MemorySpent, within_budget
from kmc.checking.modules.checked_module import CheckedModule
from kmc.checking.modules.module_replay import as_beginning, check_module_violation, errors_at
from kmc.checking.modules.module_states import ModuleStates
from kmc.checking.modules.module_temporal import temporal_work
from kmc.checking.modules.module_trace import ModuleTraces, action_of
from kmc.errors import KmcError
from kmc.process import cpu_seconds, peak_memory_bytes
from kmc.reference.search_end import reported_verdict
from kmc.reference.states.findings import Finding
from kmc.reference.temporal.vacuity import Dropping
from kmc.reference.temporal.verdicts import TemporalOutcome, assumed_fairness, bound_of, is_refuted, lasso_seconds
from kmc.reference.value_search import Failed, OutOfResources, ValueSearch
from kmc.result import Bound, Counters, Limits, PropertyVerdict, Result, Verdict, Violation, without_claims
from kmc.tla.run.program import State

ENGINE = "python"


class ModuleSearch(ValueSearch):
    """One run over a module. Its states, steps and counts are TLC's with one worker.

    `start` replaces the initial states.
    """

    def __init__(
        self,
        module: CheckedModule,
        limits: Limits | None = None,
        *,
        keep_going: bool = False,
        start: State | None = None,
        progress: Callable[[Counters], None] | None = None,
    ) -> None:
        program = module.program
        self._states = ModuleStates(program)
        super().__init__(
            self._states,
            program.action_names,
            limits or Limits(),
            checks_deadlock=module.model.deadlock,
            keep_going=keep_going,
            progress=progress,
        )
        self._module = module
        self._program = program
        self._start = start
        self._temporal = temporal_work(module, start)

    def _judge_behaviours(self) -> TemporalOutcome | None:
        if self._temporal is None:
            return None
        seconds = lasso_seconds(self._limits.seconds, time.monotonic() - self._began, self._stopped)
        dropping = Dropping.of(stopped=self._stopped is not None, cut=self._cut > 0)
        return self._temporal.outcome(self.graph, self._expanded, dropping, seconds, self._tell_activity)

    def _tell_activity(self, activity: str) -> None:
        if self._progress is not None:
            self._progress(replace(self.counters(), activity=activity))

    @property
    def _depth_limit(self) -> int | None:
        return self._limits.depth

    @property
    def _invariants_count(self) -> int:
        return len(self._module.of_states)

    def _first_level(self) -> range:
        with self._within_limits():
            return super()._first_level()

    def _expand(self, index: int, storing: bool) -> None:
        if self._limits.seconds is None and self._limits.memory_bytes is None:
            super()._expand(index, storing)
        else:
            with self._within_limits():
                super()._expand(index, storing)

    @contextmanager
    def _within_limits(self) -> Iterator[None]:
        """Meanwhile the evaluation of one long expression ends at the limits on time and memory, too."""
        seconds = self._limits.seconds
        left = None if seconds is None else seconds - (time.monotonic() - self._began)
        try:
            with within_budget(left, self._limits.memory_bytes):
                yield
        except BudgetSpent as spent:
            self._stopped = Bound.MEMORY if isinstance(spent, MemorySpent) else Bound.TIME
            raise OutOfResources from None

    def _level_made(self, level: range) -> None:
        return

    def _beginnings(self) -> Iterable[State]:
        return self._module.initial_states(self._poll) if self._start is None else (self._start,)

    def _in_model(self, state: State, source: State | None) -> bool:
        return self._module.is_in_model(state, source)

    def _steps(self, source: State) -> tuple[Sequence[tuple[str, State]], list[KmcError]]:
        steps: list[tuple[str, State]] = []
        errors: list[KmcError] = []
        try:
            steps = [(action_of(step.label), step.state) for step in self._module.successors(source, self._poll)]
        except KmcError as error:
            errors.append(error)
        if self._temporal is not None:
            self._temporal.record(successor for _, successor in steps)
        return steps, errors

    def _judge_state(self, state: State, *, is_initial: bool) -> tuple[Sequence[Failed], list[KmcError]]:
        failed: list[Failed] = []
        errors: list[KmcError] = []
        for order, part in enumerate(self._module.of_states):
            if part.is_initial and (not is_initial or self._start is not None):
                continue
            try:
                if not part.is_true(state):
                    failed.append((order, part.property_name))
            except KmcError as error:
                errors.append(as_beginning(error) if is_initial else error)
        return failed, errors

    def _judge_step(self, source: State, successor: State) -> Sequence[Failed]:
        return [
            (order, part.property_name)
            for order, part in enumerate(self._module.of_steps)
            if not part.is_true(source, successor)
        ]

    def _violation(self) -> Violation | None:
        least = self._findings.least(self.graph)
        if least is None:
            return None
        trace = ModuleTraces(self._module, self._states, self.graph, self._start).trace_of(least)
        error = least.error
        if error is not None and trace.steps[-1].state != least.state:
            # Under symmetry the trace ends in another state of the class, and its error has other values.
            error = next(
                (
                    one
                    for one in errors_at(self._module, [step.state for step in trace.steps])
                    if one.code == error.code
                ),
                error,
            )
        is_of_beginning = least.verdict is Verdict.VIOLATION and not least.is_step and self._is_initial_part(least)
        violation = Violation(least.verdict, least.name, trace, error, least.is_step, is_of_beginning)
        check_module_violation(self._module, violation, self._start)
        return violation

    def _is_initial_part(self, finding: Finding) -> bool:
        return self._module.of_states[finding.order].is_initial

    def _result(self, violation: Violation | None, temporal: TemporalOutcome | None, interrupted: bool) -> Result:
        violation = violation or (temporal.violation if temporal is not None else None)
        bound = bound_of(self._module.model, self._stopped, self._cut, temporal, from_start=self._start is not None)
        judged = dict(self._of_behaviours(temporal, is_whole=bound is None))
        verdict = reported_verdict(violation, interrupted=interrupted, bound=bound)
        result = Result(
            verdict=verdict,
            counters=self.counters(),
            initial=self._initial,
            levels=tuple(self.graph.levels),
            generated_by_action=self._coverage.generated(),
            properties=tuple(self._verdict(name, judged.get(name)) for name in self._module.property_names),
            violation=violation,
            bound=bound if verdict is Verdict.BOUND_REACHED or is_refuted(violation) else None,
            unreached=(),
            never_fired=self._coverage.never_fired(),
            collision_bound=0.0,
            cpu_seconds=cpu_seconds() - self._cpu_began,
            peak_memory_bytes=peak_memory_bytes(),
            engine=ENGINE,
            cut=self._cut,
            fairness=assumed_fairness(self._temporal.problem) if temporal is not None and self._temporal else (),
            cut_fairness=temporal.cut if temporal is not None else (),
            vacuous=temporal.vacuous if temporal is not None and violation is None else (),
        )
        return without_claims(result)

    def _of_behaviours(
        self, temporal: TemporalOutcome | None, *, is_whole: bool
    ) -> Iterator[tuple[str, PropertyVerdict]]:
        """Yield the verdicts on the temporal parts of properties, by the name of the property."""
        names = dict.fromkeys(part.property_name for part in self._module.temporal)
        found = {} if temporal is None else {prop.name: prop for prop in temporal.properties}
        for name in names:
            prop = found.get(name, PropertyVerdict(name, "not checked" if temporal is None else "holds", 0, True))
            is_open = prop.verdict == "holds" and not is_whole
            yield name, replace(prop, verdict="not refuted") if is_open else prop

    def _verdict(self, name: str, of_behaviours: PropertyVerdict | None) -> PropertyVerdict:
        failed = self._findings.count(name)
        if of_behaviours is None:
            return PropertyVerdict(name, "violated" if failed else "holds", failed)
        return PropertyVerdict(name, "violated", failed, is_temporal=True) if failed else of_behaviours
