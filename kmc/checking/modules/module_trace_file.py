"""A trace of a module as a trace file: its variables or its ALIAS, and its actions with their arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from kmc import __version__
from kmc.checking.modules.checked_module import CheckedModule
from kmc.checking.modules.module_trace import action_of
from kmc.errors import KmcError, Span, TraceError
from kmc.lang.tla import Tla, TlaSeq
from kmc.result import Trace, TraceStep, Violation
from kmc.tla.resolved.nodes import OperatorDefinition
from kmc.tla.run.program import ModuleProgram, State
from kmc.tla.values.kinds import FunctionValue
from kmc.tla.values.texts import tree_of
from kmc.trace.tla_text import parse_value
from kmc.trace.untyped_trace import GIVEN, TLA, FileStep, TraceFile


def module_trace_file(module: CheckedModule, violation: Violation, *, is_start_given: bool = False) -> TraceFile:
    """Return the trace in the form for files: its variables, or the fields of ALIAS where the model has one."""
    model, trace = module.model, violation.trace
    about = {
        "spec": model.spec.name,
        "model": model.name,
        "language": TLA,
        "status": violation.verdict.value,
        "property": violation.name or "",
        "digest": model.digest,
        "start": GIVEN if is_start_given else "",
        "kmc_version": __version__,
    }
    aliased = _aliased(module.program, trace)
    alias = module.program.model.alias
    if aliased is not None and alias is not None:
        about["alias"] = alias.name
    shown = aliased or [variables_of(module.program, step.state) for step in trace.steps]
    actions = _definitions(module.program)
    steps = tuple(
        file_step(step, variables, actions.get(step.action or ""))
        for step, variables in zip(trace.steps, shown, strict=True)
    )
    cycle = violation.refutation.cycle if violation.refutation is not None else None
    loop = None if cycle is None else cycle.back_to - 1
    closing = None
    if cycle is not None and cycle.closing is not None:
        closing = file_step(cycle.closing, shown[cycle.back_to - 1], actions.get(cycle.closing.action or ""))
    known = {key: text for key, text in about.items() if text}
    return TraceFile(tuple(shown[0]), steps, loop, known, closing)


def alias_warnings(module: CheckedModule, file: TraceFile) -> tuple[str, ...]:
    """Return a warning if the model has an ALIAS that a trace could not show."""
    alias = module.program.model.alias
    if alias is None or "alias" in file.about:
        return ()
    return (f"ALIAS {alias.name} is not a record in every state of the trace, so the trace shows the variables.",)


def variables_of(program: ModuleProgram, state: State) -> dict[str, Tla]:
    """Return the variables of a state, as neutral trees."""
    return dict(zip(program.model.variables, map(tree_of, state), strict=True))


def _aliased(program: ModuleProgram, trace: Trace) -> list[dict[str, Tla]] | None:
    """Return the fields of ALIAS in each state; None without one, or where it is not a record of the same fields."""
    states = [step.state for step in trace.steps]
    shown: list[dict[str, Tla]] = []
    for level, (state, successor) in enumerate(zip(states, [*states[1:], states[-1]], strict=True), start=1):
        try:
            value = program.alias(state, successor, level)
        except KmcError:
            return None
        if not isinstance(value, FunctionValue) or not value.domain.are_strings:
            return None
        shown.append({str(key): tree_of(item) for key, item in value.items()})
    return shown if all(fields.keys() == shown[0].keys() for fields in shown) else None


def _definitions(program: ModuleProgram) -> Mapping[str, OperatorDefinition]:
    return program.model.definitions


def file_step(step: TraceStep, variables: Mapping[str, Tla], action: OperatorDefinition | None) -> FileStep:
    """Return a step of a trace with the variables that are shown of its state, and the definition of its action."""
    if step.action is None:
        return FileStep(variables)
    place = None if action is None else _place(action)
    arguments = arguments_of_label(step.label, action)
    if arguments is None:
        return FileStep(variables, step.label, (), place)
    return FileStep(variables, step.action, arguments, place)


def _place(action: OperatorDefinition) -> Span:
    return replace(action.place, path=Path(action.place.path).stem)


def arguments_of_label(label: str, action: OperatorDefinition | None) -> tuple[tuple[str, Tla], ...] | None:
    """Return the arguments in a label, by the names of the parameters; None where they do not fit."""
    name = action_of(label)
    if name == label:
        return ()
    try:
        values = parse_value(f"<<{label[len(name) + 1 : -1]}>>")
    except TraceError:
        return None
    names = [parameter.name for parameter in action.parameters] if action is not None else []
    if not isinstance(values, TlaSeq) or len(values.elements) != len(names):
        return None
    return tuple(zip(names, values.elements, strict=True))
