"""From a finding to a trace of a module: a concrete run through the classes of the states that were found.

As in `kmc.reference.states.traces`: the trace begins at the least initial state of the first class, and takes the least
successor in the next one, so that it depends on the module alone.
"""

from __future__ import annotations

from collections.abc import Callable

from kmc.checking.modules.checked_module import CheckedModule
from kmc.checking.modules.module_states import ModuleStates
from kmc.checking.modules.value_order import value_key
from kmc.errors import InternalError
from kmc.reference.states.findings import Finding
from kmc.reference.states.state_graph import StateGraph
from kmc.reference.states.traces import chain_of
from kmc.result import Trace, TraceStep
from kmc.tla.run.program import ModuleProgram, ModuleStep, State


def action_of(label: str) -> str:
    """Return the name of the action that a label shows, perhaps with arguments: `Send` for `Send(n1)`."""
    return label.partition("(")[0]


def trace_step_of(step: ModuleStep) -> TraceStep:
    """Return a step of a module as a step of a trace."""
    return TraceStep(step.state, action_of(step.label), step.label)


def least_step(program: ModuleProgram, source: State, is_wanted: Callable[[State], bool]) -> TraceStep:
    """Return the least of the steps from a state to a wanted one; InternalError KMC941 if there is none."""
    steps = (step for step in program.successors(source) if is_wanted(step.state))
    least = min(steps, key=lambda step: (value_key(step.state), step.label), default=None)
    if least is None:
        raise InternalError(
            "KMC941",
            "no step of the module leads to the next state of the counterexample",
            help="if the .cfg file has SYMMETRY, the module treats permuted values differently: check without it",
        )
    return trace_step_of(least)


class ModuleTraces:
    """The traces to the findings of one search; they begin in `start`, if one was given."""

    def __init__(
        self, module: CheckedModule, states: ModuleStates, graph: StateGraph, start: State | None = None
    ) -> None:
        self._module = module
        self._program = module.program
        self._states = states
        self._graph = graph
        self._start = start

    def trace_of(self, finding: Finding) -> Trace:
        """Return the trace that shows a finding."""
        classes = [self._graph.states[index] for index in chain_of(self._graph, finding)]
        if finding.index is None:
            classes.append(finding.state)
        breaks = self._breaking(finding.name) if finding.is_step and finding.name is not None else None
        beginnings = self._program.initial_states() if self._start is None else (self._start,)
        initial = (state for state in beginnings if self._states.is_same(state, classes[0]))
        steps = [TraceStep(min(initial, key=value_key))]
        for position, wanted in enumerate(classes[1:], start=2):
            steps.append(self._least_step(steps[-1].state, wanted, breaks if position == len(classes) else None))
        return Trace(tuple(steps))

    def _breaking(self, name: str) -> Callable[[State, State], bool]:
        """Return whether a step breaks the formula of steps of a property."""
        parts = [part for part in self._module.of_steps if part.property_name == name]
        return lambda state, successor: not all(part.is_true(state, successor) for part in parts)

    def _least_step(self, source: State, wanted: State, breaks: Callable[[State, State], bool] | None) -> TraceStep:
        return least_step(
            self._program,
            source,
            lambda state: self._states.is_same(state, wanted) and (breaks is None or breaks(source, state)),
        )
