"""A recorded trace, repeated step by step by a module as it is now: how far it holds, and why it stops.

As in `kmc.story.retaken`, states are compared in the variables that both have, and a module that has changed is not a
mistake. A behaviour of TLA+ is a sequence of states: a step holds if the next-state relation leads to the recorded
state, whichever action takes it now.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from kmc.checking.modules.checked_module import CheckedModule
from kmc.checking.modules.module_places import cut
from kmc.checking.modules.module_reasons import obstacle
from kmc.checking.modules.module_recurrence import recurs_in_module
from kmc.checking.modules.module_trace import action_of, trace_step_of
from kmc.checking.modules.recorded_states import recorded_states, refuse_ambiguous
from kmc.checking.modules.value_order import value_key
from kmc.errors import KmcError, TraceError
from kmc.lang.tla import Tla
from kmc.lang.tla import text as shown
from kmc.reference.recurrence import RecordedFailure
from kmc.result import TraceStep
from kmc.story.retaken import Retaken, Stop, StopReason, known_actions
from kmc.tla.run.decomposition import ModuleAction
from kmc.tla.run.program import ModuleStep, State
from kmc.tla.values.kinds import TRUE, Value
from kmc.tla.values.texts import text_of, value_of_tree
from kmc.trace.untyped_trace import GIVEN, UNNAMED, FileStep, TraceFile
from kmc.unexplained import Unexplained, try_explaining

_DIFFERENCES_MAX = 8
_OBSTACLES_MAX = 3


def retake_in_module(file: TraceFile, module: CheckedModule, failure: RecordedFailure | None = None) -> Retaken:
    """Take the steps of a recorded trace again, as the module allows them now.

    If the trace allows several runs, because the module has new variables, one that shows `failure` is preferred.
    Raises TraceError: KMC429 for a trace that shares no variable with the module, KMC441 for one of the fields of an
    ALIAS, KMC442 for one whose format does not distinguish sets from sequences; and EvaluationError if an action fails.
    """
    taker = _Taker(file, module)
    runs, stop = taker.runs()
    if stop is not None:
        return Retaken(tuple(runs[0]) if runs else (), stop, notes=taker.notes)
    closed = [taker.closed(run) for run in runs]
    if failure is None:
        return closed[0]
    judged = [replace(run, shows=_shows(module, failure, run)) for run in closed]
    return next((run for run in judged if run.shows), next((run for run in judged if run.stop is None), judged[0]))


def _shows(module: CheckedModule, failure: RecordedFailure, run: Retaken) -> bool:
    return run.stop is None and recurs_in_module(module, failure, run.states, run.loop)


class _Taker:
    """Takes the steps of one recorded trace, in order."""

    def __init__(self, file: TraceFile, module: CheckedModule) -> None:
        self._file = file
        self._module = module
        names = module.program.model.variables
        refuse_ambiguous(file)
        if "alias" in file.about:
            recorded_states(module, file)  # which says that these are other variables, unless they are the same
        self._positions = {name: position for position, name in enumerate(names) if name in file.variables}
        self._is_whole = len(self._positions) == len(names)
        self._renamed: dict[int, str] = {}
        if not self._positions:
            raise TraceError(
                "KMC429",
                f"{file.shown_path} has no variable of the module {module.model.spec.name}",
                help=f"name the module that it belongs to; its variables are {', '.join(file.variables)}",
            )

    @property
    def notes(self) -> tuple[str, ...]:
        """The variables that were not compared, and the steps that another action takes now, in sentences."""
        return (*self._uncompared(), *(self._renamed[number] for number in sorted(self._renamed)))

    def _uncompared(self) -> Iterator[str]:
        gone = [name for name in self._file.variables if name not in self._positions]
        if gone:
            yield f"Not compared, since the module does not have them: {', '.join(gone)}."
        new = [name for name in self._module.program.model.variables if name not in self._positions]
        if new:
            yield f"Not compared, since the trace does not have them: {', '.join(new)}."

    def runs(self) -> tuple[list[list[TraceStep]], Stop | None]:
        """The runs that show the recorded states, up to the first step that none of them can take."""
        wanted = [self._values(step.variables) for step in self._file.steps]
        runs = [[TraceStep(state)] for state in self._beginnings(wanted[0])]
        if not runs:
            return [], Stop(1, StopReason.NOT_INITIAL, "State 1 of the trace is not an initial state any more.")
        for number, (step, values) in enumerate(zip(self._file.steps[1:], wanted[1:], strict=True), start=2):
            longer: dict[State, list[TraceStep]] = {}
            for run in runs:
                for taken in self._steps(run[-1].state, step, values, number):
                    longer.setdefault(taken.state, [*run, trace_step_of(taken)])
            if not longer:
                return runs, self._stop(runs[0][-1].state, step, values, number)
            runs = list(longer.values())
        return runs, None

    def closed(self, run: Sequence[TraceStep]) -> Retaken:
        """A run of all steps, with the step that closes the cycle of a lasso, or why there is none."""
        loop = self._file.loop
        if loop is None or loop == len(run) - 1:
            return Retaken(tuple(run), None, loop, notes=self.notes)
        last, target, number = run[-1].state, run[loop].state, len(run) + 1
        wanted = {position: target[position] for position in self._positions.values()}
        step = self._file.closing or FileStep({})
        taken = [each for each in self._steps(last, step, wanted, number) if each.state == target]
        if not taken:
            return Retaken(tuple(run), self._stop(last, step, wanted, number), notes=self.notes)
        return Retaken(tuple(run), None, loop, trace_step_of(taken[0]), self.notes)

    def _values(self, variables: Mapping[str, Tla]) -> dict[int, Value]:
        """The recorded values that are compared, by the position of their variables in the module."""
        return {position: value_of_tree(variables[name]) for name, position in self._positions.items()}

    def _beginnings(self, wanted: Mapping[int, Value]) -> list[State]:
        """The states in which the trace may begin: the given one, or the initial states that look like it."""
        program = self._module.program
        if self._is_whole:
            # Decided by definition: a module may have very many initial states.
            state = tuple(wanted[position] for position in range(len(wanted)))
            is_initial = self._file.about.get("start") == GIVEN or self._is_initial(state)
            return [state] if is_initial else []
        return sorted({state for state in program.initial_states() if _fits(state, wanted)}, key=value_key)

    def _is_initial(self, state: State) -> bool:
        program = self._module.program
        behaviour = program.model.behaviour
        assert behaviour is not None, "a module with a trace has a behaviour"
        return all(program.evaluate(predicate, state) is TRUE for predicate in behaviour.initial)

    def _steps(self, before: State, step: FileStep, wanted: Mapping[int, Value], number: int) -> list[ModuleStep]:
        """The steps that lead to the recorded values, those with the recorded label first, one for each successor."""
        label = _label(step)
        fitting = [taken for taken in self._module.program.successors(before) if _fits(taken.state, wanted)]
        fitting.sort(key=lambda taken: (taken.label != label, value_key(taken.state), taken.label))
        if fitting and label is not None and fitting[0].label != label:
            self._renamed[number] = f"Step {number} is taken by {fitting[0].label} now, not by {label}."
        return list({taken.state: taken for taken in reversed(fitting)}.values())[::-1]

    def _stop(self, before: State, step: FileStep, wanted: Mapping[int, Value], number: int) -> Stop:
        """Why no step leads to the recorded values: what became of the action, or how near the others come."""
        label, names = _label(step), self._module.program.action_names
        if label is None:
            sentence = f"Step {number}: no action of the module leads from state {number - 1} to it."
            differences = self._differences(self._module.successors(before), wanted)
            return Stop(number, StopReason.LEADS_ELSEWHERE, sentence, differences)
        if action_of(label) not in names:
            sentence = f"Step {number}: the next-state relation has no action {action_of(label)}."
            return Stop(number, StopReason.NO_ACTION, sentence, (known_actions(action_of(label), names),))
        steps = [taken for taken in self._module.successors(before) if taken.label == label]
        if steps:
            sentence = f"Step {number}: {label} leads to another state now."
            return Stop(number, StopReason.LEADS_ELSEWHERE, sentence, self._differences(steps, wanted))
        sentence = f"Step {number}: {label} is not enabled in state {number - 1} any more."
        return Stop(number, StopReason.NOT_ENABLED, sentence, self._obstacles(before, label))

    def _obstacles(self, before: State, label: str) -> tuple[str, ...]:
        """Why an action is not enabled: a sentence for each conjunct that ends it, with its place.

        It gives no sentence where the explanation fails.
        """
        actions = self._module.program.actions
        named = [action for action in actions if action.label == label]
        named = named or [action for action in actions if action_of(action.label) == action_of(label)]
        sentences = try_explaining(lambda: dict.fromkeys(self._sentences(before, named)))
        return () if isinstance(sentences, Unexplained) else tuple(sentences)[:_OBSTACLES_MAX]

    def _sentences(self, before: State, actions: Sequence[ModuleAction]) -> Iterator[str]:
        program = self._module.program
        for action in actions:
            with suppress(KmcError):
                if not program.steps_of(action, before):
                    found = obstacle(action, program.obstacle(action, before))
                    guard = f"{found.guard}: " if found.guard else ""
                    yield f"Why: {guard}{found.sentence} ({found.place})."

    def _differences(self, steps: Sequence[ModuleStep], wanted: Mapping[int, Value]) -> tuple[str, ...]:
        """The differences of the nearest of some successors from the recorded values, at most eight lines."""
        names = self._module.program.model.variables
        differing = [
            [position for position, value in wanted.items() if taken.state[position] != value] for taken in steps
        ]
        if not steps:
            return ("The state has no successor.",)
        nearest = min(range(len(steps)), key=lambda index: len(differing[index]))
        pairs = ((names[at], wanted[at], steps[nearest].state[at]) for at in differing[nearest])
        lines = [f"{name}: {cut(text_of(old))} in the trace, {cut(text_of(now))} now" for name, old, now in pairs]
        more = len(lines) - _DIFFERENCES_MAX
        return (*lines[:_DIFFERENCES_MAX], *([f"... and {more} more"] if more > 0 else []))


def _fits(state: State, wanted: Mapping[int, Value]) -> bool:
    return all(state[position] == value for position, value in wanted.items())


def _label(step: FileStep) -> str | None:
    """The label of a recorded step; None where its action has no name."""
    if step.action is None or step.action == UNNAMED:
        return None
    arguments = ", ".join(shown(value) for _, value in step.arguments)
    return f"{step.action}({arguments})" if arguments else step.action
