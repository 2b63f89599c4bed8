r"""A trace as text, in TLC's style, so that a person sees what each step changed.

Column 1 marks the difference from the previous state: `*` for a changed variable and for the changed lines inside it,
`-` for an entry that was removed. `changed_only` omits unchanged variables and unchanged entries of functions, records
and long sets; `...` replaces such entries. A value that does not fit its line has one entry per line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from kmc.lang.tla import Tla
from kmc.trace.diff import Compared, Form, compare
from kmc.trace.trees import identity, one_line
from kmc.trace.untyped_trace import UNNAMED, FileStep, TraceFile

WIDTH = 120
_GUTTER = 2
_INDENT = 4
_SAME, _CHANGED, _REMOVED = " ", "*", "-"
_ELISION = Compared("", Form.LEAF, False, "...")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a rendered trace; `changed` if it is marked in column 1."""

    text: str
    changed: bool = False


def render(file: TraceFile, *, changed_only: bool, width: int = WIDTH) -> list[Line]:
    """The trace, a blank line between states; with `changed_only` the first state whole, then the changes.

    Lines have at most `width` columns, unless one name or number alone is longer.
    """
    layout = _Layout(changed_only, width)
    lines: list[Line] = []
    before: FileStep | None = None
    for number, step in enumerate(file.steps, start=1):
        lines += [Line("")] if before else []
        heading = "Initial predicate" if before is None else label(step)
        lines.append(Line(f"State {number}: <{heading}>"))
        lines += _state(file.variables, step.variables, before.variables if before else None, layout)
        before = step
    return [*lines, *_closing(file)]


def label(step: FileStep) -> str:
    """The action with its arguments, `SendFetchRequest(n2, n1)`; `Next` where the file names none."""
    arguments = ", ".join(one_line(value) for _, value in step.arguments)
    return f"{step.action or UNNAMED}({arguments})" if arguments else step.action or UNNAMED


def _closing(file: TraceFile) -> list[Line]:
    if file.loop is None:
        return []
    if file.loop == len(file.steps) - 1:
        return [Line(""), Line(f"State {len(file.steps) + 1}: Stuttering")]
    action = f": <{label(file.closing)}>" if file.closing else ""
    return [Line(""), Line(f"Back to state {file.loop + 1}{action}")]


def _state(
    names: tuple[str, ...], variables: Mapping[str, Tla], before: Mapping[str, Tla] | None, layout: _Layout
) -> Iterator[Line]:
    unchanged = True
    for name in names:
        old = before[name] if before is not None else None
        changed = old is not None and identity(old) != identity(variables[name])
        if layout.elide and before is not None and not changed:
            continue
        unchanged = False
        compared = compare(rf"/\ {name} = ", variables[name], old, changed)
        for row in layout.rows(compared, 0, ""):
            yield Line(f"{row.mark} {' ' * row.indent}{row.text}", row.mark != _SAME)
    if unchanged:
        shown = "vars" if len(names) == len(variables) else f"<<{', '.join(names)}>>"
        yield Line(rf"  /\ UNCHANGED {shown}")


@dataclass(frozen=True, slots=True)
class _Row:
    mark: str
    indent: int
    text: str


@dataclass(frozen=True, slots=True)
class _Layout:
    """Cuts a compared value into lines; with `elide`, unchanged entries are omitted and removed ones are listed."""

    elide: bool
    width: int

    def rows(self, value: Compared, indent: int, tail: str) -> list[_Row]:
        """The lines of a value, `tail` behind the last."""
        line = _inline(value, self.elide) + tail
        nested = self.elide and value.form is Form.FUNCTION and any(map(_shows_removed, value.parts))
        # A record of atoms reads best as a paragraph, a record of functions or records as a table.
        table = all(part.parts for part in value.parts)
        if value.form is Form.LEAF or not value.parts or (value.form is Form.RECORD and not table):
            rows = self._filled(_mark(value), indent, line)
        elif nested or len(line) > self._room(indent):
            rows = self._block(value, indent, tail)
        else:
            rows = [_Row(_mark(value), indent, line)]
        if self.elide and _removes(value):
            rows += [row for text in value.removed for row in self._filled(_REMOVED, indent + _INDENT, text)]
        return rows

    def _room(self, indent: int) -> int:
        return self.width - _GUTTER - indent

    def _block(self, value: Compared, indent: int, tail: str) -> list[_Row]:
        """One part per line, below a line that opens the value."""
        form, parts = _kept(value, self.elide)
        opening, separator, closing = form.value
        head = value.head + opening
        if parts[0] is _ELISION:
            head, parts = f"{head}...", parts[1:]
            if not parts:
                return self._filled(_mark(value), indent, head + closing + tail)
            head += separator.rstrip()
        rows = self._filled(_mark(value), indent, head)
        for part in parts[:-1]:
            rows += self.rows(part, indent + _INDENT, separator.rstrip())
        return [*rows, *self.rows(parts[-1], indent + _INDENT, f" {closing}{tail}")]

    def _filled(self, mark: str, indent: int, text: str) -> list[_Row]:
        """A text in as many lines as it needs, broken behind commas and `@@`."""
        rows: list[_Row] = []
        line = ""
        for piece in re.split(r"(?<=,) |(?<=@@) ", text):
            longer = f"{line} {piece}" if line else piece
            if line and len(longer) > self._room(indent):
                rows.append(_Row(mark, indent, line))
                indent = rows[0].indent + _INDENT
                line = piece
            else:
                line = longer
        return [*rows, _Row(mark, indent, line)]


def _mark(value: Compared) -> str:
    return _CHANGED if value.changed else _SAME


def _removes(value: Compared) -> bool:
    """Whether removed entries are listed: those of functions, and of sets of more than plain names."""
    return any(value.form is Form.FUNCTION or text[0] in "[({<" for text in value.removed)


def _shows_removed(value: Compared) -> bool:
    return _removes(value) or (value.form is Form.FUNCTION and any(map(_shows_removed, value.parts)))


def _kept(value: Compared, elide: bool) -> tuple[Form, tuple[Compared, ...]]:
    """The parts to show and the form to show them in."""
    if elide and value.paired and not all(part.changed for part in value.parts):
        return value.form, (_ELISION, *(part for part in value.parts if part.changed))
    if value.listed:
        return Form.SEQUENCE, tuple(replace(part, head="") for part in value.parts)
    return value.form, value.parts


def _inline(value: Compared, elide: bool) -> str:
    """The value in one line; sets and sequences whole."""
    if value.form is Form.LEAF:
        return value.head + value.text
    form, parts = _kept(value, elide and value.form in (Form.FUNCTION, Form.RECORD))
    opening, separator, closing = form.value
    # A function inside a record has no place to list what was removed: there it is shown whole.
    inside = [_inline(p, elide and (form is Form.FUNCTION or not _shows_removed(p))) for p in parts]
    return value.head + opening + separator.join(inside) + closing
