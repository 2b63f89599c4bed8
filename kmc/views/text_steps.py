"""One line a step: what happened, what it changed, and which messages it sent; a bracket marks the cycle of a lasso."""

from __future__ import annotations

from collections.abc import Iterator

from kmc.story.story import StoryStep
from kmc.views.change_text import by_weight, change_pieces, column_of, shown_changes
from kmc.views.lines import BAD, DIM, HEAD, TextLine, TextPiece, fitted, joined, lane_tone, line, wrapped
from kmc.views.message_text import sent_text
from kmc.views.text_options import Told

NOT_NEEDED = "(not needed)"

_ROOM_MIN = 12
"""A change that would have less room than this is counted, not cut."""


def step_lines(told: Told) -> Iterator[TextLine]:
    """The steps, and how a lasso goes on."""
    for step in told.steps:
        yield line(*_fitted_step(told, step))
    yield from loop_lines(told)
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
    """What happened, in the colour of the process that acts."""
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


def summary(told: Told, step: StoryStep, room: int) -> list[TextPiece]:
    """What a step changed and sent, as far as there is room; what is left out is counted."""
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
        return joined(kept)
    if not kept and room - len(_more(rest - 1)) >= _ROOM_MIN:
        kept, rest = [fitted(groups[0], room - len(_more(rest - 1)))], rest - 1
    return [*joined(kept), *([TextPiece(_more(rest, alone=not kept), DIM)] if rest else [])]


def nothing_told(told: Told, step: StoryStep) -> str:
    """What stands in place of changes where none is shown."""
    taken = told.story.taken(step)
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
    """The text of groups of pieces, as `joined` puts them."""
    return "".join(piece.text for piece in joined(groups))


def _parts(told: Told, step: StoryStep) -> Iterator[list[TextPiece]]:
    """The changes of the table of processes, then the messages, then all other changes."""
    places = list(by_weight(shown_changes(step, told.variables, told.options.lanes), told.story))
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
    """How the behaviour goes on for ever, and why the cycle is fair."""
    loop = told.story.loop
    if loop is None:
        return
    last = len(told.story.steps)
    margin = len(str(last)) + 4
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
