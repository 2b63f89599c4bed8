"""Random behaviours of a TLA+ module: its states and steps for `RandomWalks`."""

from __future__ import annotations

from collections.abc import Sequence

from kmc.checking.modules.checked_module import CheckedModule
from kmc.checking.modules.module_trace import action_of, trace_step_of
from kmc.checking.modules.value_order import value_key
from kmc.reference.random_walks import RandomWalks, WalkOptions
from kmc.result import TraceStep
from kmc.tla.run.program import ModuleStep, State


class ModuleSimulation(RandomWalks):
    """Random behaviours of a module, checked as they are generated; `start` replaces the initial states."""

    def __init__(self, module: CheckedModule, options: WalkOptions, start: State | None = None) -> None:
        super().__init__(module.program.action_names, options, checks_deadlock=module.model.deadlock)
        self._module = module
        self._start = start

    def _beginnings(self) -> Sequence[State]:
        return sorted(self._module.initial_states(), key=value_key) if self._start is None else (self._start,)

    def _steps_from(self, state: State) -> Sequence[ModuleStep]:
        return sorted(self._module.successors(state), key=lambda step: (value_key(step.state), step.label))

    def _title_and_successor(self, step: ModuleStep) -> tuple[str, State]:
        return action_of(step.label), step.state

    def _trace_step(self, step: ModuleStep) -> TraceStep:
        return trace_step_of(step)

    def _failed_in(self, state: State, *, is_initial: bool) -> str | None:
        of_beginnings = is_initial and self._start is None
        parts = (part for part in self._module.of_states if of_beginnings or not part.is_initial)
        return next((part.property_name for part in parts if not part.is_true(state)), None)

    def _broken_by(self, source: State, successor: State) -> str | None:
        parts = self._module.of_steps
        return next((part.property_name for part in parts if not part.is_true(source, successor)), None)

    def _in_model(self, state: State, source: State | None) -> bool:
        return self._module.is_in_model(state, source)
