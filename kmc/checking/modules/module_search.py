"""The breadth-first search over the states of a TLA+ module, with TLC's counting."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from kmc.checking.modules.checked_module import CheckedModule
from kmc.checking.modules.module_replay import check_module_violation, errors_at
from kmc.checking.modules.module_states import ModuleStates
from kmc.checking.modules.module_trace import ModuleTraces, action_of
from kmc.errors import EvaluationError, KmcError
from kmc.process import cpu_seconds, peak_memory_bytes
from kmc.reference.search_end import reported_verdict
from kmc.reference.value_search import Failed, ValueSearch
from kmc.result import Bound, Counters, Limits, PropertyVerdict, Result, Verdict, Violation, without_claims
from kmc.tla.run.program import State

ENGINE = "python"


class ModuleSearch(ValueSearch):
    """One run over a module. Its states, steps and counts are TLC's with one worker."""

    def __init__(
        self,
        module: CheckedModule,
        limits: Limits | None = None,
        *,
        keep_going: bool = False,
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

    def run(self) -> Result:
        """Explore until done, a violation, a limit or Ctrl-C. Raises KmcError if there is no initial state."""
        interrupted = False
        try:
            self._explore()
        except KeyboardInterrupt:
            interrupted = True
        return self._result(self._violation(), interrupted)

    @property
    def _depth_limit(self) -> int | None:
        return self._limits.depth

    @property
    def _invariants_count(self) -> int:
        return len(self._module.of_states)

    def _level_made(self, level: range) -> None:
        return

    def _beginnings(self) -> Iterable[State]:
        behaviour = self._program.model.behaviour
        assert behaviour is not None, "only a module with a behaviour is searched"
        count = 0
        for state in self._program.initial_states():
            count += 1
            yield state
        if not count:
            place = behaviour.initial[0].place if behaviour.initial else None
            message = "no state satisfies the initial predicate"
            raise EvaluationError("KMC271", message, place, help="weaken it, or give other values to the constants")

    def _in_model(self, state: State, source: Any) -> bool:
        if not self._program.is_in_model(state):
            return False
        return source is None or self._program.is_step_in_model(source, state)

    def _steps(self, source: State) -> tuple[Sequence[tuple[str, State]], list[KmcError]]:
        try:
            return [(action_of(step.label), step.state) for step in self._program.successors(source)], []
        except KmcError as error:
            return [], [error]

    def _judge_state(self, state: State, *, is_initial: bool) -> tuple[Sequence[Failed], list[KmcError]]:
        failed: list[Failed] = []
        errors: list[KmcError] = []
        for order, part in enumerate(self._module.of_states):
            if part.is_initial and not is_initial:
                continue
            try:
                if not part.is_true(state):
                    failed.append((order, part.property_name))
            except KmcError as error:
                errors.append(error)
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
        trace = ModuleTraces(self._module, self._states, self.graph).trace_of(least)
        error = least.error
        if error is not None and trace.steps[-1].state != least.state:
            # Under symmetry the trace ends in another state of the class, and its error has other values.
            error = next(
                (one for one in errors_at(self._module, trace.steps[-1].state) if one.code == error.code), error
            )
        violation = Violation(least.verdict, least.name, trace, error, least.is_step)
        check_module_violation(self._module, violation)
        return violation

    def _result(self, violation: Violation | None, interrupted: bool) -> Result:
        bound = self._stopped or (Bound.NOT_CHECKED if self._module.unchecked else None)
        verdict = reported_verdict(violation, interrupted=interrupted, bound=bound)
        result = Result(
            verdict=verdict,
            counters=self.counters(),
            initial=self._initial,
            levels=tuple(self.graph.levels),
            generated_by_action=self._coverage.generated(),
            properties=tuple(map(self._verdict, self._module.property_names)),
            violation=violation,
            bound=bound if verdict is Verdict.BOUND_REACHED else None,
            unreached=(),
            never_fired=self._coverage.never_fired(),
            collision_bound=0.0,
            cpu_seconds=cpu_seconds() - self._cpu_began,
            peak_memory_bytes=peak_memory_bytes(),
            engine=ENGINE,
            cut=self._cut,
        )
        return without_claims(result)

    def _verdict(self, name: str) -> PropertyVerdict:
        failed = self._findings.count(name)
        is_unchecked = any(part.property_name == name for part in self._module.unchecked)
        verdict = "violated" if failed else "not checked" if is_unchecked else "holds"
        return PropertyVerdict(name, verdict, failed, is_temporal=is_unchecked)
