"""A log with a column per process and a row per step: role, epoch, leader and the other columns of the spec.

Each process has a cell of several values in a fixed order, which the first line names. A star precedes a value that the
step changed. If the processes do not fit side by side, they follow in bands below each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kmc.lang.tla import NIL, Tla
from kmc.story.parts.in_words import in_words
from kmc.story.parts.lanes import in_column
from kmc.story.parts.story import LaneColumn, StoryStep
from kmc.text_lines import DIM, NEW, TextLine, TextPiece, fitted, lane_tone, line, shortened, wrapped
from kmc.trace.trees import entries
from kmc.views.text_options import Told
from kmc.views.text_steps import inner_gutter, label_pieces, loop_lines, number_pieces, step_lines

_VALUE_MAX = 14
_BETWEEN = " |"
_LABEL_MIN = 30
_NOTHING = "-"


def table_lines(told: Told) -> Iterator[TextLine]:
    """The table; for a model without processes, one line a step."""
    columns = [column for column in told.story.columns if column.variable in told.variables]
    if not columns or not told.lanes_with_values:
        yield from wrapped([TextPiece("This model has no processes with columns to show; its steps:", DIM)], told.width)
        yield from step_lines(told)
        return
    rows, widths = _rows(told, columns)
    yield from wrapped([TextPiece(_legend(columns), DIM)], told.width)
    for band in _bands(told, widths):
        yield line()
        yield from _band_lines(told, rows, widths, band)
    yield from loop_lines(told)


def _rows(told: Told, columns: Sequence[LaneColumn]) -> tuple[list[_Cells], list[int]]:
    """The cells of each step, and the widths of their columns; values are cut where one process would not fit."""
    room = told.width - _margin(told) - len(_BETWEEN) - len(columns)
    for size in (_VALUE_MAX, max(1, room // len(columns))):
        rows = [_Cells(told, columns, step, size) for step in told.steps]
        widths = [max(row.width(place) for row in rows) for place in range(len(columns))]
        if sum(widths) <= room:
            break
    return rows, widths


def _legend(columns: Sequence[LaneColumn]) -> str:
    return f"Each column: {', '.join(column.title for column in columns)}. A star marks what the step changed."


class _Cells:
    """The values of one step, by process and column, and which of them are new."""

    def __init__(self, told: Told, columns: Sequence[LaneColumn], step: StoryStep, value_max: int) -> None:
        self.step = step
        # The step before in the trace, which need not be shown.
        before = told.story.steps[max(0, step.number - 2)]
        new, old = (
            {lane: [_shown(told, of, column, lane) for column in columns] for lane in told.lanes_with_values}
            for of in (step, before)
        )
        self._texts = {lane: [shortened(text, value_max) for text in texts] for lane, texts in new.items()}
        # Values are compared whole: they may differ where they are cut.
        self._changed = {lane: [a != b for a, b in zip(new[lane], old[lane], strict=True)] for lane in new}

    def of(self, lane: str) -> Sequence[tuple[str, bool]]:
        """The values of a process, and whether the step changed each."""
        return list(zip(self._texts[lane], self._changed[lane], strict=True))

    def width(self, place: int) -> int:
        """The length of the longest value of one column."""
        return max(len(texts[place]) for texts in self._texts.values())


def _shown(told: Told, step: StoryStep, column: LaneColumn, lane: str) -> str:
    tree: Tla | None = in_column(step.variables, column, lane)
    if tree is None or tree == NIL:
        return _NOTHING
    if column.length:
        return str(len(entries(tree) or ()))
    return told.names.of_text(in_words(tree), step.number)


def _bands(told: Told, widths: Sequence[int]) -> Iterator[tuple[str, ...]]:
    at_once = max(1, (told.width - _margin(told)) // (_cell_width(told, widths) + len(_BETWEEN)))
    for first in range(0, len(told.lanes_with_values), at_once):
        yield told.lanes_with_values[first : first + at_once]


def _cell_width(told: Told, widths: Sequence[int]) -> int:
    """The columns of a cell: room for its values, each behind a star, and for the name of its process."""
    names = max(len(shortened(lane, _VALUE_MAX)) for lane in told.lanes_with_values)
    return max(sum(widths) + len(widths), names)


def _margin(told: Told) -> int:
    return len(str(len(told.story.steps))) + 2 + (2 if told.story.loop is not None else 0)


def _band_lines(told: Told, rows: Sequence[_Cells], widths: Sequence[int], band: Sequence[str]) -> Iterator[TextLine]:
    cell = _cell_width(told, widths)
    used = _margin(told) + (cell + len(_BETWEEN)) * len(band)
    beside = told.width - used - 1
    labels = max(len(step.label) for step in told.steps)
    is_beside = labels <= beside or beside >= _LABEL_MIN
    head = [TextPiece(" " * (_margin(told) - 1))]
    for lane in band:
        name = f" {shortened(lane, cell):<{cell}}"
        head += [TextPiece(name, lane_tone(told.story.lanes.index(lane))), TextPiece(_BETWEEN[1:])]
    yield line(*head)
    for row in rows:
        values = [piece for lane in band for piece in _cell(row, lane, widths, cell)]
        number = number_pieces(told, row.step)
        number[-1] = TextPiece(number[-1].text[:-1], number[-1].tone)
        if is_beside:
            yield line(*number, *values, TextPiece(" "), *fitted(label_pieces(told, row.step), beside))
        elif band[0] == told.lanes_with_values[0]:
            yield line(*fitted([*number_pieces(told, row.step), *label_pieces(told, row.step)], told.width))
            yield line(*inner_gutter(told, row.step.number), TextPiece(" " * len(number[-1].text)), *values)
        else:
            yield line(*number, *values)


def _cell(row: _Cells, lane: str, widths: Sequence[int], size: int) -> Iterator[TextPiece]:
    for (text, is_new), width in zip(row.of(lane), widths, strict=True):
        yield TextPiece("*" if is_new else " ", NEW)
        yield TextPiece(f"{text:<{width}}", NEW if is_new else DIM)
    yield TextPiece(" " * (size - sum(widths) - len(widths)))
    yield TextPiece(_BETWEEN, DIM)
