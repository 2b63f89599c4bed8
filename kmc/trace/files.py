"""Trace files and specs: a check's trace for writing, a file for reading, and its states as a spec's states.

The format is recognized by the content, never by the name of the file. Every mistake in a file is one TraceError that
names the file and the place in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from kmc import __version__
from kmc.actions.action import Action
from kmc.errors import KmcError, TraceError, did_you_mean
from kmc.frontend.loader import Spec
from kmc.frontend.model import Model
from kmc.frontend.shipped import is_there
from kmc.lang.records import State
from kmc.lang.tla import Tla, decode, encode
from kmc.lang.types import MapType, Type
from kmc.model_files.model_file import render_cfg
from kmc.result import Trace, TraceStep
from kmc.spec.variables import Variable, decode_state, encode_state
from kmc.trace.itf import MESSAGE, itf_trace
from kmc.trace.received import received_message
from kmc.trace.strict_json import parse_json
from kmc.trace.tlc_json import tlc_json_trace
from kmc.trace.typed import typed
from kmc.trace.untyped_trace import GIVEN, UNNAMED, FileStep, TraceFile

__all__ = ["GIVEN", "FileStep", "TraceFile", "pick", "pick_state", "read_trace", "resolved", "to_trace", "trace_file"]


def trace_file(
    trace: Trace,
    model: Model,
    status: str,
    *,
    violated: str | None = None,
    loop: int | None = None,
    closing: TraceStep | None = None,
    is_start_given: bool = False,
) -> TraceFile:
    """The trace of a check, in the form for files. `status` is the verdict, `violated` the property.

    `loop` is the index of the state to which the last one steps back, by the action of `closing`. A trace whose start
    is given need not begin with an initial state.
    """
    spec = model.spec
    about = {
        "spec": spec.name,
        "model": model.name,
        "status": status,
        "property": violated or "",
        "constants": render_cfg(model.file),
        "digest": model.digest,
        "start": GIVEN if is_start_given else "",
        "kmc_version": __version__,
    }
    return TraceFile(
        variables=tuple(variable.name for variable in spec.variables.variables),
        steps=tuple(
            _file_step(step, spec, before.state if before is not None else None)
            for before, step in zip((None, *trace.steps), trace.steps, strict=False)
        ),
        loop=loop,
        about={key: value for key, value in about.items() if value},
        closing=_file_step(closing, spec, trace.steps[-1].state) if closing is not None else None,
    )


def _file_step(step: TraceStep, spec: Spec, before: State | None) -> FileStep:
    naming = spec.variables.naming
    variables = _typed_variables(encode_state(step.state, spec.variables), spec)
    arguments = tuple((name, encode(value, naming)) for name, value in step.arguments)
    action = next((action for action in spec.actions if action.title == step.action), None)
    if action is None or before is None:
        return FileStep(variables, step.action, arguments)
    place = replace(action.span, path=Path(action.span.path).stem)
    message = received_message(action, before, tuple(value for _, value in step.arguments), step.state)
    told = encode(message, naming) if message is not None else None
    return FileStep(variables, step.action, arguments, place, told)


def _typed_variables(variables: Mapping[str, Tla], spec: Spec) -> dict[str, Tla]:
    types = {variable.name: _type_of(variable, spec) for variable in spec.variables.variables}
    naming = spec.variables.naming
    return {name: typed(tree, types[name], naming) if name in types else tree for name, tree in variables.items()}


def _type_of(variable: Variable, spec: Spec) -> Type:
    declared = spec.state_class.fields[variable.field]
    if variable.inner is None:
        return declared
    records: Any = declared  # a map of records: `kmc.spec.variables.checked_table` has seen to it
    return MapType(records.key, records.value.cls.fields[variable.inner], records.total)


def read_trace(path: str | Path) -> TraceFile:
    """The trace in an ITF file or a JSON file of TLC.

    Raises TraceError: KMC420 for a file that cannot be read, KMC424 for JSON that is not a trace, KMC421 to KMC423 for
    a trace that is wrong somewhere.
    """
    try:
        file = _parsed(_text(Path(path)))
    except TraceError as error:
        raise TraceError(error.code, f"'{path}': {error.message}", help=error.help, notes=error.notes) from None
    return replace(file, path=str(path))


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        reason = error.strerror or "it cannot be read"
        raise TraceError("KMC420", reason, help="give the path of a trace that kmc, TLC or Apalache saved") from None
    except UnicodeDecodeError as error:
        raise TraceError(
            "KMC420", f"not UTF-8: byte {error.object[error.start]:#04x} at offset {error.start}",
            help="save the trace again, or give another file",
        ) from None  # fmt: skip


def _parsed(text: str) -> TraceFile:
    top = parse_json(text)
    if isinstance(top.value, dict) and "counterexample" in top.value:
        return tlc_json_trace(top)
    if isinstance(top.value, dict) and not top.value.keys().isdisjoint(("states", "vars")):
        return itf_trace(top)
    raise TraceError(
        "KMC424",
        "JSON, but not a trace",
        help='an ITF trace has "vars" and "states", a JSON trace of TLC has "counterexample"',
    )


def resolved(file: TraceFile, spec: Spec) -> TraceFile:
    """The trace with its ambiguous values resolved by the types of `spec`; values that do not fit stay as they are."""
    actions = {action.title: action for action in spec.actions}

    def in_words_of_spec(step: FileStep) -> FileStep:
        action = actions.get(step.action or "")
        arguments = _by_parameter(step, action, spec) if action else None
        return replace(
            step,
            variables=_typed_variables(step.variables, spec),
            arguments=step.arguments if arguments is None else tuple(arguments.items()),
        )

    closing = in_words_of_spec(file.closing) if file.closing else None
    return replace(file, steps=tuple(map(in_words_of_spec, file.steps)), closing=closing, ambiguous=False)


def to_trace(file: TraceFile, spec: Spec) -> Trace:
    """The trace as states and steps of `spec`.

    Raises TraceError that names the state: KMC411 to KMC415 and KMC427 for variables that are not a state of the spec,
    KMC426 for an action or arguments that the spec does not have.
    """
    named = resolved(file, spec)
    return Trace(tuple(_trace_step(named, position, spec) for position in range(1, len(named.steps) + 1)))


def closing_of(file: TraceFile, spec: Spec) -> TraceStep | None:
    """The step that closes a lasso, if the trace has one; TraceError as for `to_trace`."""
    if file.loop is None or file.closing is None:
        return None
    named = resolved(file, spec)
    again = replace(named, steps=(*named.steps, named.closing or named.steps[file.loop]))
    return _trace_step(again, len(again.steps), spec)


def _trace_step(file: TraceFile, position: int, spec: Spec) -> TraceStep:
    state = _state(file, position, spec)
    step = file.steps[position - 1]
    if position == 1:
        return TraceStep(state)
    titles = [action.title for action in spec.actions]
    if step.action is None or (step.action in (UNNAMED, spec.next_name) and step.action not in titles):
        return TraceStep(state, None, spec.next_name)
    try:
        action = _action(step.action, spec.actions)
        arguments = arguments_of(step, action, spec)
    except TraceError as error:
        raise _with_place(error, file, position) from None
    names = [parameter.name for parameter in action.parameters]
    return TraceStep(state, action.title, action.label(arguments), tuple(zip(names, arguments, strict=True)))


def _action(title: str, actions: Iterable[Action]) -> Action:
    known = {action.title: action for action in actions}
    if title not in known:
        raise TraceError("KMC426", f"the spec has no action '{title}'", help=did_you_mean(title, known))
    return known[title]


def _by_parameter(step: FileStep, action: Action, spec: Spec) -> dict[str, Tla] | None:
    """The arguments by name, or by position, because TLA+ parameters may have other names; None if neither fits."""
    given = dict(step.arguments)
    names = [parameter.name for parameter in action.parameters]
    if step.message is not None and MESSAGE in names:
        given.setdefault(MESSAGE, step.message)  # a parameter of this name, not a message that was received
    if not given.keys() >= set(names):
        if len(given) != len(names):
            return None
        given = dict(zip(names, given.values(), strict=True))
    return {p.name: typed(given[p.name], p.type, spec.variables.naming) for p in action.parameters}


def arguments_of(step: FileStep, action: Action, spec: Spec) -> tuple[Any, ...]:
    """The arguments of a step as values of `spec`; TraceError KMC426 or KMC411 where they do not fit the action."""
    arguments = _by_parameter(step, action, spec)
    if arguments is None:
        takes = ", ".join(parameter.name for parameter in action.parameters) or "none"
        given = ", ".join(name for name, _ in step.arguments) or "none"
        raise TraceError(
            "KMC426",
            f"{action.title} has the parameters {takes}, but the trace gives {given}",
            help="the trace belongs to another spec, or to another version of this one",
        )
    try:
        return tuple(decode(arguments[p.name], p.type, spec.variables.naming) for p in action.parameters)
    except TraceError as error:
        raise error.noting(f"in an argument of {action.title}") from None


def _state(file: TraceFile, position: int, spec: Spec) -> State:
    try:
        return decode_state(file.steps[position - 1].variables, spec.state_class, spec.variables)
    except TraceError as error:
        raise _with_place(error, file, position) from None
    except KmcError as error:
        help = "the trace belongs to another spec, or to a model with other constants"
        raise _with_place(TraceError("KMC427", error.message, help=help), file, position) from None


def _with_place(error: TraceError, file: TraceFile, position: int) -> TraceError:
    return error.noting(f"in state {position} of {file.shown_path}")


def pick(where: str) -> tuple[TraceFile, int]:
    """The trace at `PATH` or `PATH#STEP`, and the number of the step, which counts from 1; by default the last one.

    Raises TraceError: KMC425 for a step that is not a number or not in the trace, otherwise as for `read_trace`.
    """
    path, separator, step = where.rpartition("#")
    if not separator or is_there(Path(where).is_file):
        file = read_trace(where)
        return file, len(file.steps)
    file = read_trace(path)
    if not re.fullmatch(r"[0-9]{1,9}", step) or not 1 <= int(step) <= len(file.steps):
        raise TraceError(
            "KMC425", f"'{path}' has no state '{step}'", help=f"write {path}#N with N in 1..{len(file.steps)}"
        )
    return file, int(step)


def pick_state(where: str, spec: Spec) -> State:
    """The state of `spec` at `PATH` or `PATH#STEP` (see `pick`); TraceError as for `pick` and `to_trace`."""
    file, position = pick(where)
    return _state(resolved(file, spec), position, spec)
