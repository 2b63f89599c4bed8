"""The start of an explorer on a TLA+ module: its model, and the trace of a counterexample if one is given."""

from __future__ import annotations

from collections.abc import Sequence

from kmc.checking.modules.checked_module import CheckedModule
from kmc.checking.modules.recorded_states import recorded_states
from kmc.errors import KmcError, TraceError
from kmc.explorer.explored_model import OpenedTrace
from kmc.explorer.ground import Ground, opened_ground
from kmc.explorer.modules.explored_module import ExploredModule
from kmc.result import TraceStep
from kmc.tla.run.program import State
from kmc.trace.untyped_trace import GIVEN, FileStep, TraceFile


def module_ground_of(module: CheckedModule, watched: tuple[str, ...] = ()) -> Ground:
    """Return an explorer without a trace, which shows the expressions `watched`."""
    model = module.model
    return Ground(ExploredModule(module), about={"spec": model.spec.name, "model": model.name}, watched=watched)


def module_ground_at(module: CheckedModule, file: TraceFile, number: int, watched: tuple[str, ...] = ()) -> Ground:
    """Return an explorer that opens at state `number` of a trace, as far as the module still allows its steps.

    Raises TraceError KMC444 for a trace that does not begin in an initial state of this model, or is one of another
    module, and KMC441 for one with other variables.
    """
    refuse_other_module(file, module.model.spec.name)
    states = recorded_states(module, file)
    explored = ExploredModule(module)
    is_given = file.about.get("start") == GIVEN
    if not is_given and not _is_initial(explored, states[0]):
        message = f"{file.shown_path} does not begin in an initial state of {module.model.spec.name}"
        recorded = file.about.get("model", "")
        help_line = f"name the model of the trace{f', {recorded},' if recorded else ''} with its constants"
        raise TraceError("KMC444", message, help=help_line, notes=(f"the model is {module.model.name}",))
    return opened_ground(explored, _retaken(explored, file, states), number, watched)


def refuse_other_module(file: TraceFile, name: str) -> None:
    """Raise TraceError KMC444 for a trace that says that it is one of another module."""
    recorded = file.about.get("spec", name)
    if recorded != name:
        message = f"{file.shown_path} is a trace of the module {recorded}, and not of {name}"
        raise TraceError("KMC444", message, help=f"name {recorded}.tla")


def _is_initial(explored: ExploredModule, state: State) -> bool:
    try:
        return explored.is_initial(state)
    except KmcError:
        return False


def _retaken(explored: ExploredModule, file: TraceFile, states: Sequence[State]) -> OpenedTrace:
    """Take the steps of a trace again, up to the first that the module does not have."""
    steps = [TraceStep(states[0])]
    for recorded, state in zip(file.steps[1:], states[1:], strict=True):
        taken = _step_to(explored, steps[-1].state, state, recorded)
        if taken is None:
            note = f"The trace is shown up to state {len(steps)}: no step of the module leads to the next one."
            return OpenedTrace(tuple(steps), dict(file.about), (note,))
        steps.append(taken)
    if file.loop is None:
        return OpenedTrace(tuple(steps), dict(file.about))
    closing = None
    if file.loop != len(states) - 1:
        closing = _step_to(explored, states[-1], states[file.loop], file.closing)
        if closing is None:
            note = f"No step of the module leads from state {len(states)} back to state {file.loop + 1} any more."
            return OpenedTrace(tuple(steps), dict(file.about), (note,))
    return OpenedTrace(tuple(steps), dict(file.about), (), file.loop + 1, closing)


def _step_to(explored: ExploredModule, before: State, state: State, recorded: FileStep | None) -> TraceStep | None:
    """Return a step to a state, the one of the recorded action if there are several."""
    steps = [move.step for move in explored.moves(before).enabled if move.step.state == state]
    action = None if recorded is None else recorded.action
    return next((step for step in steps if action in (step.action, step.label)), steps[0] if steps else None)
