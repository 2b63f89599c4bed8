"""The story of a saved trace: by the spec as it is now if the trace still replays, else as it was recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from kmc.cli.saved.traced_model import model_of_trace, recorded_failure
from kmc.errors import CommandLineError, KmcError, SpecError, TraceError
from kmc.frontend.model import Model
from kmc.invariants.kinds import Role, of_role
from kmc.invariants.properties import Predicate
from kmc.liveness.formulas import TemporalProperty
from kmc.reference.recurrence import RecordedFailure, fails_at_end, property_called
from kmc.result import Trace, Verdict
from kmc.story.counterexample import story_of
from kmc.story.from_file import story_of_file
from kmc.story.parts.story import Story
from kmc.story.recorded_violation import recorded_violation
from kmc.story.retaken import Retaken, retake
from kmc.story.tell import tell
from kmc.story.watched import expressions_of, refuse_without_value, watched
from kmc.trace.files import closing_of, to_trace
from kmc.trace.untyped_trace import TraceFile


def traced_story(file: TraceFile, spec: str | None = None, model: str | None = None, prop: str | None = None) -> Story:
    """The story of a trace, with why its property fails; `spec` and `model` where the trace does not name them.

    With `prop`, that property of the spec is explained. Raises what `model_of_trace` and `to_trace` raise; with `prop`,
    TraceError KMC428 where the spec does not have it, KMC439 where the trace does not violate it, KMC440 where the spec
    does not allow its steps.
    """
    bound = model_of_trace(file, spec, model)
    story = story_by(bound, file) if prop is None else _story_of_property(bound, file, prop)
    if model is not None or "constants" in file.about or not bound.name:
        return story
    note = f"The trace does not name its model, so the constants are those of {bound.name}; --model takes others."
    return replace(story, notes=(*story.notes, note))


def story_at(
    file: TraceFile, spec: str | None, model: str | None, recorded: str | None, prop: str | None = None
) -> Story:
    """The story of a trace by the spec and model that are given, else by the `recorded` spec or the names in the trace.

    Without the spec, or if the spec no longer fits, the story uses the file alone. Raises only if a spec, a model or a
    property is given.
    """
    if spec is not None or model is not None or prop is not None:
        return traced_story(file, spec or recorded, model, prop)
    try:
        return traced_story(file, recorded)
    except CommandLineError as error:
        reason = f"{error.help}."
    except SpecError as error:
        in_source = f" ({Path(error.span.path).name}:{error.span.line})" if error.span is not None else ""
        reason = f"The spec has a mistake now: {error.message}{in_source}."
    except KmcError as error:
        reason = f"The spec does not fit the trace any more: {error.message}."
    story = story_of_file(file)
    return replace(story, notes=(*story.notes, reason[:1].upper() + reason[1:]))


def watching(story: Story, file: TraceFile, spec: str | None, model: str | None, texts: Sequence[str]) -> Story:
    """The story of a trace with the values of expressions in each state.

    Raises what `model_of_trace`, `expressions_of` and `refuse_without_value` raise, and TraceError KMC440 where the
    spec does not allow the trace's steps.
    """
    bound = model_of_trace(file, spec, model)
    asked = expressions_of(bound.spec, texts)
    replayed = retake(file, bound, recorded_failure(file))
    if replayed.stop is not None:
        raise TraceError(
            "KMC440",
            f"--show cannot evaluate in the states of {file.shown_path}: {replayed.stop.sentence}",
            help="without --show, the trace is shown as it was recorded",
        )
    refuse_without_value(asked, replayed.states)
    return watched(story, asked, replayed.states)


def story_by(model: Model, file: TraceFile) -> Story:
    """The story of a trace of `model`."""
    failure = recorded_failure(file)
    replayed = retake(file, model, failure)
    notes: tuple[str, ...] = ()
    if replayed.stop is not None:
        notes = (f"The spec has changed since: {replayed.stop.sentence} The trace is shown as it was recorded.",)
        replayed = _as_recorded(file, model)
    violation = recorded_violation(model, failure, replayed) if failure is not None else None
    if violation is not None:
        return story_of(model, violation, file.about)
    back_to = None if replayed.loop is None else replayed.loop + 1
    story = tell(model.spec, replayed.trace, file.about, back_to=back_to, closing=replayed.closing)
    return replace(story, notes=(*story.notes, *notes))


def _story_of_property(model: Model, file: TraceFile, prop: str) -> Story:
    """The story of a trace of `model` that violates the property `prop`."""
    property_called(model, prop)
    failure = RecordedFailure(Verdict.VIOLATION if file.loop is None else Verdict.LIVENESS, prop)
    replayed = retake(file, model, failure)
    if replayed.stop is not None:
        raise TraceError(
            "KMC440",
            f"why '{prop}' fails cannot be told of {file.shown_path}: {replayed.stop.sentence}",
            help="without --property, the trace is shown as it was recorded",
        )
    violation = recorded_violation(model, failure, replayed)
    if violation is None:
        raise _not_violated(model, file, prop, replayed)
    return story_of(model, violation, {**file.about, "status": violation.verdict.value, "property": prop})


def _not_violated(model: Model, file: TraceFile, prop: str, replayed: Retaken) -> TraceError:
    declared = (*(kind.declared for kind in of_role(Role.CHECKED)), TemporalProperty)
    names = [name for name, known in model.spec.properties.items() if isinstance(known, declared)]
    failing = [name for name in names if name != prop and _fails(model, name, replayed, len(replayed.states))]
    earlier = next((count for count in range(1, len(replayed.states)) if _fails(model, prop, replayed, count)), None)
    where = "which holds in this behavior"
    if replayed.loop is None:
        is_temporal = isinstance(model.spec.properties[prop], TemporalProperty)
        where = (
            "which later states may keep" if is_temporal else f"which holds in state {len(replayed.states)}, its last"
        )
    notes = () if earlier is None else (f"{prop} fails in state {earlier}, before the end of the trace",)
    found_there = f"what fails there: {', '.join(failing)}" if failing else "no property of the spec fails there"
    return TraceError("KMC439", f"{file.shown_path} does not violate '{prop}', {where}",
                      help=found_there, notes=notes)  # fmt: skip


def _fails(model: Model, name: str, replayed: Retaken, count: int) -> bool:
    """Whether a property fails at the end of the first `count` states; a temporal one only of the whole trace."""
    is_whole = count == len(replayed.states)
    if not is_whole and not isinstance(model.spec.properties[name], Predicate):
        return False
    try:
        return fails_at_end(model, name, replayed.states[:count], replayed.loop if is_whole else None)
    except KmcError:
        return False


def _as_recorded(file: TraceFile, model: Model) -> Retaken:
    trace: Trace = to_trace(file, model.spec)
    return Retaken(trace.steps, None, file.loop, closing_of(file, model.spec))
