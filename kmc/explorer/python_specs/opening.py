"""The start of an explorer on a spec in Python: a model, and the trace of a counterexample if one is given."""

from __future__ import annotations

from kmc.explorer.explored_model import OpenedTrace
from kmc.explorer.ground import Ground, opened_ground
from kmc.explorer.python_specs.explored_spec import ExploredSpec
from kmc.frontend.model import Model
from kmc.story.retaken import retake
from kmc.trace.untyped_trace import TraceFile


def ground_of(model: Model, watched: tuple[str, ...] = ()) -> Ground:
    """An explorer without a trace, which shows the expressions `watched`."""
    return Ground(ExploredSpec(model), about={"spec": model.spec.name, "model": model.name}, watched=watched)


def ground_at(model: Model, file: TraceFile, number: int, watched: tuple[str, ...] = ()) -> Ground:
    """An explorer that opens at state `number` of a trace, counted from 1, as far as the spec still allows its steps.

    Raises TraceError for a trace of another spec.
    """
    taken = retake(file, model)
    notes = list(taken.notes)
    if taken.stop is not None:
        shown = f"The trace is shown up to state {len(taken.steps)}: {taken.stop.sentence}"
        notes += [shown, *taken.stop.details]
    loop = None if taken.loop is None else taken.loop + 1
    opened = OpenedTrace(taken.steps, dict(file.about), tuple(notes), loop, taken.closing)
    return opened_ground(ExploredSpec(model), opened, number, watched)
