"""One line a step: its label, its changes, and the messages that it sent; a bracket marks the cycle of a lasso."""

from __future__ import annotations

from collections.abc import Iterator

from kmc.story.parts.in_words import in_words
from kmc.story.parts.story import StoryStep
from kmc.text_lines import BAD, DIM, HEAD, TextLine, TextPiece, fitted, join_groups, lane_tone, line, wrapped
from kmc.views.change_text import by_weight, change_pieces, column_of, shown_changes
from kmc.views.message_text import sent_text
from kmc.views.text_options import ShownStory

NOT_NEEDED = "(not needed)"

_ROOM_MIN = 12
"""A change that would have less room than this is counted, not cut."""


def step_lines(shown: ShownStory) -> Iterator[TextLine]:
    """The steps, and how a lasso goes on."""
    for step in shown.steps:
        yield from whole_step(shown, step) if _recurs(shown, step) else [line(*_fitted_step(shown, step))]
    yield from loop_lines(shown)
    yield from _closing_changes(shown)
    left_out = len(shown.story.steps) - len(shown.steps)
    if left_out:
        of = ", ".join(shown.options.lanes)
        yield from wrapped([TextPiece(f"{left_out} steps without {of} are not shown", DIM)], shown.width)


def gutter(shown: ShownStory, number: int) -> list[TextPiece]:
    """The bracket at the left of the states that repeat for ever; nothing for a trace that is not a lasso."""
    loop = shown.story.loop
    if loop is None:
        return []
    if number < loop.back_to:
        return [TextPiece("  ")]
    return [TextPiece("+ " if number == loop.back_to else "| ", BAD)]


def inner_gutter(shown: ShownStory, number: int) -> list[TextPiece]:
    """The bracket at the left of a further line of a step."""
    return [TextPiece(piece.text.replace("+", "|"), piece.tone) for piece in gutter(shown, number)]


def number_pieces(shown: ShownStory, step: StoryStep) -> list[TextPiece]:
    """The bracket and the number of a step."""
    size = len(str(len(shown.story.steps)))
    return [*gutter(shown, step.number), TextPiece(f"{step.number:>{size}}  ", DIM if not step.matters else HEAD)]


def label_pieces(shown: ShownStory, step: StoryStep) -> list[TextPiece]:
    """The label of a step, in the colour of the process that acts."""
    lanes = shown.story.lanes
    tone = lane_tone(lanes.index(step.actor)) if step.actor in lanes else HEAD
    return [TextPiece(step.label, tone if step.matters else DIM)]


def not_needed(step: StoryStep) -> str:
    """The reason why a step does not matter; empty for one that does."""
    if step.matters:
        return ""
    note = step.note.rstrip(".")
    return f"(not needed: {note[:1].lower()}{note[1:]})" if note else NOT_NEEDED


def _fitted_step(shown: ShownStory, step: StoryStep) -> list[TextPiece]:
    start = [*number_pieces(shown, step), *label_pieces(shown, step)]
    if not step.matters:
        start.append(TextPiece(f" {NOT_NEEDED}", DIM))
    room = shown.width - sum(len(piece.text) for piece in start)
    said = summary(shown, step, room - 2)
    if not step.matters:
        said = [TextPiece(piece.text, DIM) for piece in said]
    return fitted([*start, TextPiece(": "), *said] if said else start, shown.width)


def _recurs(shown: ShownStory, step: StoryStep) -> bool:
    """Whether a step is one inside the cycle: another step undoes its changes, so its changes are shown in full."""
    loop = shown.story.loop
    return loop is not None and loop.closing is not None and step.number > loop.back_to


def _margin(shown: ShownStory) -> int:
    return len(str(len(shown.story.steps))) + 4


def whole_step(shown: ShownStory, step: StoryStep) -> Iterator[TextLine]:
    """A step with all that it changed and sent, in as many lines as that needs."""
    groups = list(_parts(shown, step))
    no_change = [] if step.number == 1 else [TextPiece(text_without_changes(shown, step), DIM)]
    said = join_groups(groups) if groups else no_change
    pieces = [*number_pieces(shown, step), *label_pieces(shown, step), *([TextPiece(": "), *said] if said else [])]
    yield from wrapped(pieces, shown.width, hanging=_margin(shown))


def _closing_changes(shown: ShownStory) -> Iterator[TextLine]:
    """The changes and the messages of the step that closes the cycle."""
    loop = shown.story.loop
    groups = list(_parts(shown, loop.closing)) if loop is not None and loop.closing is not None else []
    if groups:
        margin = _margin(shown)
        yield from wrapped([TextPiece("back: ", DIM), *join_groups(groups)], shown.width, indent=margin, hanging=margin)


def summary(shown: ShownStory, step: StoryStep, room: int) -> list[TextPiece]:
    """The changes and the messages of a step, as far as there is room; those that are left out are counted."""
    groups = list(_parts(shown, step))
    if not groups:
        return [] if step.number == 1 else [TextPiece(text_without_changes(shown, step), DIM)]
    kept: list[list[TextPiece]] = []
    for index, group in enumerate(groups):
        left = len(groups) - index - 1
        needed = len(joined_text([*kept, group])) + (len(_more(left)) if left else 0)
        if needed > room:
            break
        kept.append(group)
    rest = len(groups) - len(kept)
    if not rest:
        return join_groups(kept)
    if not kept and room - len(_more(rest - 1)) >= _ROOM_MIN:
        kept, rest = [fitted(groups[0], room - len(_more(rest - 1)))], rest - 1
    return [*join_groups(kept), *([TextPiece(_more(rest, alone=not kept), DIM)] if rest else [])]


def text_without_changes(shown: ShownStory, step: StoryStep) -> str:
    """The text in place of changes if none is shown."""
    taken = shown.story.messages_removed(step)
    if step.changes or step.sent or step.lost:
        return "changes nothing that is shown"
    if taken:
        return f"only takes {', '.join(message.name for message in taken)} from the network"
    return "changes nothing" if step.received is None else "nothing else changes"


def _more(count: int, *, alone: bool = False) -> str:
    if not count:
        return ""
    return f"{count} change{'s' * (count != 1)}" if alone else f"; {count} more"


def joined_text(groups: list[list[TextPiece]]) -> str:
    """The text of groups of pieces, as `join_groups` puts them."""
    return "".join(piece.text for piece in join_groups(groups))


def _parts(shown: ShownStory, step: StoryStep) -> Iterator[list[TextPiece]]:
    """The watched expressions, the changes of the table of processes, then the messages, then all other changes."""
    places = list(by_weight(shown_changes(step, shown.variables, shown.options.lanes), shown.story))
    watched = [place for place in places if place.variable in shown.story.watched]
    if step.abstract:
        yield [TextPiece(f"[{step.abstract}]", DIM)]
    if step.number == 1:
        for name in shown.story.watched:
            yield [TextPiece(f"{name} = {shown.names.of_text(in_words(step.variables[name]), 1)}")]
    for place in watched:
        yield change_pieces(place, step.actor, shown.names, step.number)
    places = [place for place in places if place not in watched]
    first = [place for place in places if column_of(place, shown.story) is not None]
    yield from ([TextPiece(f"majority {majority}")] for majority in step.majorities)
    for place in first:
        yield change_pieces(place, step.actor, shown.names, step.number)
    if step.sent and not shown.options.variables:
        yield [TextPiece(f"{step.has_sent} {sent_text([shown.story.message(n) for n in step.sent], step.actor)}")]
    if step.lost and not shown.options.variables:
        yield [TextPiece(f"loses {sent_text([shown.story.message(n) for n in step.lost], None)}", BAD)]
    for place in places:
        if place not in first:
            yield change_pieces(place, step.actor, shown.names, step.number)


def loop_lines(shown: ShownStory) -> Iterator[TextLine]:
    """The lines on how the behaviour continues for ever, and why the cycle is fair."""
    loop = shown.story.loop
    if loop is None:
        return
    last = len(shown.story.steps)
    margin = _margin(shown)
    start = [TextPiece("+ ", BAD), TextPiece(" " * (margin - 2))]
    if loop.closing is None:
        end = f"then nothing happens any more: state {last} lasts for ever"
        yield from wrapped([*start, TextPiece(end, BAD)], shown.width, hanging=margin)
    else:
        back = TextPiece(f"  back to state {loop.back_to}, and so on for ever", BAD)
        yield from wrapped([*start, *label_pieces(shown, loop.closing), back], shown.width, hanging=margin)


def fairness_lines(shown: ShownStory) -> Iterator[TextLine]:
    """The reason why the cycle is a fair one."""
    loop = shown.story.loop
    for index, sentence in enumerate(loop.fairness if loop is not None else ()):
        indent = 2 if index else 0
        yield from wrapped([TextPiece(sentence)], shown.width, indent=indent, hanging=indent + 2)
