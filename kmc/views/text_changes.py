"""Each step with its changes, old -> new down to the field, and with the messages that it received and sent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from kmc.story.parts.story import SentMessage, StoryStep
from kmc.text_lines import BAD, DIM, TextLine, TextPiece, lane_tone, line, wrapped
from kmc.views.change_text import ChangedPlace, shown_changes
from kmc.views.message_text import message_pieces
from kmc.views.text_options import Told
from kmc.views.text_state import state_lines
from kmc.views.text_steps import inner_gutter, label_pieces, loop_lines, not_needed, nothing_told, number_pieces

_INDENT = 4
_PLACE_MAX = 32
_LANE_MAX = 12


def change_lines(told: Told) -> Iterator[TextLine]:
    """The first state whole, then each step with its changes."""
    for step in told.steps:
        yield from heading_lines(told, step)
        inner = _narrowed(told)
        body = state_lines(inner, step, marked=False) if step.number == 1 else body_lines(inner, step)
        yield from behind_gutter(told, step.number, body)
        if step.number < len(told.story.steps) or told.story.loop is not None:
            yield line(*inner_gutter(told, step.number))
    yield from loop_lines(told)


def whole_lines(told: Told) -> Iterator[TextLine]:
    """Each step with its messages, and its whole state."""
    for step in told.steps:
        yield from heading_lines(told, step)
        inner = _narrowed(told)
        yield from behind_gutter(told, step.number, [*exchange_lines(inner, step), *state_lines(inner, step)])
        if step.number < len(told.story.steps) or told.story.loop is not None:
            yield line(*inner_gutter(told, step.number))
    yield from loop_lines(told)


def one_step_lines(told: Told, step: StoryStep) -> Iterator[TextLine]:
    """One step with its changes and messages, and its whole state."""
    yield from heading_lines(told, step, with_message=False)
    if step.number > 1:
        place = f" ({step.place})" if step.place else ""
        yield from wrapped([TextPiece(f"{step.doc}{place}", DIM)], told.width, indent=_INDENT, hanging=_INDENT)
        if step.received is not None:
            yield from _exchanged(told, "receives ", told.story.message(step.received), "")
        yield from body_lines(told, step)
        yield line()
        yield line(f"State {step.number}:")
    yield from state_lines(told, step)


def heading_lines(told: Told, step: StoryStep, *, with_message: bool = True) -> Iterator[TextLine]:
    """The number and the label of a step, with the number of the message that it receives."""
    pieces = [*number_pieces(told, step), *label_pieces(told, step)]
    if step.received is not None and with_message:
        pieces.append(TextPiece(f"  (receives {told.story.message(step.received).name})"))
    if not step.matters:
        pieces.append(TextPiece(f"  {not_needed(step)}", DIM))
    yield from wrapped(pieces, told.width, hanging=_INDENT)


def behind_gutter(told: Told, number: int, lines: Sequence[TextLine] | Iterator[TextLine]) -> Iterator[TextLine]:
    """Lines of a state behind the bracket of the cycle."""
    bracket = inner_gutter(told, number)
    for found in lines:
        yield TextLine((*bracket, *found.pieces))


def body_lines(told: Told, step: StoryStep) -> Iterator[TextLine]:
    """The changes of a step, by process, and its messages."""
    places = shown_changes(step, told.variables, told.options.lanes)
    size = min(_PLACE_MAX, max((len(place.name(place.lane)) for place in places), default=0))
    # A process is listed once, even if its variables are not together.
    ordered = sorted(places, key=lambda place: _rank(told, place))
    margin = min(_LANE_MAX, max((len(lane) for lane in told.story.lanes), default=0))
    for lane, group in groupby(ordered, key=lambda place: place.lane):
        for number, place in enumerate(group):
            owner = (lane or "") if number == 0 else ""
            tone = lane_tone(told.story.lanes.index(lane)) if lane in told.story.lanes else ""
            head = [TextPiece(f"{owner:<{margin}}", tone), TextPiece("  " if margin else "")]
            pieces = [
                *head,
                TextPiece(f"{place.name(place.lane):<{size}}"),
                TextPiece("  "),
                *place.values(told.names, step.number),
            ]
            yield from _hanging(told, pieces, _INDENT + len(head[0].text + head[1].text) + size + 2)
    if not places and not step.sent and not step.lost:
        yield line(" " * _INDENT, TextPiece(nothing_told(told, step), DIM))
    for majority in step.majorities:
        yield from wrapped([TextPiece("majority  ", DIM), TextPiece(majority)], told.width, indent=_INDENT, hanging=8)
    yield from exchange_lines(told, step)


def _rank(told: Told, place: ChangedPlace) -> int:
    lanes = told.story.lanes
    return lanes.index(place.lane) if place.lane in lanes else len(lanes)


def _hanging(told: Told, pieces: list[TextPiece], hanging: int) -> Iterator[TextLine]:
    """The pieces, with further lines below their values unless these are too far to the right."""
    narrow = hanging > told.width // 2
    yield from wrapped(pieces, told.width, indent=_INDENT, hanging=_INDENT * 2 if narrow else hanging)


def _narrowed(told: Told) -> Told:
    """The story for lines behind the bracket of a cycle."""
    if told.story.loop is None:
        return told
    return replace(told, options=replace(told.options, width=told.width - 2))


def exchange_lines(told: Told, step: StoryStep) -> Iterator[TextLine]:
    """The messages that a step sent, in full, and those that are lost with it."""
    for verb, numbers, tone in ((f"{step.has_sent} ", step.sent, ""), ("loses ", step.lost, BAD)):
        for number in numbers:
            yield from _exchanged(told, verb, told.story.message(number), tone)


def _exchanged(told: Told, verb: str, message: SentMessage, tone: str) -> Iterator[TextLine]:
    pieces = [TextPiece(f"{message.name} {message.brief}")] if tone else message_pieces(message, told.names)
    yield from wrapped([TextPiece(verb, tone), *pieces], told.width, indent=_INDENT, hanging=_INDENT * 2)
