"""The story of a saved trace: told by the spec as it is now where the trace still replays, else as it was recorded."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from kmc.cli.traced_model import model_of_trace, recorded_failure
from kmc.errors import CommandLineError, KmcError, SpecError
from kmc.result import Trace
from kmc.spec.model import Model
from kmc.story.from_file import story_of_file
from kmc.story.recorded_violation import recorded_violation
from kmc.story.retaken import Retaken, retake
from kmc.story.story import Story
from kmc.story.story_of import story_of
from kmc.story.tell import tell
from kmc.trace.files import closing_of, to_trace
from kmc.trace.untyped_trace import TraceFile


def traced_story(file: TraceFile, spec: str | None = None, model: str | None = None) -> Story:
    """The story of a trace, with why its property fails; `spec` and `model` where the trace does not name them.

    Raises what `model_of_trace` and `to_trace` raise.
    """
    bound = model_of_trace(file, spec, model)
    story = story_by(bound, file)
    if model is not None or "constants" in file.about or not bound.name:
        return story
    note = f"The trace does not name its model, so the constants are those of {bound.name}; --model takes others."
    return replace(story, notes=(*story.notes, note))


def story_at(file: TraceFile, spec: str | None, model: str | None, recorded: str | None) -> Story:
    """The story of a trace by the spec and model that are given, else by the `recorded` spec or what the trace names.

    Without the spec, or where it no longer fits, the story is what the file alone tells. Raises only where a spec or a
    model is given.
    """
    if spec is not None or model is not None:
        return traced_story(file, spec or recorded, model)
    try:
        return traced_story(file, recorded)
    except CommandLineError as error:
        reason = f"{error.help}."
    except SpecError as error:
        place = f" ({Path(error.span.path).name}:{error.span.line})" if error.span is not None else ""
        reason = f"The spec has a mistake now: {error.message}{place}."
    except KmcError as error:
        reason = f"The spec does not fit the trace any more: {error.message}."
    story = story_of_file(file)
    return replace(story, notes=(*story.notes, reason[:1].upper() + reason[1:]))


def story_by(model: Model, file: TraceFile) -> Story:
    """The story of a trace of `model`."""
    failure = recorded_failure(file)
    found = retake(file, model, failure)
    notes: tuple[str, ...] = ()
    if found.stop is not None:
        notes = (f"The spec has changed since: {found.stop.sentence} The trace is shown as it was recorded.",)
        found = _as_recorded(file, model)
    violation = recorded_violation(model, failure, found) if failure is not None else None
    if violation is not None:
        return story_of(model, violation, file.about)
    back_to = None if found.loop is None else found.loop + 1
    story = tell(model.spec, found.trace, file.about, back_to=back_to, closing=found.closing)
    return replace(story, notes=(*story.notes, *notes))


def _as_recorded(file: TraceFile, model: Model) -> Retaken:
    trace: Trace = to_trace(file, model.spec)
    return Retaken(trace.steps, None, file.loop, closing_of(file, model.spec))
