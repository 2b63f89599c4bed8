"""Expressions that a person watches along a trace: their values appear in the states of a story as variables do.

A state in which an expression cannot be evaluated shows that: an expression that a person watches beside a trace never
costs the trace.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kmc.errors import CommandLineError, KmcError, Span
from kmc.frontend.loader import Spec
from kmc.frontend.typed_expression import Expression, expression
from kmc.lang.records import State
from kmc.lang.tla import Tla
from kmc.story.parts.changes import changes_between
from kmc.story.parts.lanes import table_for_people
from kmc.story.parts.notation import Notation
from kmc.story.parts.story import Story, StoryStep

NO_VALUE = "no value"
"""The text for a state in which an expression cannot be evaluated."""


def expressions_of(spec: Spec, texts: Sequence[str]) -> tuple[Expression, ...]:
    """The expressions, each once; CommandLineError KMC640 to KMC642 for a mistake, KMC649 for one over a step."""
    asked = tuple(expression(spec, text) for text in dict.fromkeys(text.strip() for text in texts))
    for one in asked:
        if one.needs_successor:
            raise not_of_a_state(one.text, one.place, "write it without nxt")
    return asked


def not_of_a_state(text: str, place: Span, help: str) -> CommandLineError:
    """Return the error of an expression about a step where one about a state is needed, KMC649."""
    return CommandLineError("KMC649", f"'{text}' is said of a step, not of a state", place, help)


def refuse_without_value(asked: Sequence[Expression], states: Sequence[State]) -> None:
    """Raise the KmcError of an expression that has a value in none of the states, as it is in the last of them."""
    for one in asked:
        if states and all(_value(one, state) == NO_VALUE for state in states):
            one.encoded(one.value(states[-1]))


def watched(story: Story, asked: Sequence[Expression], states: Sequence[State]) -> Story:
    """The story with the values of expressions in its `states`, as its first variables, and with their changes."""
    return with_values(story, [one.text for one in asked], [values_in(asked, state) for state in states])


def values_in(asked: Sequence[Expression], state: State) -> dict[str, Tla]:
    """The values of expressions in a state, by their texts."""
    return {one.text: _value(one, state) for one in asked}


def with_values(story: Story, names: Sequence[str], values: Sequence[dict[str, Tla]]) -> Story:
    """The story with these `values` of the expressions called `names`, one set for each of its states."""
    before = [values[0], *values]
    steps = tuple(
        _with(step, now, old, story.notation) for step, now, old in zip(story.steps, values, before, strict=False)
    )
    kept = tuple(name for name in story.variables if name not in names)
    loop = story.loop
    if loop is not None and loop.closing is not None:
        loop = replace(loop, closing=_with(loop.closing, values[loop.back_to - 1], values[-1], story.notation))
    return replace(story, variables=(*names, *kept), steps=steps, loop=loop, watched=tuple(names))


def _with(step: StoryStep, now: dict[str, Tla], before: dict[str, Tla], notation: Notation) -> StoryStep:
    changes = changes_between(before, now, list(now), lambda path: None, notation.shown)
    own = tuple(change for change in step.changes if change.path[0] not in now)
    return replace(step, variables={**step.variables, **now}, changes=(*changes, *own))


def _value(asked: Expression, state: State) -> Tla:
    try:
        return asked.encoded(asked.value(state), table_for_people(asked.spec).naming)
    except KmcError:
        return NO_VALUE
