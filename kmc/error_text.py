"""Errors as a person reads them: code and message, place, source line with carets, help and notes.

A rendered error shows nothing of kmc's own code; a traceback appears only under `--debug`.
"""

from __future__ import annotations

import traceback
from pathlib import Path

from kmc.errors import KmcError, Span, TextSpan
from kmc.text_lines import BAD, FRAME, HEAD, TextLine, TextPiece, line
from kmc.unexplained import reason_text

_REPORT_FRAMES_MAX = 3


def error_lines(error: KmcError) -> list[TextLine]:
    """The lines of an error, as a compiler shows them."""
    width = len(str(error.span.line)) if error.span else 1
    lines = [line(TextPiece(f"error[{error.code}]", BAD), TextPiece(f": {error.message}", HEAD))]
    if error.span is not None:
        lines += _place_lines(error.span, width)
    remarks = ([f"help: {error.help}"] if error.help else []) + [f"note: {note}" for note in error.notes]
    lines += [line(TextPiece(" " * width + " = ", FRAME), remark) for remark in remarks]
    return lines


def error_text(error: KmcError) -> str:
    """The lines of an error without colour."""
    return "\n".join(text_line.text for text_line in error_lines(error))


def place(span: Span) -> str:
    """`path:line:column`, the path relative to the working directory if it lies inside; an option's text has no
    path.
    """
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


def _place_lines(span: Span, width: int) -> list[TextLine]:
    gutter = " " * width
    lines = [line(TextPiece(f"{gutter}--> ", FRAME), place(span))]
    source = span.source_line()
    if source is None:
        return lines
    source = source.rstrip()
    blank, marked = _carets(span, source)
    lines.append(line(TextPiece(f"{span.line:>{width}} | ", FRAME), source.expandtabs(8)))
    lines.append(line(TextPiece(f"{gutter} | ", FRAME), blank, TextPiece("^" * marked, BAD)))
    return lines


def _carets(span: Span, source: str) -> tuple[str, int]:
    """The blanks before the carets and the number of carets, in a line whose tabs are expanded."""
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


def internal_error_lines(error: BaseException) -> list[TextLine]:
    """A short report of a mistake in kmc itself."""
    frames = traceback.extract_tb(error.__traceback__)[-_REPORT_FRAMES_MAX:]
    lines = [line(TextPiece("internal error", BAD), TextPiece(f": {reason_text(error)}", HEAD))]
    lines += [
        line(TextPiece("  --> ", FRAME), f"{shown_path(frame.filename)}:{frame.lineno} in {frame.name}")
        for frame in reversed(frames)
    ]
    lines.append(line(TextPiece("  = ", FRAME), "help: run the command again with --debug, and report what it prints"))
    lines.append(line(TextPiece("  = ", FRAME), "note: this is a mistake in kmc, not in your spec"))
    return lines


def traceback_text(error: BaseException) -> str:
    """The whole traceback, for `--debug`."""
    return "".join(traceback.format_exception(error)).rstrip()
