"""A message sequence chart: a line down per process, and an arrow from sender to receiver where a message arrives.

A step of one process is a star on its line. A message that is lost ends in an `x` before it arrives. Each message is
listed below the chart in full, with its number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kmc.story.parts.story import SentMessage, StoryStep
from kmc.text_lines import BAD, DIM, HEAD, TextLine, TextPiece, fitted, join_groups, lane_tone, line, shortened, wrapped
from kmc.views.message_text import message_pieces
from kmc.views.text_options import ShownStory
from kmc.views.text_steps import inner_gutter, label_pieces, loop_lines, not_needed, number_pieces, step_lines

_SPACING_MIN = 8
_LABEL_MIN = 34


def chart_lines(shown: ShownStory) -> Iterator[TextLine]:
    """The chart with its messages; for a model without processes, one line a step, and the messages."""
    chart = _chart_of(shown)
    if chart is None:
        why = (
            f"{len(shown.lanes)} processes do not fit beside each other"
            if shown.lanes
            else "This model has no processes"
        )
        yield from wrapped([TextPiece(f"{why}{'' if shown.lanes else ' to draw'}; its steps:", DIM)], shown.width)
        yield from step_lines(shown)
        yield from _legend(shown)
        return
    yield from chart.head()
    for step in shown.steps:
        yield from chart.step(step)
    yield from loop_lines(shown)
    yield from _legend(shown)


def _chart_of(shown: ShownStory) -> _Chart | None:
    """The chart of all processes, else of those that do something; None where these do not fit either."""
    numbers = {n for step in shown.steps for n in (step.received, *step.sent, *step.lost) if n is not None}
    ends = {end for n in numbers for end in (shown.story.message(n).source, shown.story.message(n).dest)}
    busy = {*ends, *(step.actor for step in shown.steps)}
    for lanes in (shown.lanes, tuple(lane for lane in shown.lanes if lane in busy)):
        if lanes:
            chart = _Chart(shown, lanes)
            if chart.width <= shown.width:
                return chart
    return None


def _legend(shown: ShownStory) -> Iterator[TextLine]:
    numbers = {number for step in shown.steps for number in (step.received, *step.sent, *step.lost)}
    messages = [message for message in shown.story.messages if message.number in numbers]
    if not messages:
        return
    yield line()
    yield line(TextPiece("Messages, by the order of sending:", HEAD))
    for message in messages:
        end = _end_of(message)
        pieces = [*message_pieces(message, shown.names), *([TextPiece(f" ({end})", DIM)] if end else [])]
        yield from wrapped(pieces, shown.width, indent=2, hanging=6)


def _arrows(shown: ShownStory) -> Iterator[tuple[str, tuple[str | None, str | None]]]:
    """The names of the messages that the steps receive or lose, with the ends of their arrows."""
    for step in shown.steps:
        for number in (step.received, *step.lost):
            if number is not None:
                message = shown.story.message(number)
                yield message.name, shown.story.arrow(message, step)


def _end_of(message: SentMessage) -> str:
    if message.lost_at is not None:
        return f"lost in step {message.lost_at}"
    return "" if message.received_at else "not delivered"


class _Chart:
    """Draws rows of the chart, all of one width, with the label of the step at their right."""

    def __init__(self, shown: ShownStory, lanes: Sequence[str]) -> None:
        self._shown = shown
        margin = len(str(len(shown.story.steps))) + 2 + (2 if shown.story.loop is not None else 0)
        room = (shown.width - margin - _LABEL_MIN) // max(1, len(lanes))
        longest = max(len(message.name) for message in shown.story.messages) if shown.story.messages else 2
        least = max(_SPACING_MIN, longest + 6)
        self._spacing = max(least, min(room, max(len(lane) + 2 for lane in lanes)))
        self._margin = margin
        self._places = {lane: 1 + index * self._spacing for index, lane in enumerate(lanes)}
        own = [name for name, ends in _arrows(shown) if set(ends) == {lanes[-1]}]
        self._width = self._spacing * (len(lanes) - 1) + max(4, *(3 + len(name) for name in own), 0)
        # Too many processes for labels at the right: these follow below.
        self._beside = shown.width - margin - self._width - 1

    @property
    def width(self) -> int:
        """The columns of a row, without its label."""
        return self._margin + self._width

    def head(self) -> Iterator[TextLine]:
        """The names of the processes. Where one is cut, all follow in full; where some are left out, their number."""
        pieces, at = [TextPiece(" " * self._margin)], 0
        room = self._spacing - 1
        for lane, column in self._places.items():
            name = shortened(lane, room)
            start = max(at + (at > 0), column - (len(name) - 1) // 2)
            pieces += [TextPiece(" " * (start - at)), TextPiece(name, self._tone(lane))]
            at = start + len(name)
        yield line(*fitted(pieces, self._shown.width))
        if any(len(lane) > room for lane in self._places):
            names = join_groups([TextPiece(lane, self._tone(lane))] for lane in self._places)
            yield from wrapped(
                [TextPiece("From left to right: ", DIM), *names], self._shown.width, hanging=self._margin
            )
        idle = len(self._shown.lanes) - len(self._places)
        if idle:
            yield from wrapped([TextPiece(f"Not drawn: {idle} more, which take no step here", DIM)], self._shown.width)

    def step(self, step: StoryStep) -> Iterator[TextLine]:
        """The row of a step, and one for each message that is lost with it."""
        message = self._shown.story.message(step.received) if step.received is not None else None
        row = self._row(step.actor)
        if message is not None:
            row = self._arrow(row, message, step)
        yield from self._labelled(step, row)
        for number in step.lost:
            lost = self._shown.story.message(number)
            bracket = inner_gutter(self._shown, step.number)
            start = [*bracket, TextPiece(" " * (self._margin - sum(len(p.text) for p in bracket)))]
            drawn = self._arrow(self._row(None), lost, step)
            yield line(*fitted([*start, *drawn, TextPiece(f" loses {lost.name}", BAD)], self._shown.width))

    def _labelled(self, step: StoryStep, row: Sequence[TextPiece]) -> Iterator[TextLine]:
        gutter_pieces = number_pieces(self._shown, step)
        sent = ", ".join(self._shown.story.message(n).name for n in step.sent)
        label = [*label_pieces(self._shown, step), *([TextPiece(f"; {step.has_sent} {sent}")] if sent else [])]
        label = label if step.matters else [*label, TextPiece(f" {not_needed(step)}", DIM)]
        if self._beside >= _LABEL_MIN // 2:
            lines = list(wrapped(label, self._beside, hanging=2))
            yield line(*gutter_pieces, *row, TextPiece(" "), *lines[0].pieces)
            for more in lines[1:]:
                yield self._below(step, [*self._row(None), TextPiece(" "), *more.pieces])
            return
        yield line(*gutter_pieces, *row)
        yield self._below(step, [TextPiece("  "), *fitted(label, self._shown.width - self._margin - 2)])

    def _below(self, step: StoryStep, pieces: Sequence[TextPiece]) -> TextLine:
        bracket = inner_gutter(self._shown, step.number)
        return line(*bracket, TextPiece(" " * (self._margin - sum(len(p.text) for p in bracket))), *pieces)

    def _row(self, actor: str | None) -> list[TextPiece]:
        """The lines of the processes, a character a piece, with a star on that of `actor`."""
        row = [TextPiece(" ")] * self._width
        for lane, column in self._places.items():
            row[column] = TextPiece("*", self._tone(lane)) if lane == actor else TextPiece("|", DIM)
        return row

    def _arrow(self, row: list[TextPiece], message: SentMessage, step: StoryStep) -> list[TextPiece]:
        """The row with the message that the step receives or loses, unless one of its ends has no column."""
        ends = self._shown.story.arrow(message, step)
        source, dest = (self._places.get(str(end)) for end in ends)
        if source is None or dest is None:
            return row
        is_lost = message.number in step.lost
        tone = BAD if is_lost else self._tone(str(ends[0]))
        if source == dest:
            loop = f"x{message.name}" if is_lost else f"<{message.name}"
            return [*row[: dest + 1], *(TextPiece(c, tone) for c in loop), *row[dest + 1 + len(loop) :]]
        low, high = sorted((source, dest))
        name = f" {message.name} "
        inner = list(f"{name:-^{high - low - 1}}")
        tip = -2 if is_lost else -1
        if dest > source:
            inner[tip] = "x" if is_lost else ">"
            inner[-1] = " " if is_lost else inner[-1]
        else:
            inner[-tip - 1] = "x" if is_lost else "<"
            inner[0] = " " if is_lost else inner[0]
        return [*row[: low + 1], *(TextPiece(c, tone) for c in inner), *row[high:]]

    def _tone(self, lane: str) -> str:
        return lane_tone(self._shown.story.lanes.index(lane))
