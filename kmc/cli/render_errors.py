"""Errors as a person reads them: code and message, place, source line with carets, help and notes.

A rendered error shows nothing of kmc's own code; a traceback appears only under `--debug`.
"""

from __future__ import annotations

import traceback
from pathlib import Path

from rich.text import Text

from kmc.errors import KmcError, Span, TextSpan
from kmc.unexplained import reason_text

_ERROR = "bold red"
_FRAME = "bold blue"
_REPORT_FRAMES_MAX = 3


def error_lines(error: KmcError) -> list[Text]:
    """The lines of an error, as a compiler shows them."""
    width = len(str(error.span.line)) if error.span else 1
    lines = [Text.assemble((f"error[{error.code}]", _ERROR), (f": {error.message}", "bold"))]
    if error.span is not None:
        lines += _place_lines(error.span, width)
    remarks = ([f"help: {error.help}"] if error.help else []) + [f"note: {note}" for note in error.notes]
    lines += [Text.assemble((" " * width + " = ", _FRAME), remark) for remark in remarks]
    return lines


def error_text(error: KmcError) -> str:
    """The lines of an error without colour."""
    return "\n".join(line.plain for line in error_lines(error))


def place(span: Span) -> str:
    """`path:line:column`, the path from the working directory where it lies inside; an option's text stands alone."""
    if span.path.startswith("--"):
        return span.path
    if isinstance(span, TextSpan):
        return f"{span.path}:{span.line}:{span.column}"
    return f"{shown_path(span.path)}:{span.line}:{span.column}"


def shown_path(path: str | Path) -> str:
    """The path from the working directory where it lies inside, else the path as it is."""
    try:
        return str(Path(path).resolve().relative_to(Path.cwd()))
    except (OSError, ValueError):
        return str(path)


def _place_lines(span: Span, width: int) -> list[Text]:
    gutter = " " * width
    lines = [Text.assemble((f"{gutter}--> ", _FRAME), place(span))]
    source = span.source_line()
    if source is None:
        return lines
    source = source.rstrip()
    blank, marked = _carets(span, source)
    lines.append(Text.assemble((f"{span.line:>{width}} | ", _FRAME), source.expandtabs(8)))
    lines.append(Text.assemble((f"{gutter} | ", _FRAME), blank, ("^" * marked, _ERROR)))
    return lines


def _carets(span: Span, source: str) -> tuple[str, int]:
    """The blanks before the carets and how many carets there are, in a line whose tabs are expanded."""
    if span.end_column is None and span.column == 1:
        # The span has a line only, so mark all of its text.
        start, end = len(source) - len(source.lstrip()), len(source)
    else:
        same_line = span.end_line in (None, span.line) and span.end_column is not None
        start, end = span.column - 1, (span.end_column or 1) - 1 if same_line else len(source)
        if span.end_column is None:
            end = start + 1
    before = source[:start].expandtabs(8)
    return " " * len(before), max(1, len(source[:end].expandtabs(8)) - len(before))


def internal_error_lines(error: BaseException) -> list[Text]:
    """A short report of a mistake in kmc itself."""
    frames = traceback.extract_tb(error.__traceback__)[-_REPORT_FRAMES_MAX:]
    lines = [Text.assemble(("internal error", _ERROR), (f": {reason_text(error)}", "bold"))]
    lines += [
        Text.assemble(("  --> ", _FRAME), f"{shown_path(frame.filename)}:{frame.lineno} in {frame.name}")
        for frame in reversed(frames)
    ]
    lines.append(Text.assemble(("  = ", _FRAME), "help: run the command again with --debug, and report what it prints"))
    lines.append(Text.assemble(("  = ", _FRAME), "note: this is a mistake in kmc, not in your spec"))
    return lines


def traceback_text(error: BaseException) -> str:
    """The whole traceback, for `--debug`."""
    return "".join(traceback.format_exception(error)).rstrip()
