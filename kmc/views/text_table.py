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
from kmc.views.text_options import ShownStory
from kmc.views.text_steps import inner_gutter, label_pieces, loop_lines, number_pieces, step_lines

_VALUE_MAX = 14
_BETWEEN = " |"
_LABEL_MIN = 30
_NOTHING = "-"


def table_lines(shown: ShownStory) -> Iterator[TextLine]:
    """The table; for a model without processes, one line a step."""
    columns = [column for column in shown.story.columns if column.variable in shown.variables]
    if not columns or not shown.lanes_with_values:
        yield from wrapped(
            [TextPiece("This model has no processes with columns to show; its steps:", DIM)], shown.width
        )
        yield from step_lines(shown)
        return
    rows, widths = _rows(shown, columns)
    yield from wrapped([TextPiece(_legend(columns), DIM)], shown.width)
    for band in _bands(shown, widths):
        yield line()
        yield from _band_lines(shown, rows, widths, band)
    yield from loop_lines(shown)


def _rows(shown: ShownStory, columns: Sequence[LaneColumn]) -> tuple[list[_Cells], list[int]]:
    """The cells of each step, and the widths of their columns; values are cut where one process would not fit."""
    room = shown.width - _margin(shown) - len(_BETWEEN) - len(columns)
    for size in (_VALUE_MAX, max(1, room // len(columns))):
        rows = [_Cells(shown, columns, step, size) for step in shown.steps]
        widths = [max(row.width(column) for row in rows) for column in range(len(columns))]
        if sum(widths) <= room:
            break
    return rows, widths


def _legend(columns: Sequence[LaneColumn]) -> str:
    return f"Each column: {', '.join(column.title for column in columns)}. A star marks what the step changed."


class _Cells:
    """The values of one step, by process and column, and which of them are new."""

    def __init__(self, shown: ShownStory, columns: Sequence[LaneColumn], step: StoryStep, value_max: int) -> None:
        self.step = step
        # The step before in the trace, which need not be shown.
        before = shown.story.steps[max(0, step.number - 2)]
        new, old = (
            {lane: [_shown(shown, of, column, lane) for column in columns] for lane in shown.lanes_with_values}
            for of in (step, before)
        )
        self._texts = {lane: [shortened(text, value_max) for text in texts] for lane, texts in new.items()}
        # Values are compared whole: they may differ where they are cut.
        self._changed = {lane: [a != b for a, b in zip(new[lane], old[lane], strict=True)] for lane in new}

    def of(self, lane: str) -> Sequence[tuple[str, bool]]:
        """The values of a process, and whether the step changed each."""
        return list(zip(self._texts[lane], self._changed[lane], strict=True))

    def width(self, column: int) -> int:
        """The length of the longest value of one column."""
        return max(len(texts[column]) for texts in self._texts.values())


def _shown(shown: ShownStory, step: StoryStep, column: LaneColumn, lane: str) -> str:
    tree: Tla | None = in_column(step.variables, column, lane)
    if tree is None or tree == NIL:
        return _NOTHING
    if column.length:
        return str(len(entries(tree) or ()))
    return shown.names.of_text(in_words(tree), step.number)


def _bands(shown: ShownStory, widths: Sequence[int]) -> Iterator[tuple[str, ...]]:
    at_once = max(1, (shown.width - _margin(shown)) // (_cell_width(shown, widths) + len(_BETWEEN)))
    for first in range(0, len(shown.lanes_with_values), at_once):
        yield shown.lanes_with_values[first : first + at_once]


def _cell_width(shown: ShownStory, widths: Sequence[int]) -> int:
    """The columns of a cell: room for its values, each behind a star, and for the name of its process."""
    names = max(len(shortened(lane, _VALUE_MAX)) for lane in shown.lanes_with_values)
    return max(sum(widths) + len(widths), names)


def _margin(shown: ShownStory) -> int:
    return len(str(len(shown.story.steps))) + 2 + (2 if shown.story.loop is not None else 0)


def _band_lines(
    shown: ShownStory, rows: Sequence[_Cells], widths: Sequence[int], band: Sequence[str]
) -> Iterator[TextLine]:
    cell = _cell_width(shown, widths)
    used = _margin(shown) + (cell + len(_BETWEEN)) * len(band)
    beside = shown.width - used - 1
    labels = max(len(step.label) for step in shown.steps)
    is_beside = labels <= beside or beside >= _LABEL_MIN
    head = [TextPiece(" " * (_margin(shown) - 1))]
    for lane in band:
        name = f" {shortened(lane, cell):<{cell}}"
        head += [TextPiece(name, lane_tone(shown.story.lanes.index(lane))), TextPiece(_BETWEEN[1:])]
    yield line(*head)
    for row in rows:
        values = [piece for lane in band for piece in _cell(row, lane, widths, cell)]
        gutter_pieces = number_pieces(shown, row.step)
        gutter_pieces[-1] = TextPiece(gutter_pieces[-1].text[:-1], gutter_pieces[-1].tone)
        if is_beside:
            yield line(*gutter_pieces, *values, TextPiece(" "), *fitted(label_pieces(shown, row.step), beside))
        elif band[0] == shown.lanes_with_values[0]:
            yield line(*fitted([*number_pieces(shown, row.step), *label_pieces(shown, row.step)], shown.width))
            yield line(*inner_gutter(shown, row.step.number), TextPiece(" " * len(gutter_pieces[-1].text)), *values)
        else:
            yield line(*gutter_pieces, *values)


def _cell(row: _Cells, lane: str, widths: Sequence[int], size: int) -> Iterator[TextPiece]:
    for (text, is_new), width in zip(row.of(lane), widths, strict=True):
        yield TextPiece("*" if is_new else " ", NEW)
        yield TextPiece(f"{text:<{width}}", NEW if is_new else DIM)
    yield TextPiece(" " * (size - sum(widths) - len(widths)))
    yield TextPiece(_BETWEEN, DIM)
