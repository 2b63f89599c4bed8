"""The start of an explorer: a model, and the trace of a counterexample if one is given."""

from __future__ import annotations

from kmc.explorer.session import Ground, OpenedCycle
from kmc.explorer.state_tree import VISITED_MAX, StateTree
from kmc.frontend.model import Model
from kmc.story.retaken import retake
from kmc.trace.untyped_trace import TraceFile


def ground_of(model: Model, watched: tuple[str, ...] = ()) -> Ground:
    """An explorer without a trace, which shows the expressions `watched`."""
    return Ground(model, about={"spec": model.spec.name, "model": model.name}, watched=watched)


def ground_at(model: Model, file: TraceFile, number: int, watched: tuple[str, ...] = ()) -> Ground:
    """An explorer that opens at state `number` of a trace, counted from 1, as far as the spec still allows its steps.

    Raises TraceError for a trace of another spec.
    """
    taken = retake(file, model)
    notes = list(taken.notes)
    steps = taken.steps[:VISITED_MAX]
    if taken.stop is not None:
        notes += [f"The trace is shown up to state {len(steps)}: {taken.stop.sentence}", *taken.stop.details]
    tree = StateTree().after_steps([(step, None) for step in steps])
    if steps:
        tree = tree.moved(min(number, len(steps)) - 1)
    cycle = None
    if taken.loop is not None and len(steps) == len(taken.steps):
        cycle = OpenedCycle(len(steps), taken.loop + 1, taken.closing)
        notes.append(f"The trace is a lasso: after state {cycle.length} comes state {cycle.back_to} again.")
    return Ground(model, tree, dict(file.about), tuple(notes), cycle, watched)
