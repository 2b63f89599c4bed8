"""A saved trace of a TLA+ module: the module as it is now, with the model of the trace, and the states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kmc.checking.modules.check_module import ModuleRequest, load_module
from kmc.checking.modules.checked_module import CheckedModule
from kmc.checking.modules.recorded_states import recorded_states
from kmc.cli.modules.module_argument import configuration_of, saved_sets
from kmc.cli.saved.saved_runs import MODEL_NAME, recorded_spec
from kmc.cli.saved.trace_place import TracePlace
from kmc.errors import CommandLineError, EvaluationError, KmcError
from kmc.lang.tla import Tla
from kmc.tla.names.loading import parse_expression
from kmc.tla.run.program import State
from kmc.tla.values.texts import tree_of
from kmc.trace.files import pick, read_trace
from kmc.trace.untyped_trace import TraceFile


@dataclass(frozen=True, slots=True)
class TracedPoint:
    """A state of a trace of a module, the state after it in the trace, None at the end, and where it is."""

    module: CheckedModule
    state: State
    successor: State | None
    file: str
    number: int


def point_of_trace(place: TracePlace, spec: str | None, model: str | None) -> TracedPoint:
    """Return the state of a trace that a place names, by default the last one."""
    file, number = pick(place.where)
    module = module_of_trace(file, place.path.parent, spec, model)
    states = recorded_states(module, file)
    after = number if number < len(states) else file.loop
    successor = None if after is None else states[after]
    return TracedPoint(module, states[number - 1], successor, str(place.path), number)


def module_of_trace(
    file: TraceFile, folder: Path, spec: str | None, model: str | None, option: str = "--spec "
) -> CheckedModule:
    """Return the module of a trace, with the model of the run in its folder unless another one is given.

    `option` is what a command line has before the path of a module. Raises CommandLineError KMC699 for a trace that
    does not say where its module is.
    """
    path = spec or recorded_spec(folder)
    if path is None:
        name = file.about.get("spec", "X")
        message = f"{file.shown_path} is a trace of the module {name}, and its run does not say where that is"
        raise CommandLineError("KMC699", message, help=f"give the path of the module: {option}{name}.tla")
    saved = folder / MODEL_NAME
    if model is None and recorded_spec(folder) is not None and saved.is_file():
        return load_module(ModuleRequest(Path(path), saved, saved_sets(str(saved))))
    return load_module(ModuleRequest(Path(path), configuration_of(path, model)))


def start_in_module(where: str | None, module: CheckedModule) -> tuple[State | None, tuple[str, ...]]:
    """Return the state at which a check starts, if one is given, and a warning if the trace is of another version."""
    if where is None:
        return None, ()
    file, number = pick(where)
    state = recorded_states(module, file)[number - 1]
    model = module.model
    if file.about.get("digest", model.digest) == model.digest:
        return state, ()
    return state, (f"{where} is a trace of {file.about.get('spec', 'another module')}, or of another version of it.",)


def watched_values(
    place: TracePlace, spec: str | None, model: str | None, texts: Sequence[str]
) -> list[dict[str, Tla | None]]:
    """Return the values of expressions of TLA+ in each state of a trace, None where one cannot be evaluated.

    Raises the KmcError of an expression that has a value in none of the states.
    """
    file = read_trace(place.path)
    module = module_of_trace(file, place.path.parent, spec, model)
    states = recorded_states(module, file)
    values: list[dict[str, Tla | None]] = [{} for _ in states]
    for text in dict.fromkeys(texts):
        expression = parse_expression(module.program.model, text)
        error: KmcError | None = None
        for state, known in zip(states, values, strict=True):
            try:
                known[text] = tree_of(module.program.evaluate(expression, state))
            except EvaluationError as failure:
                known[text], error = None, failure
        if error is not None and all(known[text] is None for known in values):
            raise error
    return values
