"""The model that a saved trace is a trace of, bound to the spec as it is now."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from kmc.errors import CommandLineError, Span
from kmc.frontend.binding import bind, bind_all
from kmc.frontend.model import Model
from kmc.frontend.shipped import find_model, find_spec_root
from kmc.model_files.cfg import parse_cfg
from kmc.model_files.model_file import ModelFile
from kmc.reference.recurrence import RecordedFailure
from kmc.result import Verdict
from kmc.trace.untyped_trace import TraceFile

_FAILED = (Verdict.VIOLATION, Verdict.LIVENESS, Verdict.DEADLOCK, Verdict.ASSERTION, Verdict.ERROR)


def model_of_trace(file: TraceFile, spec: str | None = None, model: str | None = None) -> Model:
    """The model of a trace: of the spec and with the constants that it names, unless others are given.

    The states of a lasso are images under the abstractions of its model, and so are those of the model that is returned
    for one. Raises CommandLineError KMC660 where nothing names a spec, and the errors of loading and binding.
    """
    bound = _bound(file, spec, model)
    return bound if file.loop is None else bound.searched


def _bound(file: TraceFile, spec: str | None, model: str | None) -> Model:
    name = spec or spec_of_trace(file, "name the spec: --spec kraft")
    root = _root(name, file, is_given=spec is not None)
    recorded = file.about.get("constants") if file.about.get("spec") == root.stem else None
    if model is None and recorded is not None:
        return bind(root, _recorded_file(recorded, file))
    file_of_model = find_model(root, model)
    return bind_all(root, ()) if file_of_model is None else bind(root, file_of_model)


def spec_of_trace(file: TraceFile, remedy: str) -> str:
    """The spec that the trace names. Raises CommandLineError KMC660 with this remedy where it names none."""
    name = file.about.get("spec")
    if name is None:
        raise CommandLineError("KMC660", f"{file.shown_path} does not say which spec it is a trace of", help=remedy)
    return name


def no_state_follows(where: str, place: Span, help: str) -> CommandLineError:
    """Return the error of an expression of a step in a state that no other one follows, KMC644."""
    return CommandLineError("KMC644", f"no state follows {where}", place, help)


def _recorded_file(text: str, file: TraceFile) -> ModelFile:
    parsed = parse_cfg(text, f"the model in {file.shown_path}")
    return replace(parsed, name=file.about.get("model", ""))


def _root(name: str, file: TraceFile, *, is_given: bool) -> Path:
    try:
        return find_spec_root(name)
    except CommandLineError as error:
        if is_given:
            raise
        raise CommandLineError(
            "KMC661",
            f"{file.shown_path} is a trace of '{name}', which is not a shipped spec",
            help="give the folder of the spec: --spec ./my_spec",
            notes=(str(error.help),),
        ) from None


def recorded_failure(file: TraceFile, prop: str | None = None) -> RecordedFailure | None:
    """The failure for which the trace was saved, or that of the property `prop`; None if neither is known."""
    if prop is not None:
        return RecordedFailure(Verdict.VIOLATION if file.loop is None else Verdict.LIVENESS, prop)
    status = file.about.get("status")
    verdict = next((verdict for verdict in _FAILED if verdict.value == status), None)
    return None if verdict is None else RecordedFailure(verdict, file.about.get("property"))
