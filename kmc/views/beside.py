"""Two traces of one spec side by side: the steps that both take, where they part, and then a column for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest

from kmc.story.parts.changes import changes_between
from kmc.story.parts.story import Change, Story, StoryStep
from kmc.text_lines import BAD, DIM, HEAD, TextLine, TextPiece, line, shortened, wrapped
from kmc.views.text_options import ShownStory, TextOptions, under_options
from kmc.views.text_steps import whole_step

_GAP = " | "
_DIFFERENCES_MAX = 6
ABSENT = "absent"
"""The text for a place that only the other trace has; a value of `None` is shown as none."""


def beside_lines(left: Story, right: Story, names: tuple[str, str], options: TextOptions) -> Iterator[TextLine]:
    """The two traces, called by `names`: the common beginning once, and the rest in two columns.

    A state is shared where all states up to it are equal, and the steps between them too.
    """
    shown = under_options(left, options)
    shared = shared_states(left, right)
    if shared:
        states = "The first state is" if shared == 1 else f"The first {shared} states are"
        yield line(TextPiece(f"{states} the same:", HEAD))
        for step in shown.story.steps[:shared]:
            yield from whole_step(shown, step)
        yield line()
    rests = (left.steps[shared:], right.steps[shared:])
    if not any(rests):
        yield line(TextPiece("The traces are equal.", HEAD))
        return
    yield from wrapped([TextPiece(parting(left, right, names, shared), BAD)], shown.width, hanging=2)
    half = replace(options, width=(shown.width - len(_GAP)) // 2)
    columns = [under_options(story, half) for story in (left, right)]
    width = max(column.width for column in columns)
    first, second = ([line(TextPiece(shortened(name, width), HEAD))] for name in names)
    yield from _row(first, second, width)
    for one, other in zip_longest(*rests):
        yield from _row(_cell(columns[0], one, left), _cell(columns[1], other, right), width)


def shared_states(left: Story, right: Story) -> int:
    """The number of states that the traces share at their beginning."""
    count = 0
    for one, other in zip(left.steps, right.steps, strict=False):
        if (one.label, one.variables) != (other.label, other.variables):
            break
        count += 1
    return count


def parting(left: Story, right: Story, names: tuple[str, str], shared: int) -> str:
    """The differences in the first states that are not shared, or which trace is the beginning of the other."""
    if min(len(left.steps), len(right.steps)) == shared:
        shorter, longer = names if len(left.steps) == shared else names[::-1]
        return f"{shorter} ends there, and {longer} goes on:"
    told_of = [f"{one.place} is {one.old or ABSENT} or {one.new or ABSENT}" for one in differences(left, right, shared)]
    rest = len(told_of) - _DIFFERENCES_MAX
    more = f"; and {rest} more" if rest > 0 else ""
    said = f": {'; '.join(told_of[:_DIFFERENCES_MAX])}{more}" if told_of else ", by another step to an equal state"
    return f"They part in state {shared + 1}{said}"


def differences(left: Story, right: Story, index: int) -> tuple[Change, ...]:
    """The places at which the states of two traces differ, messages last; `old` is the value of the left one.

    Both states have the index `index`, counted from 0.
    """
    one, other = left.steps[index], right.steps[index]
    names_of_both = [name for name in left.variables if name in right.variables]
    messages = {*left.networks, *left.archives}
    names_of_both.sort(key=messages.__contains__)
    return changes_between(one.variables, other.variables, names_of_both, lambda path: _lane(left, path))


def _lane(story: Story, path: Sequence[str]) -> str | None:
    """The process of a place, which is the second part of its path."""
    return path[1] if len(path) > 1 and path[1] in story.lanes else None


def _cell(column: ShownStory, step: StoryStep | None, story: Story) -> list[TextLine]:
    if step is not None:
        return list(whole_step(column, step))
    return [line(TextPiece("ends", DIM))] if story.loop is None else [line(TextPiece("repeats", DIM))]


def _row(left: Sequence[TextLine], right: Sequence[TextLine], width: int) -> Iterator[TextLine]:
    """Two cells, line by line."""
    for one, other in zip_longest(left, right, fillvalue=line()):
        blanks = " " * max(0, width - len(one))
        yield TextLine((*one.pieces, TextPiece(blanks), TextPiece(_GAP, DIM), *other.pieces))
