"""The text views of a story, by name. A new view is a function of `ShownStory` and a row of `VIEWS`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import MappingProxyType

from kmc.story.parts.story import Story
from kmc.text_lines import BAD, HEAD, TextLine, TextPiece, line, wrapped
from kmc.views.text_changes import change_lines, one_step_lines, whole_lines
from kmc.views.text_chart import chart_lines
from kmc.views.text_options import ShownStory, TextOptions, under_options
from kmc.views.text_state import state_lines
from kmc.views.text_steps import fairness_lines, step_lines
from kmc.views.text_table import table_lines
from kmc.views.text_why import note_lines, why_lines


def text_view(story: Story, view: str, options: TextOptions) -> Iterator[TextLine]:
    """The reason why the property fails, then the view called `view`."""
    shown = under_options(story, options)
    why = list(why_lines(shown))
    yield from why
    yield from [line()] if why else []
    yield from VIEWS[view](shown)
    fair = list(fairness_lines(shown))
    yield from [line(), *fair] if fair else []
    notes = list(note_lines(shown))
    yield from [line(), *notes] if notes else []


def text_step(story: Story, number: int, options: TextOptions) -> Iterator[TextLine]:
    """The reason of the failure, in a sentence, and the state `number` whole, with the events of the step to it."""
    shown = under_options(story, options)
    if story.why is not None:
        yield from wrapped([TextPiece(story.why.sentence, BAD)], shown.width)
        yield line()
    yield from one_step_lines(shown, story.steps[number - 1])


def _overview(shown: ShownStory) -> Iterator[TextLine]:
    """One line a step, then the last state whole."""
    last = shown.story.steps[-1]
    if last.number > 1 or shown.story.loop is not None:
        yield from step_lines(shown)
        yield line()
    yield line(TextPiece(f"State {last.number}, the last:" if last.number > 1 else "The initial state:", HEAD))
    yield from state_lines(shown, last)


VIEWS: MappingProxyType[str, Callable[[ShownStory], Iterator[TextLine]]] = MappingProxyType(
    {
        "steps": _overview,
        "changes": change_lines,
        "states": whole_lines,
        "table": table_lines,
        "chart": chart_lines,
    }
)
