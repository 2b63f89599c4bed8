"""Output: results go to stdout, progress and errors to stderr.

Consoles are made when they are needed, so that a redirected stream is respected. Colour depends on NO_COLOR and on
whether the stream is a terminal, unless `--color` decides. Text is never wrapped, highlighted or read as markup.
"""

from __future__ import annotations

import os
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, TextIO

import click
from rich.console import Console
from rich.text import Text

from kmc.errors import SystemFault

_WIDTH_MIN = 20
_HANGING = 2
_WIDE = 110
_COPIED = re.compile(r"\bkmc [a-z]+ |(^|[\s(])[\w.~-]*/[\w.]")


class _ResultConsole(Console):
    """Continues without a reader: `kmc check ... | head` must end with the status of the check."""

    def on_broken_pipe(self) -> None:
        """The reader has closed the pipe: discard the rest."""
        self.quiet = True
        _forget(sys.stdout)


class _LossyStream:
    """A stream for progress and errors: where it cannot be written, they are lost, and the command goes on."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write text, if that is possible."""
        try:
            return self._stream.write(text)
        except OSError:
            _forget(self._stream)
            return len(text)

    def flush(self) -> None:
        """Write the rest of the output, if that is possible."""
        try:
            self._stream.flush()
        except OSError:
            _forget(self._stream)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _forget(stream: TextIO) -> None:
    """Discard all further output to a stream, and the text still in its buffer."""
    # A stream in memory has no descriptor.
    with suppress(OSError, ValueError):
        target = stream.fileno()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, target)
        os.close(nowhere)


def stdout() -> Console:
    """The console of results."""
    return _ResultConsole(highlight=False, markup=False, emoji=False, soft_wrap=True, **_colours())


def _colours() -> dict[str, Any]:
    """The console settings for `--color`, which the context of the command keeps; empty if the stream decides."""
    context = click.get_current_context(silent=True)
    match context.color if context is not None else None:
        case True:
            return {"force_terminal": True, "no_color": False, "color_system": "standard"}
        case False:
            return {"force_terminal": False, "no_color": True, "color_system": None}
        case _:
            return {}


def stderr() -> Console:
    """The console of progress and errors."""
    file: Any = None if sys.stderr is None else _LossyStream(sys.stderr)
    return Console(file=file, stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)


def show(lines: Iterable[Text | str], console: Console | None = None) -> None:
    """Print these lines, on stdout unless a console is given. Raises SystemFault KMC504 where stdout refuses them."""
    if console is not None:
        for line in lines:
            console.print(line)
        return
    if sys.stdout is None:
        raise stdout_fault("it is closed")
    target = stdout()
    width = terminal_width(target)
    try:
        for line in lines:
            for piece in (line,) if width is None else _fitted(line, width, target):
                target.print(piece)
    except OSError as error:
        raise stdout_fault(error) from None


def terminal_width(console: Console | None = None) -> int | None:
    """The columns of the terminal that stdout is, None where it is something else; `console` is that of stdout.

    The last column stays free: some terminals begin another row once it is filled.
    """
    target = console or stdout()
    return max(_WIDTH_MIN, target.width - 1) if target.file.isatty() else None


def _fitted(line: Text | str, width: int, console: Console) -> Iterable[Text | str]:
    """A line in as many as the terminal needs, broken between words; one with a command or a path stays whole."""
    text = line if isinstance(line, Text) else Text(line)
    if text.cell_len <= width or _COPIED.search(text.plain):
        return [line]
    margin = len(text.plain) - len(text.plain.lstrip(" "))
    first, *rest = text.wrap(console, width - margin - _HANGING)
    return [first, *(Text(" " * (margin + _HANGING)).append_text(piece) for piece in rest)]


def say(text: str) -> None:
    """Print a whole machine-readable text on stdout. Raises SystemFault KMC504 where stdout refuses it."""
    if sys.stdout is None:
        raise stdout_fault("it is closed")
    try:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        _forget(sys.stdout)
    except OSError as error:
        raise stdout_fault(error) from None


def stdout_fault(why: OSError | str) -> SystemFault:
    """KMC504: standard output cannot be written; the text still in its buffer is lost.

    A reader that closes the pipe is not a fault: it has read enough, and the exit status gives the verdict.
    """
    if sys.stdout is not None:
        _forget(sys.stdout)
    text = why if isinstance(why, str) else why.strerror or str(why)
    return SystemFault(
        "KMC504", f"cannot write to standard output: {text}", help="free space there, or send the output elsewhere"
    )


def table(rows: Iterable[tuple[str, ...]], *, right: frozenset[int] = frozenset(), indent: int = 2) -> list[str]:
    """Rows as aligned lines without trailing blanks; the columns in `right` are aligned to the right."""
    listed = list(rows)
    if not listed:
        return []
    widths = [max(map(len, column)) for column in zip(*listed, strict=True)]
    lines = []
    for row in listed:
        cells = [
            cell.rjust(width) if index in right else cell.ljust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append((" " * indent + "  ".join(cells)).rstrip())
    return lines


def definitions(rows: Iterable[tuple[str, str]], *, width: int | None = None, indent: int = 2) -> list[str]:
    """Terms and their meanings, aligned; a long meaning continues on the next line, broken at blanks.

    Without a `width`, they take that of the terminal, at most 110 columns.
    """
    listed = list(rows)
    if not listed:
        return []
    at = indent + max(len(term) for term, _ in listed) + 2
    lines = []
    for term, meaning in listed:
        first, *rest = textwrap.wrap(meaning, max(40, (width or _text_width()) - at), break_on_hyphens=False) or [""]
        lines.append((" " * indent + term.ljust(at - indent) + first).rstrip())
        lines += [" " * at + line for line in rest]
    return lines


def section(title: str, rows: Iterable[tuple[str, str]]) -> Iterator[Text | str]:
    """Yield a title with its terms and their meanings below it; nothing without any."""
    listed = list(rows)
    if listed:
        yield ""
        yield Text(title, "bold")
        yield from definitions(listed)


def indent_below(head: str, text: str, *, width: int | None = None) -> list[str]:
    """Break a text at blanks behind its head; its later lines begin below the first one. See `definitions`."""
    first, *rest = textwrap.wrap(text, max(40, (width or _text_width()) - len(head)), break_on_hyphens=False) or [""]
    return [(head + first).rstrip(), *(" " * len(head) + line for line in rest)]


def _text_width() -> int:
    return min(_WIDE, terminal_width() or _WIDE)
