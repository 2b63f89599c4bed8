"""The story of a counterexample: its trace told, why its property fails, which steps matter, how a lasso goes on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kmc.reference.refutation_lines import fairness_lines
from kmc.result import Violation
from kmc.spec.model import Model
from kmc.story.refutation_for_people import for_people
from kmc.story.slice import sliced
from kmc.story.story import Story
from kmc.story.tell import tell
from kmc.story.why import why


def story_of(model: Model, violation: Violation, about: Mapping[str, str] | None = None) -> Story:
    """The story of a violation that the interpreter has replayed; `about` is that of its trace file."""
    refutation = for_people(model, violation).refutation
    cycle = refutation.cycle if refutation is not None else None
    if cycle is None:
        story = tell(model.spec, violation.trace, about)
    else:
        fairness = tuple(line.removeprefix("  ") for line in fairness_lines(cycle))
        story = tell(
            model.spec, violation.trace, about, back_to=cycle.back_to, closing=cycle.closing, fairness=fairness
        )
    return sliced(replace(story, why=why(model, violation)), model, violation)
