"""One line a step: its label, its changes, and the messages that it sent; a bracket marks the cycle of a lasso."""

from __future__ import annotations

from collections.abc import Iterator

from kmc.story.parts.in_words import in_words
from kmc.story.parts.story import StoryStep
from kmc.text_lines import BAD, DIM, HEAD, TextLine, TextPiece, fitted, join_groups, lane_tone, line, wrapped
from kmc.views.change_text import by_weight, change_pieces, column_of, shown_changes
from kmc.views.message_text import sent_text
from kmc.views.text_options import Told

NOT_NEEDED = "(not needed)"

_ROOM_MIN = 12
"""A change that would have less room than this is counted, not cut."""


def step_lines(told: Told) -> Iterator[TextLine]:
    """The steps, and how a lasso goes on."""
    for step in told.steps:
        yield from whole_step(told, step) if _recurs(told, step) else [line(*_fitted_step(told, step))]
    yield from loop_lines(told)
    yield from _closing_changes(told)
    left_out = len(told.story.steps) - len(told.steps)
    if left_out:
        of = ", ".join(told.options.lanes)
        yield from wrapped([TextPiece(f"{left_out} steps without {of} are not shown", DIM)], told.width)


def gutter(told: Told, number: int) -> list[TextPiece]:
    """The bracket at the left of the states that repeat for ever; nothing for a trace that is not a lasso."""
    loop = told.story.loop
    if loop is None:
        return []
    if number < loop.back_to:
        return [TextPiece("  ")]
    return [TextPiece("+ " if number == loop.back_to else "| ", BAD)]


def inner_gutter(told: Told, number: int) -> list[TextPiece]:
    """The bracket at the left of a further line of a step."""
    return [TextPiece(piece.text.replace("+", "|"), piece.tone) for piece in gutter(told, number)]


def number_pieces(told: Told, step: StoryStep) -> list[TextPiece]:
    """The bracket and the number of a step."""
    size = len(str(len(told.story.steps)))
    return [*gutter(told, step.number), TextPiece(f"{step.number:>{size}}  ", DIM if not step.matters else HEAD)]


def label_pieces(told: Told, step: StoryStep) -> list[TextPiece]:
    """The label of a step, in the colour of the process that acts."""
    lanes = told.story.lanes
    tone = lane_tone(lanes.index(step.actor)) if step.actor in lanes else HEAD
    return [TextPiece(step.label, tone if step.matters else DIM)]


def not_needed(step: StoryStep) -> str:
    """Why a step does not matter; empty for one that does."""
    if step.matters:
        return ""
    note = step.note.rstrip(".")
    return f"(not needed: {note[:1].lower()}{note[1:]})" if note else NOT_NEEDED


def _fitted_step(told: Told, step: StoryStep) -> list[TextPiece]:
    start = [*number_pieces(told, step), *label_pieces(told, step)]
    if not step.matters:
        start.append(TextPiece(f" {NOT_NEEDED}", DIM))
    room = told.width - sum(len(piece.text) for piece in start)
    said = summary(told, step, room - 2)
    if not step.matters:
        said = [TextPiece(piece.text, DIM) for piece in said]
    return fitted([*start, TextPiece(": "), *said] if said else start, told.width)


def _recurs(told: Told, step: StoryStep) -> bool:
    """Whether a step is one inside the cycle: another step undoes its changes, so its changes are shown in full."""
    loop = told.story.loop
    return loop is not None and loop.closing is not None and step.number > loop.back_to


def _margin(told: Told) -> int:
    return len(str(len(told.story.steps))) + 4


def whole_step(told: Told, step: StoryStep) -> Iterator[TextLine]:
    """A step with all that it changed and sent, in as many lines as that needs."""
    groups = list(_parts(told, step))
    told_of_none = [] if step.number == 1 else [TextPiece(nothing_told(told, step), DIM)]
    said = join_groups(groups) if groups else told_of_none
    pieces = [*number_pieces(told, step), *label_pieces(told, step), *([TextPiece(": "), *said] if said else [])]
    yield from wrapped(pieces, told.width, hanging=_margin(told))


def _closing_changes(told: Told) -> Iterator[TextLine]:
    """The changes and the messages of the step that closes the cycle."""
    loop = told.story.loop
    groups = list(_parts(told, loop.closing)) if loop is not None and loop.closing is not None else []
    if groups:
        margin = _margin(told)
        yield from wrapped([TextPiece("back: ", DIM), *join_groups(groups)], told.width, indent=margin, hanging=margin)


def summary(told: Told, step: StoryStep, room: int) -> list[TextPiece]:
    """The changes and the messages of a step, as far as there is room; those that are left out are counted."""
    groups = list(_parts(told, step))
    if not groups:
        return [] if step.number == 1 else [TextPiece(nothing_told(told, step), DIM)]
    kept: list[list[TextPiece]] = []
    for place, group in enumerate(groups):
        left = len(groups) - place - 1
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


def nothing_told(told: Told, step: StoryStep) -> str:
    """The text in place of changes if none is shown."""
    taken = told.story.messages_removed(step)
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


def _parts(told: Told, step: StoryStep) -> Iterator[list[TextPiece]]:
    """The watched expressions, the changes of the table of processes, then the messages, then all other changes."""
    places = list(by_weight(shown_changes(step, told.variables, told.options.lanes), told.story))
    watched = [place for place in places if place.variable in told.story.watched]
    if step.number == 1:
        for name in told.story.watched:
            yield [TextPiece(f"{name} = {told.names.of_text(in_words(step.variables[name]), 1)}")]
    for place in watched:
        yield change_pieces(place, step.actor, told.names, step.number)
    places = [place for place in places if place not in watched]
    first = [place for place in places if column_of(place, told.story) is not None]
    yield from ([TextPiece(f"majority {majority}")] for majority in step.majorities)
    for place in first:
        yield change_pieces(place, step.actor, told.names, step.number)
    if step.sent and not told.options.variables:
        yield [TextPiece(f"{step.has_sent} {sent_text([told.story.message(n) for n in step.sent], step.actor)}")]
    if step.lost and not told.options.variables:
        yield [TextPiece(f"loses {sent_text([told.story.message(n) for n in step.lost], None)}", BAD)]
    for place in places:
        if place not in first:
            yield change_pieces(place, step.actor, told.names, step.number)


def loop_lines(told: Told) -> Iterator[TextLine]:
    """The lines on how the behaviour continues for ever, and why the cycle is fair."""
    loop = told.story.loop
    if loop is None:
        return
    last = len(told.story.steps)
    margin = _margin(told)
    start = [TextPiece("+ ", BAD), TextPiece(" " * (margin - 2))]
    if loop.closing is None:
        end = f"then nothing happens any more: state {last} lasts for ever"
        yield from wrapped([*start, TextPiece(end, BAD)], told.width, hanging=margin)
    else:
        back = TextPiece(f"  back to state {loop.back_to}, and so on for ever", BAD)
        yield from wrapped([*start, *label_pieces(told, loop.closing), back], told.width, hanging=margin)


def fairness_lines(told: Told) -> Iterator[TextLine]:
    """Why the cycle is a fair one."""
    loop = told.story.loop
    for number, sentence in enumerate(loop.fairness if loop is not None else ()):
        indent = 2 if number else 0
        yield from wrapped([TextPiece(sentence)], told.width, indent=indent, hanging=indent + 2)
