"""The story of a counterexample: its steps, why its property fails, which steps matter, how a lasso continues."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from kmc.frontend.model import Model
from kmc.liveness.refutation_lines import fairness_lines
from kmc.result import Cycle, Violation
from kmc.story.explain.deciding_step import deciding_step
from kmc.story.explain.refined_steps import AbstractRun, refinement_in
from kmc.story.explain.refutation import for_people, missing_action
from kmc.story.explain.why import why
from kmc.story.parts.story import Story, StoryLoop
from kmc.story.slice import sliced
from kmc.story.tell import tell
from kmc.story.watched import with_values


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
    story = beside_abstract(story, model, violation)
    explanation = why(model, violation)
    # A property of steps says itself what the step changes.
    step = "" if violation.is_step else missing_action(model, violation) or deciding_step(story, explanation)
    return sliced(replace(story, why=replace(explanation, step=step)), model, violation)


def beside_abstract(story: Story, model: Model, violation: Violation) -> Story:
    """The story of a refinement that fails with the abstract behaviour: its steps, and its variables first."""
    refinement = refinement_in(model, violation)
    if refinement is None:
        return story
    run = AbstractRun(model, refinement, [step.state for step in violation.trace.steps])
    labels = (f"{run.name}: {label}" for label in run.labels())
    steps = tuple(replace(step, abstract=label) for step, label in zip(story.steps, labels, strict=True))
    values = run.named_values()
    return with_values(replace(story, steps=steps), list(values[0]), values)


def lines_for_people(cycle: Cycle) -> tuple[str, ...]:
    """Why a cycle is fair, in lines."""
    return tuple(line.removeprefix("  ") for line in fairness_lines(cycle))


def with_beginning(loop: StoryLoop | None, reason: str) -> StoryLoop | None:
    """The cycle with the state that the reason of the refutation names first: `... is true in state 3, and ...`."""
    named = re.search(r"\bstate (\d+)", reason)
    return loop if loop is None or named is None else replace(loop, fails_from=int(named[1]))
