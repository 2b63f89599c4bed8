"""A whole state for people: a table with a column per process, the other variables, and the messages in flight.

A variable that is a function of the processes is a row of the table; if all processes have the same long value, it is
shown once. A star marks the changes of the step to the state.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap

from kmc.lang.tla import Tla, TlaMap, TlaRecord, TlaSeq
from kmc.story.parts.in_words import in_words
from kmc.story.parts.lanes import at_lane
from kmc.story.parts.story import SentMessage, StoryStep
from kmc.text_lines import DIM, HEAD, NEW, TextLine, TextPiece, lane_tone, line, shortened, wrapped
from kmc.trace.trees import entries
from kmc.views.message_text import MessageNames, message_lines
from kmc.views.text_options import ShownStory

_CELL_MIN, _GAP, _INDENT = 12, 3, 2
_NAME_MAX = 24


@dataclass(frozen=True, slots=True)
class _Row:
    """A variable of the processes: its cells as lines, by process, and whether the step changed them."""

    name: str
    trees: tuple[Tla | None, ...]
    changed: tuple[bool, ...]


def state_lines(shown: ShownStory, step: StoryStep, *, marked: bool = True) -> Iterator[TextLine]:
    """The state that a step leads to; `marked` if the step's changes have a star."""
    of_lane = [name for name in shown.story.of_lane if name in shown.variables] if shown.lanes_with_values else []
    rows = [_row(shown, step, name, marked) for name in of_lane]
    if rows:
        yield from _table(shown, step, rows)
    hidden = {*of_lane, *shown.story.networks, *shown.story.archives}
    changed = {change.path[0] for change in step.changes} if marked else set()
    others = [name for name in shown.variables if name not in hidden]
    size = min(_NAME_MAX, max(map(len, others), default=0))
    for name in others:
        value = shown.names.of_text(in_words(step.variables[name]), step.number)
        mark = TextPiece("* ", NEW) if name in changed else TextPiece("  ")
        head = [mark, TextPiece(f"{name:<{size}}"), TextPiece("  "), TextPiece(value, NEW if name in changed else "")]
        yield from wrapped(head, shown.width, hanging=_INDENT + size + 2)
    yield from _network_lines(shown, step)


def _row(shown: ShownStory, step: StoryStep, name: str, marked: bool) -> _Row:
    changed = {change.lane for change in step.changes if change.path[0] == name} if marked else set()
    trees = tuple(at_lane(step.variables[name], lane) for lane in shown.lanes_with_values)
    return _Row(name, trees, tuple(lane in changed for lane in shown.lanes_with_values))


def _table(shown: ShownStory, step: StoryStep, rows: Sequence[_Row]) -> Iterator[TextLine]:
    """The rows in as many bands of processes as the width requires."""
    size = min(_NAME_MAX, max(len(row.name) for row in rows))
    room = shown.width - _INDENT - size
    lanes = shown.lanes_with_values
    at_once = max(1, min(len(lanes), room // (_CELL_MIN + _GAP)))
    for first in range(0, len(lanes), at_once):
        band = range(first, min(first + at_once, len(lanes)))
        widths = _widths(shown, step, rows, band, room)
        head = [TextPiece(" " * (_INDENT + size))]
        for column, width in zip(band, widths, strict=True):
            name = shortened(lanes[column], width)
            head.append(TextPiece(" " * _GAP + f"{name:<{width}}", lane_tone(shown.story.lanes.index(lanes[column]))))
        yield line(*head)
        for row in rows:
            yield from _row_lines(shown, step, row, band, widths, size)


def _widths(shown: ShownStory, step: StoryStep, rows: Sequence[_Row], band: range, room: int) -> list[int]:
    """A width for each process: that of its widest value, or an equal share if that is too much."""
    wishes = [
        max(
            len(shown.lanes_with_values[column]),
            *(len(_text(shown, step, row.trees[column])) for row in rows if not _is_same(row)),
            1,
        )
        for column in band
    ]
    left, widths = room - _GAP * len(band), dict.fromkeys(band, 0)
    for count, (wish, column) in zip(range(len(band), 0, -1), sorted(zip(wishes, band, strict=True)), strict=True):
        widths[column] = min(wish, left // count)
        left -= widths[column]
    return [widths[column] for column in band]


def _is_same(row: _Row) -> bool:
    """Whether one value, of a record or a function, is that of all processes."""
    first = row.trees[0]
    return len(row.trees) > 1 and isinstance(first, TlaRecord | TlaMap) and all(tree == first for tree in row.trees)


def _row_lines(
    shown: ShownStory, step: StoryStep, row: _Row, band: range, widths: Sequence[int], size: int
) -> Iterator[TextLine]:
    if _is_same(row):
        if band.start == 0:
            tone = NEW if any(row.changed) else ""
            star = " * " if any(row.changed) else " " * _GAP
            value = TextPiece(f"{_text(shown, step, row.trees[0])} for all", tone)
            pieces = [TextPiece(f"{row.name:<{size}}"), TextPiece(star, NEW), value]
            yield from wrapped(pieces, shown.width, indent=_INDENT, hanging=_INDENT + size + _GAP)
        return
    cells = [_cell(shown, step, row.trees[column], width) for column, width in zip(band, widths, strict=True)]
    for index in range(max(len(cell) for cell in cells)):
        pieces = [TextPiece("  " + (f"{row.name:<{size}}" if index == 0 else " " * size))]
        for cell, width, column in zip(cells, widths, band, strict=True):
            text, tone = (cell[index] if index < len(cell) else ""), NEW if row.changed[column] else ""
            star = " * " if row.changed[column] and index == 0 else " " * _GAP
            pieces += [TextPiece(star, NEW), TextPiece(f"{text:<{width}}", tone)]
        yield line(*pieces)


def _text(shown: ShownStory, step: StoryStep, tree: Tla | None) -> str:
    return "" if tree is None else shown.names.of_text(in_words(tree), step.number)


def _cell(shown: ShownStory, step: StoryStep, tree: Tla | None, width: int) -> list[str]:
    """A value in lines of a cell: whole if it fits, else a line for each of its parts, which wrap."""
    text = _text(shown, step, tree)
    if tree is None or len(text) <= width:
        return [text]
    match tree:
        case TlaSeq(elements):
            entries = [(f"{ordinal}: ", element) for ordinal, element in enumerate(elements, start=1)]
        case TlaRecord(fields):
            entries = [(f"{name}: ", value) for name, value in fields]
        case TlaMap(pairs):
            entries = [(f"{in_words(key)}: ", value) for key, value in pairs]
        case _:
            return wrap(text, width) or [""]
    lines: list[str] = []
    for head, component in entries:
        lines += wrap(head + _text(shown, step, component), width, subsequent_indent="  ")
    return lines


def _network_lines(shown: ShownStory, step: StoryStep) -> Iterator[TextLine]:
    for name in shown.story.networks:
        if name in shown.variables:
            yield from _messages_of(shown, step, name)
    archives = [name for name in shown.story.archives if name in shown.variables]
    if shown.options.processed:
        for name in archives:
            yield from _messages_of(shown, step, name)


def _messages_of(shown: ShownStory, step: StoryStep, name: str) -> Iterator[TextLine]:
    """The messages in one variable, in full; those of a bag that are no longer there only on request."""
    there, gone = contents(step.variables[name])
    what = "messages" if name in shown.story.networks else "processed messages"
    title = TextPiece(f"{what} in {name}:" if there else f"no {what} in {name}", HEAD if there else DIM)
    yield from wrapped([title], shown.width, indent=_INDENT, hanging=2 * _INDENT)
    yield from _listed(shown, step, there)
    if not gone:
        return
    if shown.options.processed:
        yield line("  ", TextPiece("processed:", HEAD))
        yield from _listed(shown, step, gone)
    else:
        yield line("    ", TextPiece(f"and {len(gone)} processed, not shown", DIM))


def contents(tree: Tla) -> tuple[list[Tla], list[Tla]]:
    """The messages of a network, and those of a bag whose count is 0."""
    pairs = entries(tree) if not isinstance(tree, TlaSeq) else None
    if pairs is None:
        return list(getattr(tree, "elements", ())), []
    there = [message for message, count in pairs if count != 0]
    return there, [message for message, count in pairs if count == 0]


def _listed(shown: ShownStory, step: StoryStep, trees: Iterable[Tla]) -> Iterator[TextLine]:
    known, unknown = _known(shown.names, trees, step.number)
    yield from message_lines(known, shown.names, shown.width)
    for tree in unknown:
        yield from wrapped([TextPiece(in_words(tree))], shown.width, indent=4, hanging=8)


def _known(names: MessageNames, trees: Iterable[Tla], number: int) -> tuple[list[SentMessage], list[Tla]]:
    """The messages of a story among these values, in the order of sending, and the other values."""
    candidates = [(names.of_tree(tree, number), tree) for tree in trees]
    known = sorted((message for message, _ in candidates if message is not None), key=lambda message: message.number)
    return known, [tree for message, tree in candidates if message is None]
