"""The story of a counterexample: its steps, why its property fails, which steps matter, how a lasso continues."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from kmc.frontend.model import Model
from kmc.liveness.refutation_lines import fairness_lines
from kmc.result import Cycle, Violation
from kmc.story.explain.deciding_step import deciding_step
from kmc.story.explain.refutation import for_people, missing_action
from kmc.story.explain.why import why
from kmc.story.parts.story import Story, StoryLoop
from kmc.story.slice import sliced
from kmc.story.tell import tell


def story_of(model: Model, violation: Violation, about: Mapping[str, str] | None = None) -> Story:
    """The story of a violation that the interpreter has replayed; `about` is that of its trace file."""
    refutation = for_people(model, violation).refutation
    cycle = refutation.cycle if refutation is not None else None
    if cycle is None:
        story = tell(model.spec, violation.trace, about)
    else:
        fairness = lines_for_people(cycle)
        story = tell(
            model.spec, violation.trace, about, back_to=cycle.back_to, closing=cycle.closing, fairness=fairness
        )
        story = replace(story, loop=with_beginning(story.loop, refutation.why if refutation is not None else ""))
    explanation = why(model, violation)
    # A property of steps says itself what the step changes.
    step = "" if violation.is_step else missing_action(model, violation) or deciding_step(story, explanation)
    return sliced(replace(story, why=replace(explanation, step=step)), model, violation)


def lines_for_people(cycle: Cycle) -> tuple[str, ...]:
    """Why a cycle is fair, in lines."""
    return tuple(line.removeprefix("  ") for line in fairness_lines(cycle))


def with_beginning(loop: StoryLoop | None, reason: str) -> StoryLoop | None:
    """The cycle with the state that the reason of the refutation names first: `... is true in state 3, and ...`."""
    named = re.search(r"\bstate (\d+)", reason)
    return loop if loop is None or named is None else replace(loop, fails_from=int(named[1]))
