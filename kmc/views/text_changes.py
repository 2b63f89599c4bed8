"""Each step with its changes, old -> new down to the field, and with the messages that it received and sent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from kmc.story.parts.story import SentMessage, StoryStep
from kmc.text_lines import BAD, DIM, TextLine, TextPiece, lane_tone, line, wrapped
from kmc.views.change_text import ChangedPlace, shown_changes
from kmc.views.message_text import message_pieces
from kmc.views.text_options import ShownStory
from kmc.views.text_state import state_lines
from kmc.views.text_steps import inner_gutter, label_pieces, loop_lines, not_needed, number_pieces, text_without_changes

_INDENT = 4
_PLACE_MAX = 32
_LANE_MAX = 12


def change_lines(shown: ShownStory) -> Iterator[TextLine]:
    """The first state whole, then each step with its changes."""
    for step in shown.steps:
        yield from heading_lines(shown, step)
        inner = _narrowed(shown)
        body = state_lines(inner, step, marked=False) if step.number == 1 else body_lines(inner, step)
        yield from behind_gutter(shown, step.number, body)
        if step.number < len(shown.story.steps) or shown.story.loop is not None:
            yield line(*inner_gutter(shown, step.number))
    yield from loop_lines(shown)


def whole_lines(shown: ShownStory) -> Iterator[TextLine]:
    """Each step with its messages, and its whole state."""
    for step in shown.steps:
        yield from heading_lines(shown, step)
        inner = _narrowed(shown)
        yield from behind_gutter(shown, step.number, [*exchange_lines(inner, step), *state_lines(inner, step)])
        if step.number < len(shown.story.steps) or shown.story.loop is not None:
            yield line(*inner_gutter(shown, step.number))
    yield from loop_lines(shown)


def one_step_lines(shown: ShownStory, step: StoryStep) -> Iterator[TextLine]:
    """One step with its changes and messages, and its whole state."""
    yield from heading_lines(shown, step, with_message=False)
    if step.number > 1:
        in_source = f" ({step.place})" if step.place else ""
        yield from wrapped([TextPiece(f"{step.doc}{in_source}", DIM)], shown.width, indent=_INDENT, hanging=_INDENT)
        if step.received is not None:
            yield from _exchanged(shown, "receives ", shown.story.message(step.received), "")
        yield from body_lines(shown, step)
        yield line()
        yield line(f"State {step.number}:")
    yield from state_lines(shown, step)


def heading_lines(shown: ShownStory, step: StoryStep, *, with_message: bool = True) -> Iterator[TextLine]:
    """The number and the label of a step, with the number of the message that it receives."""
    pieces = [*number_pieces(shown, step), *label_pieces(shown, step)]
    if step.received is not None and with_message:
        pieces.append(TextPiece(f"  (receives {shown.story.message(step.received).name})"))
    if not step.matters:
        pieces.append(TextPiece(f"  {not_needed(step)}", DIM))
    yield from wrapped(pieces, shown.width, hanging=_INDENT)


def behind_gutter(shown: ShownStory, number: int, lines: Sequence[TextLine] | Iterator[TextLine]) -> Iterator[TextLine]:
    """Lines of a state behind the bracket of the cycle."""
    bracket = inner_gutter(shown, number)
    for body in lines:
        yield TextLine((*bracket, *body.pieces))


def body_lines(shown: ShownStory, step: StoryStep) -> Iterator[TextLine]:
    """The changes of a step, by process, and its messages."""
    places = shown_changes(step, shown.variables, shown.options.lanes)
    size = min(_PLACE_MAX, max((len(place.name(place.lane)) for place in places), default=0))
    # A process is listed once, even if its variables are not together.
    ordered = sorted(places, key=lambda place: _rank(shown, place))
    margin = min(_LANE_MAX, max((len(lane) for lane in shown.story.lanes), default=0))
    for lane, group in groupby(ordered, key=lambda place: place.lane):
        for index, place in enumerate(group):
            owner = (lane or "") if index == 0 else ""
            tone = lane_tone(shown.story.lanes.index(lane)) if lane in shown.story.lanes else ""
            head = [TextPiece(f"{owner:<{margin}}", tone), TextPiece("  " if margin else "")]
            pieces = [
                *head,
                TextPiece(f"{place.name(place.lane):<{size}}"),
                TextPiece("  "),
                *place.values(shown.names, step.number),
            ]
            yield from _hanging(shown, pieces, _INDENT + len(head[0].text + head[1].text) + size + 2)
    if not places and not step.sent and not step.lost:
        yield line(" " * _INDENT, TextPiece(text_without_changes(shown, step), DIM))
    for majority in step.majorities:
        yield from wrapped([TextPiece("majority  ", DIM), TextPiece(majority)], shown.width, indent=_INDENT, hanging=8)
    if step.abstract:
        yield from wrapped([TextPiece(step.abstract, DIM)], shown.width, indent=_INDENT, hanging=8)
    yield from exchange_lines(shown, step)


def _rank(shown: ShownStory, place: ChangedPlace) -> int:
    lanes = shown.story.lanes
    return lanes.index(place.lane) if place.lane in lanes else len(lanes)


def _hanging(shown: ShownStory, pieces: list[TextPiece], hanging: int) -> Iterator[TextLine]:
    """The pieces, with further lines below their values unless these are too far to the right."""
    narrow = hanging > shown.width // 2
    yield from wrapped(pieces, shown.width, indent=_INDENT, hanging=_INDENT * 2 if narrow else hanging)


def _narrowed(shown: ShownStory) -> ShownStory:
    """The story for lines behind the bracket of a cycle."""
    if shown.story.loop is None:
        return shown
    return replace(shown, options=replace(shown.options, width=shown.width - 2))


def exchange_lines(shown: ShownStory, step: StoryStep) -> Iterator[TextLine]:
    """The messages that a step sent, in full, and those that are lost with it."""
    for verb, numbers, tone in ((f"{step.has_sent} ", step.sent, ""), ("loses ", step.lost, BAD)):
        for number in numbers:
            yield from _exchanged(shown, verb, shown.story.message(number), tone)


def _exchanged(shown: ShownStory, verb: str, message: SentMessage, tone: str) -> Iterator[TextLine]:
    pieces = [TextPiece(f"{message.name} {message.brief}")] if tone else message_pieces(message, shown.names)
    yield from wrapped([TextPiece(verb, tone), *pieces], shown.width, indent=_INDENT, hanging=_INDENT * 2)
